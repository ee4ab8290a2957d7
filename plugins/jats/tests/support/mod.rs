//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz target.

#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use carrel_pdk::Code;
#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::{check_document, check_error};

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    Suite::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"), "jats", "jats")
}

/// Reads the document and checks the invariants of the result.
pub fn check(format: &str, document: &str) {
    match carrel_jats::read(format, document) {
        Ok(read) => {
            let json = check_document(&read, document.len());
            assert!(!read.to_markdown().contains("\n\n\n") || json.contains("\"code\""));
        }
        Err(error) => check_error(&error, document, &[Code::InvalidDocument, Code::TooLarge]),
    }
}
