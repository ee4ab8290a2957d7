//! Any text parses to one DOI, a list of DOIs, a report or an invalid document. Checks the
//! invariants of the result. See `plugins/datacite/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/datacite/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
