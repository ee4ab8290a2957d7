//! Checks the invariants of every parse result, for valid and invalid files. Shared by the tests
//! and the fuzz target.

#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use carrel_pdk::Code;
#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::{check_document, check_error};

#[cfg(test)]
pub mod damage;
#[cfg(test)]
pub mod files;

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    Suite::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"), "pdf", "pdf")
}

/// Reads the file and checks the invariants of the result.
pub fn check(document: &[u8], options: &str) {
    match carrel_pdf::read(document, options) {
        Ok(read) => drop(check_document(&read, document.len())),
        Err(error) => {
            let codes = [Code::InvalidDocument, Code::TooLarge, Code::InvalidArguments];
            check_error(&error, document, &codes);
        }
    }
}
