//! Any text parses to a work, a list of works, a report or an invalid document. Checks the
//! invariants of the result: JSON without nulls and blank strings, collapsed texts, well-formed
//! addresses and dates, both formats and both writers alike. See `plugins/crossref/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/crossref/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
