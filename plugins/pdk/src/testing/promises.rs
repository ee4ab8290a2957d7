//! What holds for every outcome of every parser.

#![allow(clippy::panic, reason = "tests fail loudly")]

use serde_json::Value;

use crate::{Code, Error, url};

/// Checks an error about a document: one of the codes that fit, in words of reasonable length; and
/// when the document is invalid, a place inside it and one line.
///
/// # Panics
///
/// When any of that does not hold.
#[allow(clippy::expect_used, reason = "tests fail loudly")]
pub fn check_error(error: &Error, document: &str, codes: &[Code]) {
    assert!(codes.contains(&error.code), "an invalid document or a report, but found {error}");
    assert!(!error.message.is_empty() && error.message.len() < 100_000, "{error}");
    if error.code == Code::InvalidDocument {
        let position = error.position.as_ref().expect("an invalid document has a place");
        assert!(position.offset <= document.len() as u64, "{error}");
        assert!(!error.message.contains('\n'), "{error}");
    }
    serde_json::from_str::<Value>(&error.to_json()).expect("the error is JSON");
}

/// Checks that nothing in a result is null, and hands every text and every list with the name of its
/// member to `text` and `list`.
///
/// # Panics
///
/// When a value is null, and where `text` and `list` do.
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
