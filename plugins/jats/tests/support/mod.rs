//! What holds for every document whatever, good or bad: shared by the tests and the fuzz target.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test takes this file in as a module of its own"
)]

use carrel_pdk::Code;
use carrel_pdk::document::{MAX_WARNINGS, Quality};
#[cfg(test)]
use carrel_pdk::testing::fixtures::Case;
use carrel_pdk::testing::promises::check_error;
use serde_json::Value;

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Vec<Case> {
    Case::all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/jats"))
}

/// The format that a fixture is read in.
#[cfg(test)]
pub fn format_of(case: &Case) -> String {
    case.format().unwrap_or_else(|| "jats".to_owned())
}

/// Where the fixtures are listed.
#[cfg(test)]
pub const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/README.md");

/// Reads the document and checks everything that must hold of the outcome.
pub fn check(format: &str, document: &str) {
    match carrel_jats::read(format, document) {
        Ok(read) => {
            let json = read.to_json(document.len());
            let derived = serde_json::to_string(&read).expect("plain data");
            assert_eq!(json, derived, "both writers agree");
            check_value("", &serde_json::from_str(&json).expect("the result is JSON"));
            assert!(read.warnings.len() <= MAX_WARNINGS);
            assert_eq!(read.quality == Quality::Complete, read.quality_reason.is_none());
            assert!(!read.to_markdown().contains("\n\n\n") || json.contains("\"code\""));
            let _ = read.to_text();
        }
        Err(error) => check_error(&error, document, &[Code::InvalidDocument, Code::TooLarge]),
    }
}

/// Absent is absent: no nulls, no empty texts but cells, no whitespace to collapse but lines.
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
