//! Parses mutated documents, and documents that a fuzzer found.

use carrel_pdk::Plugin;
use carrel_pdk::testing::damage::check_every_prefix;
use carrel_semanticscholar::SemanticScholar;

mod support;

use support::fixtures;

/// Fragments of this source's JSON that are hard to parse.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    "\\u",
    "\\ud83d",
    "\\u0000",
    "null",
    "true",
    "-",
    "1e999",
    "0.5",
    "<i>",
    "</i>",
    "&amp;lt;sub&amp;gt;",
    "<title>404 Not Found</title>",
    r#"{"error":"#,
    r#""message":"#,
    r#""title":["#,
    r#""data":["#,
    r#""citingPaper":{"#,
    r#""citedPaper":null,"#,
    r#""paperId":""#,
    r#""externalIds":{"#,
    r#""openAccessPdf":{"url":""#,
    r#""next":"#,
    r#""token":""#,
];

#[test]
fn thousands_of_damaged_documents_give_a_result_or_an_error() {
    fixtures().check_damaged(10_000, PIECES, |_, document| support::check(document));
}

#[test]
fn every_prefix_of_a_document_is_truncated_and_says_where() {
    let document = fixtures().document("full");
    check_every_prefix(&document, 1, |document| SemanticScholar::parse("paper", document));
}
