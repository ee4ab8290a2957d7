//! What holds for every document whatever, good or bad: shared by the tests and the fuzz target.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test takes this file in as a module of its own"
)]

use carrel_pdk::Code;
use carrel_pdk::document::{MAX_WARNINGS, Quality};
use serde_json::Value;

/// Reads the document and checks everything that must hold of the outcome.
pub fn check(format: &str, document: &[u8]) {
    match carrel_tex::read(format, document) {
        Ok(read) => {
            let json = read.to_json(document.len());
            let derived = serde_json::to_string(&read).expect("plain data");
            assert_eq!(json, derived, "both writers agree");
            check_value("", &serde_json::from_str(&json).expect("the result is JSON"));
            assert!(read.warnings.len() <= MAX_WARNINGS);
            assert_eq!(read.quality == Quality::Complete, read.quality_reason.is_none());
            let _ = (read.to_markdown(), read.to_text());
        }
        Err(error) => {
            let codes = [Code::InvalidDocument, Code::TooLarge];
            assert!(codes.contains(&error.code), "{error}");
            assert!(!error.message.contains('\n') && error.message.len() < 10_000, "{error}");
            if error.code == Code::InvalidDocument {
                let position = error.position.as_ref().expect("an invalid document has a place");
                assert!(position.offset <= document.len() as u64, "{error}");
            }
        }
    }
}

/// Absent is absent: no nulls, no empty texts but cells.
fn check_value(key: &str, value: &Value) {
    match value {
        Value::Null => panic!("{key} is null"),
        Value::String(text) => assert!(!text.is_empty(), "{key} is empty"),
        Value::Array(_) if key == "rows" => {}
        Value::Array(items) => items.iter().for_each(|item| check_value(key, item)),
        Value::Object(members) => members.iter().for_each(|(key, value)| check_value(key, value)),
        Value::Bool(_) | Value::Number(_) => {}
    }
}
