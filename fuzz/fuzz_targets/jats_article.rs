//! Any text is an article or an invalid document, in JATS and in TEI, and what comes out keeps its
//! promises: JSON without nulls and empty texts, both writers alike, errors with a place inside the
//! document, renderings without a panic. See `plugins/jats/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/jats/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| {
    support::check("jats", document);
    support::check("tei", document);
});
