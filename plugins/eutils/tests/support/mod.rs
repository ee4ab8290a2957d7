//! What holds for every document whatever, good or bad: shared by the tests and the fuzz targets.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test takes this file in as a module of its own"
)]

use carrel_eutils::{Eutils, efetch};
use carrel_pdk::id::{Doi, Pmcid};
#[cfg(test)]
use carrel_pdk::testing::fixtures::Case;
use carrel_pdk::testing::promises::check_error;
use carrel_pdk::{Code, Plugin};
use serde_json::Value;

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Vec<Case> {
    Case::all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/eutils"))
}

/// Where the fixtures are listed.
#[cfg(test)]
pub const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/README.md");

/// The formats.
pub const FORMATS: [&str; 11] = [
    "efetch",
    "works",
    "esearch",
    "esummary",
    "elink",
    "einfo",
    "espell",
    "epost",
    "ecitmatch",
    "medline",
    "idconv",
];

/// Parses the document and checks everything that must hold of the outcome.
pub fn check(format: &str, document: &str) {
    match Eutils::parse(format, document) {
        Ok(json) => {
            let result: Value = serde_json::from_str(&json).expect("the result is JSON");
            if format == "efetch" {
                let articles = efetch::parse(document).expect("parsing again gives the same");
                let derived = serde_json::to_string(&articles).expect("plain data");
                assert_eq!(json, derived, "both writers agree");
            }
            for key in ["articles", "works"] {
                for record in result.get(key).and_then(Value::as_array).into_iter().flatten() {
                    check_no_empty_list(key, record);
                }
            }
            check_value("", &result);
        }
        Err(error) => check_error(
            &error,
            document,
            &[Code::InvalidDocument, Code::UpstreamError, Code::RateLimited],
        ),
    }
}

/// Absent is absent: a record has no list without items.
fn check_no_empty_list(key: &str, value: &Value) {
    match value {
        Value::Array(items) => {
            assert!(!items.is_empty(), "{key} is empty");
            items.iter().for_each(|item| check_no_empty_list(key, item));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| check_no_empty_list(key, value));
        }
        _ => {}
    }
}

/// Absent is absent: no nulls and no empty strings; whitespace is collapsed; identifiers are some.
fn check_value(key: &str, value: &Value) {
    match value {
        Value::Null => panic!("{key} is null"),
        Value::String(text) => {
            // Links may be without a source; nothing else is empty.
            assert!(!text.is_empty() || key == "from", "{key} is empty");
            match key {
                "doi" => assert!(Doi::parse(text).is_ok(), "{text:?} is no DOI"),
                "pmcid" => assert!(Pmcid::parse(text).is_ok(), "{text:?} is no PMCID"),
                "abstract_text" | "title" | "text" | "citation" | "affiliations" => {
                    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    assert_eq!(*text, plain, "{key} has whitespace to collapse");
                }
                "issued" | "electronic_date" | "date" => {
                    assert!(
                        (4..=10).contains(&text.len())
                            && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'),
                        "{text:?} is no date"
                    );
                }
                _ => {}
            }
        }
        Value::Array(items) => items.iter().for_each(|item| check_value(key, item)),
        Value::Object(members) => members.iter().for_each(|(key, value)| check_value(key, value)),
        Value::Bool(_) | Value::Number(_) => {}
    }
}
