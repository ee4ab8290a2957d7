//! Any text is a list of links, a report or an invalid document, and what comes out keeps its promises. See
//! `plugins/opencitations/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/opencitations/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| support::check(document));
