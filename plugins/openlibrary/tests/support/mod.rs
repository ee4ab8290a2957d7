//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz target.

#![allow(clippy::expect_used, reason = "tests fail loudly")]
#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use carrel_openlibrary::OpenLibrary;
use carrel_openlibrary::formats::books;
use carrel_pdk::Plugin;
#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::records::check_records;

/// The formats of this plugin.
pub const FORMATS: &[&str] = &["books"];

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
    Suite::open(root, "openlibrary", "books")
}

/// Parses the document in every format and checks the invariants of the results.
pub fn check(document: &str) {
    check_records::<OpenLibrary>("openlibrary", FORMATS, document);
    if let Ok(result) = books::books(document) {
        let json = OpenLibrary::parse(FORMATS[0], document).expect("the same document");
        let derived = serde_json::to_string(&result).expect("plain data");
        assert_eq!(json, derived, "both writers agree");
    }
}
