//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz target.

#![allow(clippy::expect_used, reason = "tests fail loudly")]
#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::{check_error, check_values};
use carrel_pdk::{Code, Plugin};
use carrel_youtube::YouTube;
use serde_json::Value;

/// The formats of this plugin.
pub const FORMATS: &[&str] = &["watch", "timedtext"];

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
    Suite::open(root, "youtube", "watch")
}

/// Parses the document in every format and checks the invariants of the results.
pub fn check(document: &str) {
    for format in FORMATS {
        match YouTube::parse(format, document) {
            Ok(json) => {
                let result: Value = serde_json::from_str(&json).expect("the result is JSON");
                check_values(
                    "",
                    &result,
                    &|key, text| assert!(!text.is_empty(), "{key}"),
                    &|_, _| {},
                );
            }
            Err(error) => check_error(
                &error,
                document,
                &[
                    Code::InvalidDocument,
                    Code::NotFound,
                    Code::UpstreamError,
                    Code::RateLimited,
                    Code::UpstreamUnavailable,
                ],
            ),
        }
    }
}
