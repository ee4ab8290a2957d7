//! Any text parses to a record, the results of a search, a report or an invalid document. Checks
//! the invariants of the result: JSON without nulls and blank strings, collapsed texts, well-formed
//! addresses and dates. See `plugins/unpaywall/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/unpaywall/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
