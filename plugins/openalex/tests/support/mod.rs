//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz target.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use carrel_openalex::OpenAlex;
#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::{check_address, check_collapsed, check_error, check_values};
use carrel_pdk::{Code, Plugin};
use serde_json::Value;

/// The formats of the plugin.
const FORMATS: [&str; 2] = ["works", "work"];

/// The result's own lists, which may be empty.
const ANSWERS: [&str; 3] = ["works", "records", "open_copies"];

/// Machine-readable members, whose whitespace is not collapsed.
const MACHINES: [&str; 9] =
    ["next", "next_cursor", "source_type", "doi", "s2", "key", "license", "version", "oa_status"];

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
    Suite::open(root, "openalex", "works")
}

/// Parses the document in every format and checks the invariants of the results.
pub fn check(document: &str) {
    for format in FORMATS {
        match OpenAlex::parse(format, document) {
            Ok(json) => {
                let result: Value = serde_json::from_str(&json).expect("the result is JSON");
                check_result(&result);
            }
            Err(error) => {
                let codes = [
                    Code::InvalidDocument,
                    Code::NotFound,
                    Code::RateLimited,
                    Code::UpstreamError,
                    Code::UpstreamUnavailable,
                ];
                check_error(&error, document, &codes);
                assert!(!error.message.contains('\n'), "{error}");
            }
        }
    }
}

/// Checks that absent values are left out (no nulls, no blank strings) and that texts for readers
/// have collapsed whitespace.
fn check_result(result: &Value) {
    let text = |key: &str, text: &str| {
        assert!(!text.trim().is_empty(), "{key} is blank");
        if key == "url" || key == "landing_url" {
            check_address(&text.into());
        } else if !MACHINES.contains(&key) {
            check_collapsed(key, text);
        }
        if key == "issued" {
            assert!([4, 7, 10].contains(&text.len()), "{text}");
        }
    };
    let list = |key: &str, items: &[Value]| {
        assert!(!items.is_empty() || ANSWERS.contains(&key), "{key} is empty");
    };
    check_values("", result, &text, &list);
    let listed = ["works", "records"].into_iter().filter_map(|key| result.get(key)?.as_array());
    for work in listed.flatten().map(|item| item.get("work").unwrap_or(item)) {
        assert_eq!(work["source"], "openalex");
        assert!(work["ids"].is_object() && work["type"].is_string(), "{work}");
    }
}
