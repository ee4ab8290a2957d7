//! What holds for every document whatever, good or bad: shared by the tests and the fuzz target.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(unreachable_pub, reason = "each test takes this file in as a module of its own")]

use carrel_arxiv::{Arxiv, feed};
use carrel_pdk::{Code, Plugin, url};
use serde_json::Value;

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
        Err(error) => {
            assert!(
                matches!(error.code, Code::InvalidDocument | Code::UpstreamError),
                "a document is invalid or an error report, but found {error}"
            );
            assert!(!error.message.is_empty() && error.message.len() < 100_000, "{error}");
            if error.code == Code::InvalidDocument {
                let position = error.position.as_ref().expect("an invalid document has a place");
                assert!(position.offset <= document.len() as u64, "{error}");
                assert!(!error.message.contains('\n'), "{error}");
            }
            serde_json::from_str::<Value>(&error.to_json()).expect("the error is JSON");
        }
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
