//! Any text is a request or an error. Checks the invariants of the result: JSON of the promised shape,
//! typed errors. See `plugins/csl/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/csl/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &str| {
    support::check(document);
});
