//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz target.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use carrel_doaj::Doaj;
use carrel_doaj::formats::articles;
#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::{check_address, check_collapsed, check_error, check_values};
use carrel_pdk::{Code, Plugin};
use serde_json::Value;

/// The formats of this plugin.
pub const FORMATS: &[&str] = &["articles"];

/// The error codes that a document without a result may get.
const CODES: &[Code] = &[
    Code::InvalidDocument,
    Code::UpstreamError,
    Code::UpstreamUnavailable,
    Code::NotFound,
    Code::RateLimited,
];

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    Suite::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"), "doaj", "articles")
}

/// Parses the document in every format and checks the invariants of the results.
pub fn check(document: &str) {
    for format in FORMATS {
        match Doaj::parse(format, document) {
            Ok(json) => check_result(&serde_json::from_str(&json).expect("the result is JSON")),
            Err(error) => {
                check_error(&error, document, CODES);
                assert!(!error.message.contains('\n'), "{error}");
            }
        }
    }
    if let Ok(result) = articles::articles(document) {
        let json = Doaj::parse(FORMATS[0], document).expect("the same document");
        let derived = serde_json::to_string(&result).expect("plain data");
        assert_eq!(json, derived, "both writers agree");
    }
}

/// Checks that absent values are left out (no nulls, blank strings or empty lists within a record),
/// and that addresses and dates are well-formed.
fn check_result(result: &Value) {
    const FOR_READERS: &[&str] = &[
        "title",
        "subtitle",
        "abstract",
        "container_title",
        "publisher",
        "literal",
        "family",
        "given",
    ];
    let text = |key: &str, text: &str| {
        assert!(!text.trim().is_empty(), "{key} is blank");
        match key {
            "url" | "landing_url" => check_address(&text.into()),
            "issued" | "date" => check_date(text),
            _ if FOR_READERS.contains(&key) => check_collapsed(key, text),
            _ => {}
        }
    };
    let list = |key: &str, items: &[Value]| {
        assert!(!items.is_empty() || key == "works", "{key} is empty");
    };
    check_values("", result, &text, &list);
}

fn check_date(date: &str) {
    assert!([4, 7, 10].contains(&date.len()), "{date}");
    assert!(date.split('-').all(|part| part.bytes().all(|byte| byte.is_ascii_digit())), "{date}");
}
