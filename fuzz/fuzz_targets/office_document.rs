//! Any bytes parse to an Office document or an error, in each of the four formats. Checks the
//! invariants of the result. See `plugins/office/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/office/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &[u8]| {
    for format in ["docx", "pptx", "odt", "epub"] {
        support::check(format, document);
    }
    // XML parts without an archive, because a fuzzer hardly ever makes a valid deflate stream.
    support::check_parts(document);
});
