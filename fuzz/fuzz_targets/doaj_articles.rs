//! Any text parses to a list of articles, a report or an invalid document. Checks the invariants of
//! the result. See `plugins/doaj/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/doaj/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
