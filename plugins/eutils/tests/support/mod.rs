//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz targets.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use carrel_eutils::Eutils;
use carrel_eutils::formats::efetch;
use carrel_pdk::id::{Doi, Pmcid};
#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::{check_collapsed, check_error, check_values};
use carrel_pdk::{Code, Plugin};
use serde_json::Value;

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    Suite::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"), "eutils", "")
}

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

/// Parses the document and checks the invariants of the result.
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
                    let list = |key: &str, items: &[Value]| {
                        assert!(!items.is_empty(), "{key} is empty");
                    };
                    check_values(key, record, &|_, _| {}, &list);
                }
            }
            check_values("", &result, &check_text, &|_, _| {});
        }
        Err(error) => check_error(
            &error,
            document,
            &[Code::InvalidDocument, Code::UpstreamError, Code::RateLimited],
        ),
    }
}

/// Checks that no string is empty, that whitespace is collapsed, and that identifiers are
/// well-formed.
fn check_text(key: &str, text: &str) {
    // Only the source of links may be empty.
    assert!(!text.is_empty() || key == "from", "{key} is empty");
    match key {
        "doi" => assert!(Doi::parse(text).is_ok(), "{text:?} is no DOI"),
        "pmcid" => assert!(Pmcid::parse(text).is_ok(), "{text:?} is no PMCID"),
        "abstract_text" | "title" | "text" | "citation" | "affiliations" => {
            check_collapsed(key, text);
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
