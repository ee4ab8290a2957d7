//! What holds for every document whatever, good or bad: shared by the tests and the fuzz target.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use carrel_pdk::Code;
use carrel_pdk::document::{MAX_WARNINGS, Quality};
#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::{check_error, check_values};
use serde_json::Value;

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    Suite::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"), "jats", "jats")
}

/// Reads the document and checks everything that must hold of the outcome.
pub fn check(format: &str, document: &str) {
    match carrel_jats::read(format, document) {
        Ok(read) => {
            let json = read.to_json(document.len());
            let derived = serde_json::to_string(&read).expect("plain data");
            assert_eq!(json, derived, "both writers agree");
            let result: Value = serde_json::from_str(&json).expect("the result is JSON");
            // Cells may be empty.
            let text = |key: &str, text: &str| {
                assert!(!text.is_empty() || key == "rows", "{key} is empty");
            };
            check_values("", &result, &text, &|_, _| {});
            assert!(read.warnings.len() <= MAX_WARNINGS);
            assert_eq!(read.quality == Quality::Complete, read.quality_reason.is_none());
            assert!(!read.to_markdown().contains("\n\n\n") || json.contains("\"code\""));
            let _ = read.to_text();
        }
        Err(error) => check_error(&error, document, &[Code::InvalidDocument, Code::TooLarge]),
    }
}
