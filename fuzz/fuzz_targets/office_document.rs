//! Any bytes are an Office document or an error, in each of the four formats, and what comes out keeps its
//! promises. See `plugins/office/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/office/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &[u8]| {
    for format in ["docx", "pptx", "odt", "epub"] {
        support::check(format, document);
    }
    // Parts without an archive around them: what a fuzzer cannot inflate its way to.
    support::check_parts(document);
});
