//! Any text parses to a list of articles in one of three formats, a report or an invalid document.
//! Checks the invariants of the result. See `plugins/europepmc/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/europepmc/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
