//! Any text parses to a feed, an error report or an invalid document. Checks the invariants of the
//! result: JSON without nulls and empty strings, collapsed texts, well-formed addresses, errors
//! with an offset inside the document, both writers alike. See `plugins/arxiv/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/arxiv/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
