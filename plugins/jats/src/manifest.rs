//! Declares the plugin's manifest.

use carrel_pdk::document::Document;
use carrel_pdk::manifest::{Format, Limits};
use carrel_pdk::{Manifest, schema};

/// The manifest: no hosts, no tools.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "jats",
        env!("CARGO_PKG_VERSION"),
        "Reads articles in JATS, NLM and TEI XML as documents: sections, tables, figures, formulas, references.",
    );
    manifest.title = Some("Articles in XML".to_owned());
    // Holds the document, its tree and its result, for the largest accepted document.
    manifest.limits = Some(Limits { memory_bytes: Some(512 << 20), ..Limits::default() });
    let format = |name: &str, description: &str, media_type: &str| Format {
        name: name.to_owned(),
        description: description.to_owned(),
        media_types: vec![media_type.to_owned()],
        output_schema: schema::output::<Document>(),
        ..Format::default()
    };
    manifest.formats = vec![
        format(
            "jats",
            "An article in JATS 1.x or NLM 2 and 3, as PubMed Central, eLife, PLOS and SciELO give it.",
            "application/jats+xml",
        ),
        format("tei", "An article in TEI, as GROBID writes it.", "application/tei+xml"),
    ];
    manifest
}
