//! Parses mutated documents, and documents that a fuzzer found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_arxiv::Arxiv;
use carrel_pdk::Plugin;
use carrel_pdk::testing::damage::check_every_prefix;

mod support;

use support::fixtures;

/// Fragments of feeds that are hard to parse.
const PIECES: &[&str] = &[
    "</entry>",
    "<entry>",
    "</feed>",
    "<feed xmlns='http://www.w3.org/2005/Atom'>",
    "xmlns:a='b'",
    "a:",
    "<br/>",
    "%zz",
];

#[test]
fn thousands_of_damaged_feeds_give_a_result_or_an_error() {
    fixtures().check_damaged(6000, PIECES, |_, document| support::check(document));
}

#[test]
fn every_prefix_of_a_feed_is_truncated_and_says_where() {
    let document = fixtures().document("new_generation");
    check_every_prefix(&document, 0, |document| Arxiv::parse("feed", document));
}
