//! Declares the plugin's manifest.

use carrel_pdk::manifest::{Format, Limits};
use carrel_pdk::{Manifest, schema};

use crate::response::Response;

/// The manifest: no hosts, no tools.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "csl",
        env!("CARGO_PKG_VERSION"),
        "Sets citations and bibliographies in any style of the Citation Style Language 1.0.2.",
    );
    manifest.title = Some("Citation styles".to_owned());
    // Holds the items, the style and the result, for some ten thousand items.
    manifest.limits = Some(Limits { memory_bytes: Some(512 << 20), ..Limits::default() });
    manifest.formats = vec![Format::text(
        "process",
        "A style, locales, CSL-JSON items and citations, in JSON; see plugins/csl/README.md.",
        schema::output::<Response>(),
    )];
    manifest
}
