//! Any bytes are a PDF file or an error, and what comes out keeps its promises: JSON without nulls and
//! empty texts, both writers alike, renderings without a panic. See `plugins/pdf/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/pdf/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &[u8]| support::check(document, "{}"));
