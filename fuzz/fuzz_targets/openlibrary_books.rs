//! Any text parses to a list of books, a report or an invalid document. Checks the invariants of the
//! result. See `plugins/openlibrary/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/openlibrary/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
