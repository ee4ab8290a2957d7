//! What holds for every file whatever, good or bad: shared by the tests and the fuzz target.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test takes this file in as a module of its own"
)]

use carrel_pdk::Code;
use carrel_pdk::document::{MAX_WARNINGS, Quality};
use serde_json::Value;

#[cfg(test)]
pub mod damage;
#[cfg(test)]
pub mod files;

/// Reads the file and checks everything that must hold of the outcome.
pub fn check(document: &[u8], options: &str) {
    match carrel_pdf::read(document, options) {
        Ok(read) => {
            let json = read.to_json(document.len());
            let derived = serde_json::to_string(&read).expect("plain data");
            assert_eq!(json, derived, "both writers agree");
            check_value("", &serde_json::from_str(&json).expect("the result is JSON"));
            assert!(read.warnings.len() <= MAX_WARNINGS);
            assert_eq!(read.quality == Quality::Complete, read.quality_reason.is_none());
            let _ = read.to_markdown();
            let _ = read.to_text();
        }
        Err(error) => {
            let codes = [Code::InvalidDocument, Code::TooLarge, Code::InvalidArguments];
            assert!(codes.contains(&error.code), "{error}");
            assert!(!error.message.is_empty() && error.message.len() < 100_000, "{error}");
            if let Some(position) = &error.position {
                assert!(position.offset <= document.len() as u64, "{error}");
            }
        }
    }
}

/// Absent is absent: no nulls, no empty texts but cells and labels of pages.
fn check_value(key: &str, value: &Value) {
    match value {
        Value::Null => panic!("{key} is null"),
        Value::String(text) => assert!(!text.is_empty(), "{key} is empty"),
        Value::Array(_) if key == "rows" || key == "page_labels" => {}
        Value::Array(items) => items.iter().for_each(|item| check_value(key, item)),
        Value::Object(members) => members.iter().for_each(|(key, value)| check_value(key, value)),
        Value::Bool(_) | Value::Number(_) => {}
    }
}
