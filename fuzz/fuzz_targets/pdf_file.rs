//! Any bytes parse to a PDF file or an error. Checks the invariants of the result: JSON without
//! nulls and empty texts, both writers alike, renderings without a panic. See
//! `plugins/pdf/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/pdf/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &[u8]| support::check(document, "{}"));
