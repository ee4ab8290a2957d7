//! Parses mutated documents.

use carrel_pdk::testing::damage::{Numbers, damage};

mod support;

use support::fixtures;

/// Fragments of this source's documents that are hard to parse.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "\\ud83d",
    "\\u202e",
    "null",
    "1e999",
    r#""results":["#,
    r#""url":"https://"#,
    r#""content":""#,
    r#""unresponsive_engines":[["a","b"]]"#,
    r#""number_of_results":"#,
    r#""engines":[""#,
];

#[test]
fn thousands_of_damaged_documents_give_a_result_or_an_error() {
    let documents: Vec<String> =
        fixtures().documents().into_iter().map(|(_, document)| document).collect();
    let mut numbers = Numbers::new(0x5EED_7B8B);
    for round in 0..5_000 {
        let mut document = documents[round % documents.len()].clone();
        damage(&mut document, PIECES, &mut numbers);
        support::check(&document);
    }
}
