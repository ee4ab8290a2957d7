//! Parses mutated documents, and documents that a fuzzer found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_openlibrary::OpenLibrary;
use carrel_pdk::Plugin;
use carrel_pdk::testing::damage::check_every_prefix;
use serde_json::Value;

mod support;

use support::fixtures;

/// Fragments of this JSON that are hard to parse.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    "\\ud83d",
    "\\u0000",
    "null",
    "true",
    "-",
    "1e999",
    "<i>",
    "</i>",
    "&amp;lt;",
    "\u{feff}",
    "\u{a0}",
    "\u{1f418}",
    "{\"docs\":[",
    "\"identifiers\":{\"isbn_13\":",
    "\"authors\":[{\"name\":",
    "\"ISBN:9780306406157\":{\"title\":",
    "\"publish_date\":",
    "\"error\":\"notfound\"",
];

#[test]
fn thousands_of_damaged_documents_give_a_result_or_an_error() {
    fixtures().check_damaged(5000, PIECES, |_, document| support::check(document));
}

#[test]
fn every_prefix_of_a_document_is_truncated_and_says_where() {
    let document = fixtures().document("by_isbn");
    check_every_prefix(&document, 1, |document| OpenLibrary::parse("books", document));
}

#[test]
fn a_language_that_is_no_word_is_none() {
    for (languages, tag) in [
        (r#"[{"key": "/languages/"}]"#, Value::Null),
        (r#"[{"key": "/languages/ "}]"#, Value::Null),
        (r#"[{"key": "/languages/no  language"}]"#, Value::Null),
        (r#"[{"key": "/languages/"}, {"key": "/languages/eng"}]"#, Value::from("en")),
    ] {
        let document = format!(r#"{{"title": "Shelf", "languages": {languages}}}"#);
        support::check(&document);
        let result = OpenLibrary::parse("books", &document).expect("a book");
        let result: Value = serde_json::from_str(&result).expect("JSON");
        assert_eq!(result["works"][0]["language"], tag, "{languages}");
    }
}
