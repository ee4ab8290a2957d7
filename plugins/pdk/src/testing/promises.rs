//! Invariants of every parser's results.

#![allow(clippy::panic, reason = "tests fail loudly")]

use serde_json::Value;

use crate::document::{Document, MAX_WARNINGS, Quality};
use crate::{Code, Error, Plugin, url};

/// Checks an error about a document: its code is one of those allowed and its message has a
/// reasonable length; for an invalid document, it has a position inside the document and one line.
///
/// # Panics
///
/// When any of that does not hold.
#[allow(clippy::expect_used, reason = "tests fail loudly")]
pub fn check_error(error: &Error, document: impl AsRef<[u8]>, codes: &[Code]) {
    assert!(codes.contains(&error.code), "an invalid document or a report, but found {error}");
    assert!(!error.message.is_empty() && error.message.len() < 100_000, "{error}");
    if error.code == Code::InvalidDocument {
        let position = error.position.as_ref().expect("an invalid document has a place");
        assert!(position.offset <= document.as_ref().len() as u64, "{error}");
        assert!(!error.message.contains('\n'), "{error}");
    }
    serde_json::from_str::<Value>(&error.to_json()).expect("the error is JSON");
}

/// Checks what the format of a site's plugin makes of a text: a document, which the format then has
/// as JSON, or an error that a site's answer may be.
///
/// # Panics
///
/// When that does not hold.
#[allow(clippy::expect_used, reason = "tests fail loudly")]
pub fn check_site<P: Plugin>(format: &str, text: &str, read: Result<Document, Error>) {
    match read {
        Ok(document) => {
            check_document(&document, text.len());
            let json = P::parse(format, text).expect("the same document");
            serde_json::from_str::<Value>(&json).expect("the result is JSON");
        }
        Err(error) => check_error(
            &error,
            text,
            &[
                Code::InvalidDocument,
                Code::NotFound,
                Code::UpstreamError,
                Code::RateLimited,
                Code::UpstreamUnavailable,
                Code::Denied,
            ],
        ),
    }
}

/// Checks a reader's document: both JSON writers agree, no value is null, only cells and page
/// labels may be empty, warnings are bounded, and an incomplete document states the reason. Renders
/// the document, which must not panic. Returns its JSON.
///
/// # Panics
///
/// When any of that does not hold.
#[allow(clippy::expect_used, reason = "tests fail loudly")]
pub fn check_document(read: &Document, size: usize) -> String {
    let json = read.to_json(size);
    let derived = serde_json::to_string(read).expect("plain data");
    assert_eq!(json, derived, "both writers agree");
    let result: Value = serde_json::from_str(&json).expect("the result is JSON");
    let text = |key: &str, text: &str| {
        assert!(!text.is_empty() || matches!(key, "rows" | "page_labels"), "{key} is empty");
    };
    check_values("", &result, &text, &|_, _| {});
    assert!(read.warnings.len() <= MAX_WARNINGS);
    assert_eq!(read.quality == Quality::Complete, read.quality_reason.is_none());
    let _ = (read.to_markdown(), read.to_text());
    json
}

/// Checks that nothing in a result is null, and calls `text` and `list` with every text and every
/// list and the name of its member.
///
/// # Panics
///
/// When a value is null, and when `text` or `list` panics.
pub fn check_values(
    key: &str,
    value: &Value,
    text: &dyn Fn(&str, &str),
    list: &dyn Fn(&str, &[Value]),
) {
    match value {
        Value::Null => panic!("{key} is null"),
        Value::String(found) => text(key, found),
        Value::Array(items) => {
            list(key, items);
            items.iter().for_each(|item| check_values(key, item, text, list));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| check_values(key, value, text, list));
        }
        Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Checks that a text has no whitespace to collapse or to trim.
///
/// # Panics
///
/// When it has.
pub fn check_collapsed(key: &str, text: &str) {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text, plain, "{key} has whitespace to collapse");
}

/// Checks that a value is a well-formed web address.
///
/// # Panics
///
/// When it is not.
#[allow(clippy::expect_used, reason = "tests fail loudly")]
pub fn check_address(value: &Value) {
    let text = value.as_str().expect("an address is text");
    assert_eq!(url::well_formed(text).as_deref(), Some(text), "a malformed address came through");
}
