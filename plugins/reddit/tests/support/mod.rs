//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz target.

#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::check_site;
use carrel_reddit::Reddit;
use carrel_reddit::post;

/// The formats of this plugin.
pub const FORMATS: &[&str] = &["post"];

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
    Suite::open(root, "reddit", "post")
}

/// Parses the document and checks the invariants of the result.
pub fn check(document: &str) {
    let read = post::thread(document).map(|thread| thread.document);
    check_site::<Reddit>(FORMATS[0], document, read);
}
