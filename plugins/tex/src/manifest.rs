//! Declares the plugin's manifest.

use carrel_pdk::document::Document;
use carrel_pdk::manifest::{Format, Limits};
use carrel_pdk::{Manifest, schema};

/// The manifest: no hosts, no tools.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "tex",
        env!("CARGO_PKG_VERSION"),
        "Reads LaTeX sources and arXiv e-prints as documents: sections, equations as TeX, tables, references.",
    );
    manifest.title = Some("LaTeX sources".to_owned());
    // Holds the inflated e-print, the document and its result.
    manifest.limits = Some(Limits { memory_bytes: Some(768 << 20), ..Limits::default() });
    let format = |name: &str, description: &str, media_type: &str| Format {
        media_types: vec![media_type.to_owned()],
        ..Format::bytes(name, description, schema::output::<Document>())
    };
    manifest.formats = vec![
        format("tex", "A LaTeX source in one file.", "application/x-tex"),
        format(
            "tar",
            "An e-print as arXiv gives it: tar, tar in gzip, or one file in gzip.",
            "application/x-eprint-tar",
        ),
    ];
    manifest
}
