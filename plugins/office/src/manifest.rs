//! Declares the plugin's manifest.

use carrel_pdk::document::Document;
use carrel_pdk::manifest::{Format, Limits};
use carrel_pdk::{Manifest, schema};

/// The manifest: no hosts, no tools.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "office",
        env!("CARGO_PKG_VERSION"),
        "Reads Word, PowerPoint, OpenDocument text and EPUB files as documents: sections, lists, tables, notes.",
    );
    manifest.title = Some("Office documents and books".to_owned());
    // Holds the document, the inflated archive, its trees and the result.
    manifest.limits = Some(Limits { memory_bytes: Some(768 << 20), ..Limits::default() });
    // The media type of encrypted and of old Office documents, for which the reader returns a clear
    // error.
    const COMPOUND: &str = "application/x-ole-storage";
    let format = |name: &str, description: &str, media_type: &str| Format {
        media_types: [media_type, COMPOUND]
            .into_iter()
            .filter(|&candidate| candidate == media_type || name == "docx")
            .map(str::to_owned)
            .collect(),
        ..Format::bytes(name, description, schema::output::<Document>())
    };
    manifest.formats = vec![
        format(
            "docx",
            "A Word document (Office Open XML, transitional or strict), with macros or without.",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        format(
            "pptx",
            "A PowerPoint presentation (Office Open XML), with macros or without.",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        ),
        format("odt", "An OpenDocument text.", "application/vnd.oasis.opendocument.text"),
        format("epub", "A book in EPUB 2 or 3.", "application/epub+zip"),
    ];
    manifest
}
