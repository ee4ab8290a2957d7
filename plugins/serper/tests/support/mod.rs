//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz target.

#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_serper::Serper;
use carrel_websearch::testing;

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
    Suite::open(root, "serper", "results")
}

/// Parses the document and checks the invariants of the result.
pub fn check(document: &str) {
    testing::check::<Serper>(document);
}
