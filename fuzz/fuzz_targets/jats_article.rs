//! Any text parses to an article or an invalid document, in JATS and in TEI. Checks the invariants
//! of the result: JSON without nulls and empty texts, both writers alike, errors with an offset
//! inside the document, renderings without a panic. See `plugins/jats/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/jats/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| {
    support::check("jats", document);
    support::check("tei", document);
});
