//! Any text parses to results, a report or an invalid document. Checks the invariants of the result:
//! plain texts without hidden characters, web addresses, each once. See `plugins/searxng/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/searxng/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
