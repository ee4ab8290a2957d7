//! Any bytes parse to a page, Markdown and text. Checks the invariants of the result: JSON without
//! nulls and empty texts, both writers alike, no text of a challenge, renderings without a panic.
//! See `plugins/page/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/page/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &[u8]| {
    for format in ["html", "markdown", "text"] {
        support::check(format, document);
    }
});
