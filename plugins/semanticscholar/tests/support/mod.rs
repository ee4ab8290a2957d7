//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz target.

#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::records::check_records;
use carrel_semanticscholar::SemanticScholar;

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
    Suite::open(root, "semanticscholar", "papers")
}

/// Parses the document in every format and checks the invariants of the results.
pub fn check(document: &str) {
    check_records::<SemanticScholar>(
        "semanticscholar",
        &["papers", "paper", "citations", "references"],
        document,
    );
}
