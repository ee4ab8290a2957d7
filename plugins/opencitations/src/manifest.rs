//! What the plugin says of itself.

use carrel_pdk::manifest::Format;
use carrel_pdk::{Manifest, schema};

use crate::formats::links::Links;

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "opencitations",
        env!("CARGO_PKG_VERSION"),
        "Reads OpenCitations' links between citing and cited works.",
    );
    manifest.title = Some("OpenCitations".to_owned());
    manifest.formats = vec![
        format("citations", "Links from the works that cite one."),
        format("references", "Links to the works that one cites."),
    ];
    manifest
}

fn format(name: &str, description: &str) -> Format {
    Format {
        name: name.to_owned(),
        description: description.to_owned(),
        media_types: vec!["application/json".to_owned()],
        output_schema: schema::output::<Links>(),
        ..Format::default()
    }
}
