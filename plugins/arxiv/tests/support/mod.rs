//! What holds for every document whatever, good or bad: shared by the tests and the fuzz target.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test takes this file in as a module of its own"
)]

use carrel_arxiv::{Arxiv, feed};
#[cfg(test)]
use carrel_pdk::testing::fixtures::Case;
use carrel_pdk::testing::promises::check_error;
use carrel_pdk::{Code, Plugin, url};
use serde_json::Value;

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Vec<Case> {
    Case::all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/arxiv"))
}

/// Where the fixtures are listed.
#[cfg(test)]
pub const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/README.md");

/// Parses the document and checks everything that must hold of the outcome.
pub fn check(document: &str) {
    match Arxiv::parse("feed", document) {
        Ok(json) => {
            let result: Value = serde_json::from_str(&json).expect("the result is JSON");
            let page = feed::parse(document).expect("parsing again gives the same");
            assert_eq!(
                json,
                serde_json::to_string(&page).expect("plain data"),
                "both writers agree"
            );
            check_value("", &result);
            for entry in result["entries"].as_array().expect("entries is a list") {
                check_entry(entry);
            }
        }
        Err(error) => check_error(&error, document, &[Code::InvalidDocument, Code::UpstreamError]),
    }
}

/// Absent is absent: no nulls and no empty strings; whitespace is collapsed everywhere.
fn check_value(key: &str, value: &Value) {
    match value {
        Value::Null => panic!("{key} is null"),
        Value::String(text) => {
            assert!(!text.is_empty(), "{key} is empty");
            let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(*text, plain, "{key} has whitespace to collapse");
        }
        Value::Array(items) => items.iter().for_each(|item| check_value(key, item)),
        Value::Object(members) => members.iter().for_each(|(key, value)| check_value(key, value)),
        Value::Bool(_) | Value::Number(_) => {}
    }
}

fn check_entry(entry: &Value) {
    assert!(entry["authors"].is_array() && entry["categories"].is_array());
    assert!(entry.get("source_url").is_none(), "a document cannot know its source bundle");
    let dois = entry.get("dois").and_then(Value::as_array).cloned().unwrap_or_default();
    let addresses = ["abstract_url", "pdf_url"].map(|key| entry.get(key).cloned());
    let links = dois.iter().map(|doi| doi.get("url").cloned());
    for address in addresses.into_iter().chain(links).flatten() {
        let text = address.as_str().expect("an address is text");
        assert_eq!(
            url::well_formed(text).as_deref(),
            Some(text),
            "a malformed address came through"
        );
    }
}
