//! Declares the plugin's manifest.

use carrel_pdk::document::Document;
use carrel_pdk::manifest::{Format, Limits};
use carrel_pdk::{Manifest, schema};

/// The manifest: no hosts, no tools.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "page",
        env!("CARGO_PKG_VERSION"),
        "Reads web pages, Markdown and plain text as documents: main content, metadata, kind of page.",
    );
    manifest.title = Some("Web pages".to_owned());
    // Holds the page, its tree and its result, for the largest accepted page.
    manifest.limits = Some(Limits { memory_bytes: Some(512 << 20), ..Limits::default() });
    let format = |name: &str, description: &str, media_types: &[&str]| Format {
        media_types: media_types.iter().map(|&media_type| media_type.to_owned()).collect(),
        ..Format::bytes(name, description, schema::output::<Document>())
    };
    manifest.formats = vec![
        format(
            "html",
            "A web page: its main content, or that it is a challenge, a login or a wall instead.",
            &["text/html", "application/xhtml+xml"],
        ),
        format(
            "markdown",
            "Markdown: CommonMark with tables, footnotes and formulas.",
            &["text/markdown"],
        ),
        format("text", "Plain text.", &["text/plain"]),
    ];
    manifest
}
