//! Parses mutated documents.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::testing::damage::{Numbers, damage};

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
    let documents: Vec<String> =
        fixtures().documents().into_iter().map(|(_, document)| document).collect();
    let mut numbers = Numbers::new(0x5EED_CA99_E112_3457);
    for round in 0..3000 {
        let mut document = documents[round % documents.len()].clone();
        damage(&mut document, PIECES, &mut numbers);
        support::check(&document);
    }
}
