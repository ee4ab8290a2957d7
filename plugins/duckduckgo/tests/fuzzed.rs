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
    r#"<a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2F"#,
    r#"<a class="result__snippet""#,
    r#"</a>"#,
    r#"<b>"#,
    r#"</div>"#,
    r#"result--ad"#,
    r#"no-results"#,
    r#"anomaly-modal"#,
    r#"class='result-link'"#,
    r#"&amp;"#,
    r#"&#x202e;"#,
    r#"%"#,
    r#"<!--"#,
];

#[test]
fn thousands_of_damaged_documents_give_a_result_or_an_error() {
    let documents: Vec<String> =
        fixtures().documents().into_iter().map(|(_, document)| document).collect();
    let mut numbers = Numbers::new(0x5EED_783A);
    for round in 0..5_000 {
        let mut document = documents[round % documents.len()].clone();
        damage(&mut document, PIECES, &mut numbers);
        support::check(&document);
    }
}
