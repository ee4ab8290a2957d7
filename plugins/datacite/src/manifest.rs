//! What the plugin says of itself.

use carrel_pdk::manifest::Format;
use carrel_pdk::record::page::{OneWork, Page};
use carrel_pdk::{Manifest, schema};
use serde_json::Value;

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "datacite",
        env!("CARGO_PKG_VERSION"),
        "Searches DataCite and reads its DOIs, of data, software and texts, into bibliographic records.",
    );
    manifest.title = Some("DataCite".to_owned());
    manifest.formats = vec![
        format("doi", "One DOI, with or without the envelope of JSON:API.", works::<OneWork<'_>>()),
        format("dois", "A list of DOIs.", works::<Page<'_>>()),
    ];
    manifest
}

/// The schema of a result that holds works, without what DataCite does not say of them.
fn works<T: schemars::JsonSchema>() -> Value {
    let mut schema = schema::output::<T>();
    schema::leave_out(
        &mut schema,
        &[
            "openalex",
            "s2",
            "open_copies",
            "is_oa",
            "oa_status",
            "article_number",
            "updates",
            "updated_by",
        ],
    );
    schema
}

fn format(name: &str, description: &str, output: Value) -> Format {
    Format {
        name: name.to_owned(),
        description: description.to_owned(),
        media_types: vec!["application/json".to_owned()],
        output_schema: output,
        ..Format::default()
    }
}
