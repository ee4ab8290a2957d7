//! Checks the invariants of every result, for valid and invalid requests. Shared by the tests and the
//! fuzz target.

#![allow(
    unreachable_pub,
    dead_code,
    clippy::expect_used,
    reason = "each test takes this file in as its own module"
)]

use carrel_csl::Csl;
#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::check_error;
use carrel_pdk::{Code, Plugin};
use serde_json::Value;

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    Suite::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"), "csl", "process")
}

/// Processes the request and checks the invariants of the result.
pub fn check(document: &str) {
    match Csl::parse("process", document) {
        Ok(result) => {
            let result: Value = serde_json::from_str(&result).expect("a result is JSON");
            for name in ["citations", "bibliography", "unknown", "warnings"] {
                assert!(result[name].is_array(), "{name} is a list");
            }
            for entry in result["bibliography"].as_array().into_iter().flatten() {
                assert!(entry["id"].is_string() && entry["text"].is_string(), "{entry}");
            }
        }
        Err(error) => check_error(&error, document, &[Code::InvalidDocument, Code::TooLarge]),
    }
}
