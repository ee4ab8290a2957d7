//! Parses mutated documents.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

mod support;

use support::fixtures;

/// Fragments of these documents that are hard to parse.
const PIECES: &[&str] = &[
    "{",
    "}",
    "ytInitialPlayerResponse = {",
    "\"captionTracks\":[{",
    "\"segs\":[{\"utf8\":",
    "<text start=\"1\">",
    "<p t=\"1\">",
    "</p>",
    "&amp;#39;",
    "null",
    "\"status\":\"ERROR\"",
    "\\u0000",
];

#[test]
fn thousands_of_damaged_documents_give_a_result_or_an_error() {
    fixtures().check_damaged(3000, PIECES, |_, document| support::check(document));
}
