//! Parses mutated documents, and documents that a fuzzer found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_crossref::Crossref;
use carrel_pdk::Plugin;
use carrel_pdk::testing::damage::{Numbers, check_every_prefix};

mod support;

use support::fixtures;

/// Fragments of Crossref's JSON that are hard to parse.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    "\\u",
    "\\ud83d",
    "\\udc18",
    "\\u0000",
    "\\/",
    "null",
    "true",
    "-",
    "1e999",
    "0.5",
    "{\"message\":",
    "\"message-type\":\"work\",",
    "\"message-type\":\"work-list\",",
    "\"items\":[",
    "\"title\":[\"",
    "\"author\":[{\"family\":",
    "\"date-parts\":[[",
    "Resource not found.",
];

/// Fragments of texts with markup.
const MARKUP: &[&str] = &[
    "<i>",
    "</i>",
    "<sub>",
    "</sub>",
    "<jats:title>",
    "</jats:title>",
    "<mml:math>",
    "<mml:msub>",
    "</mml:msub>",
    "<mml:mmultiscripts>",
    "<mml:mprescripts/>",
    "<jats:alternatives>",
    "</jats:alternatives>",
    "<!--",
    "<![CDATA[",
    "&amp;",
    "&lt;",
    "&#0;",
    "&#xD800;",
    "&amp;lt;sub&amp;gt;",
    "\u{feff}",
    "\u{a0}",
    "\u{0}",
    "\u{e9}",
    "\u{1f418}",
];

#[test]
fn thousands_of_damaged_documents_give_a_result_or_an_error() {
    let pieces = [PIECES, MARKUP].concat();
    fixtures().check_damaged(20_000, &pieces, |_, document| support::check(document));
}

#[test]
fn markup_in_every_text_gives_a_result() {
    let mut numbers = Numbers::new(0x5EED_0DD5_0DD5_5EED);
    for _ in 0..5000 {
        let mut text = String::new();
        for _ in 0..numbers.next(12) {
            text.push_str(MARKUP[numbers.next(MARKUP.len())]);
        }
        let text = serde_json::to_string(&text).unwrap();
        support::check(&format!(
            r#"{{"DOI": "10.5555/x", "title": [{text}], "abstract": {text}, "publisher": {text},
                "author": [{{"family": {text}, "affiliation": [{{"name": {text}}}]}}]}}"#
        ));
    }
}

#[test]
fn every_prefix_of_a_document_is_truncated_and_says_where() {
    let document = fixtures().document("full_work");
    check_every_prefix(&document, 1, |document| Crossref::parse("work", document));
}

#[test]
fn a_report_with_line_breaks_anywhere_is_one_line() {
    for document in [
        r#"{"status": "failed", "message-type": "a\nb", "message": []}"#,
        r#"{"status": "failed", "message-type": "x", "message": [{"type": "a\u0085b\u0000"}]}"#,
        r#"{"message-type": "x", "message": [{"message": "a\u2028b\rc", "value": "d\ne"}]}"#,
        r#"{"message-type": "a\nb", "message": {"name": "c\nd"}}"#,
    ] {
        support::check(document);
    }
}
