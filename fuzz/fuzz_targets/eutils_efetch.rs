//! Any text parses to a set of PubMed records, an error report or an invalid document. Checks the
//! invariants of the result. See `plugins/eutils/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/eutils/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| {
    support::check("efetch", document);
    support::check("works", document);
});
