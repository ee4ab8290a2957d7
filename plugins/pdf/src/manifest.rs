//! Declares the plugin's manifest.

use carrel_pdk::document::Document;
use carrel_pdk::manifest::{Format, Limits};
use carrel_pdk::{Manifest, schema};

/// The manifest: no hosts, no tools.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "pdf",
        env!("CARGO_PKG_VERSION"),
        "Reads PDF files as documents: text in reading order, headings, captions, notes, references.",
    );
    manifest.title = Some("PDF files".to_owned());
    // Holds the largest accepted document, its decoded streams and the glyphs of a page.
    manifest.limits = Some(Limits { memory_bytes: Some(1 << 30), ..Limits::default() });
    manifest.formats = vec![Format {
        media_types: vec!["application/pdf".to_owned()],
        ..Format::bytes(
            "pdf",
            "A PDF file; the option `pages` names the pages to read, such as \"3-7\".",
            schema::output::<Document>(),
        )
    }];
    manifest
}
