//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz target.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use carrel_arxiv::Arxiv;
use carrel_arxiv::formats::feed;
#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::{check_address, check_collapsed, check_error, check_values};
use carrel_pdk::{Code, Plugin};
use serde_json::Value;

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    Suite::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"), "arxiv", "feed")
}

/// Parses the document and checks the invariants of the result.
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
            let text = |key: &str, text: &str| {
                assert!(!text.is_empty(), "{key} is empty");
                check_collapsed(key, text);
            };
            check_values("", &result, &text, &|_, _| {});
            for entry in result["entries"].as_array().expect("entries is a list") {
                check_entry(entry);
            }
        }
        Err(error) => check_error(&error, document, &[Code::InvalidDocument, Code::UpstreamError]),
    }
}

fn check_entry(entry: &Value) {
    assert!(entry["authors"].is_array() && entry["categories"].is_array());
    assert!(entry.get("source_url").is_none(), "a document cannot know its source bundle");
    let dois = entry.get("dois").and_then(Value::as_array).cloned().unwrap_or_default();
    let addresses = ["abstract_url", "pdf_url"].map(|key| entry.get(key).cloned());
    let links = dois.iter().map(|doi| doi.get("url").cloned());
    for address in addresses.into_iter().chain(links).flatten() {
        check_address(&address);
    }
}
