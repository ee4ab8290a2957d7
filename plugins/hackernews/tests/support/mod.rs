//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz target.

#![allow(clippy::expect_used, reason = "tests fail loudly")]
#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use carrel_hackernews::HackerNews;
use carrel_hackernews::item;
#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::{check_document, check_error};
use carrel_pdk::{Code, Plugin};

/// The formats of this plugin.
pub const FORMATS: &[&str] = &["item"];

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
    Suite::open(root, "hackernews", "item")
}

/// Parses the document and checks the invariants of the result.
pub fn check(document: &str) {
    match item::thread(document) {
        Ok(thread) => {
            check_document(&thread.document, document.len());
            let json = HackerNews::parse(FORMATS[0], document).expect("the same document");
            serde_json::from_str::<serde_json::Value>(&json).expect("the result is JSON");
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
                Code::Denied,
            ],
        ),
    }
}
