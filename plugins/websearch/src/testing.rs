//! What holds for every answer of a provider.

#![allow(clippy::panic, clippy::expect_used, reason = "tests fail loudly")]

use carrel_pdk::testing::promises::{check_collapsed, check_error, check_values};
use carrel_pdk::{Code, Plugin};
use serde_json::Value;

use crate::provider::FORMAT;
use crate::text::is_hidden;

/// What a document without results can be.
const CODES: &[Code] = &[
    Code::InvalidDocument,
    Code::UpstreamError,
    Code::UpstreamUnavailable,
    Code::RateLimited,
    Code::NotFound,
];

/// Parses a document and checks what holds of every outcome: an error has a code that fits; of a
/// result nothing is null, texts are on one line without hidden characters, URLs are of the web and
/// each is there once, and dates are days.
///
/// # Panics
///
/// When any of that does not hold.
pub fn check<P: Plugin>(document: &str) {
    let json = match P::parse(FORMAT, document) {
        Ok(json) => json,
        Err(error) => return check_error(&error, document, CODES),
    };
    let result: Value = serde_json::from_str(&json).expect("the result is JSON");
    let text = |key: &str, text: &str| {
        assert!(key == "snippet" || !text.is_empty(), "{key} is empty");
        assert!(text.chars().count() <= 4200, "{key} is long");
        assert!(!text.chars().any(is_hidden), "{key} has hidden characters: {text:?}");
        match key {
            "url" => {
                assert!(text.to_ascii_lowercase().starts_with("http"), "{text}");
                assert!(!text.contains(char::is_whitespace), "{text}");
            }
            "published" => assert!(text.len() == 10, "{text}"),
            _ => check_collapsed(key, text),
        }
    };
    check_values("", &result, &text, &|_, _| {});
    let found = result["results"].as_array().expect("results are a list");
    let mut urls: Vec<&str> = found.iter().filter_map(|one| one["url"].as_str()).collect();
    assert_eq!(urls.len(), found.len());
    urls.sort_unstable();
    urls.dedup();
    assert_eq!(urls.len(), found.len(), "a URL is there twice");
}
