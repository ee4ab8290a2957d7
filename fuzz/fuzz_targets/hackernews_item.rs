//! Any text parses to a result, a report or an invalid document. Checks the invariants of the
//! result. See `plugins/hackernews/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/hackernews/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
