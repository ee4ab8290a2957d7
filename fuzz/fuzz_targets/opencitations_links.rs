//! Any text parses to a list of links, a report or an invalid document. Checks the invariants of
//! the result. See `plugins/opencitations/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/opencitations/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
