//! Any text parses to a paper, a list of papers or links, a report or an invalid document. Checks
//! the invariants of the result: JSON without nulls and blank strings, collapsed texts, well-formed
//! addresses and dates. See `plugins/semanticscholar/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/semanticscholar/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
