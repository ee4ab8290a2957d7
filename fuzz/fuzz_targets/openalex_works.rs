//! Any text parses to a work, a list of works, a report or an invalid document. Checks the
//! invariants of the result: JSON without nulls and blank strings, collapsed texts, well-formed
//! addresses and dates. See `plugins/openalex/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/openalex/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
