//! Parses mutated documents, and documents that a fuzzer found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use carrel_eutils::Eutils;
use carrel_eutils::formats::efetch;
use carrel_pdk::Plugin;
use carrel_pdk::testing::damage::check_every_prefix;

mod support;

use support::fixtures;

/// Fragments of NCBI's answers that are hard to parse.
const PIECES: &[&str] = &[
    "</PubmedArticle>",
    "<PubmedArticle>",
    "<ERROR>no</ERROR>",
    "<error id='1'/>",
    "<Id>1</Id>",
    "<Link>",
    "</LinkSet>",
    "<Item Name='a' Type='List'>",
    "<error>x</error>",
    "|",
    "AMBIGUOUS",
    "PMID- 1",
    "      ",
    "<Year>1</Year>",
    "<Year>0000</Year>",
    "<Month>99</Month>",
    "<PMID/>",
    "null",
    "{\"error\":\"x\"}",
];

#[test]
fn thousands_of_damaged_documents_give_a_result_or_an_error() {
    fixtures().check_damaged(12_000, PIECES, |format, document| {
        support::check(format, document);
        if format == "efetch" {
            support::check("works", document);
        }
    });
}

#[test]
fn every_prefix_of_a_set_is_truncated_and_says_where() {
    let document = fixtures().document("article");
    check_every_prefix(&document, 0, |document| Eutils::parse("efetch", document));
}

/// Seconds that parsing takes, the shortest of three.
fn time(document: &str) -> Duration {
    let run = || {
        let start = Instant::now();
        let _ = efetch::parse(document);
        start.elapsed()
    };
    (0..3).map(|_| run()).min().unwrap()
}

#[test]
fn thousands_of_authors_and_sections_in_one_record_cost_linear_time() {
    let record = |count: usize| {
        let mut text = String::from("<PubmedArticleSet><PubmedArticle><MedlineCitation><Article>");
        text.push_str("<Abstract>");
        for number in 0..count {
            write!(text, "<AbstractText Label=\"L{number}\">x<sub>1</sub></AbstractText>").unwrap();
        }
        text.push_str("</Abstract><AuthorList>");
        for number in 0..count {
            write!(text, "<Author><LastName>A{number}</LastName></Author>").unwrap();
        }
        text + "</AuthorList></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
    };
    let (small, large) = (time(&record(2_000)), time(&record(32_000)));
    // Sixteen times the size; a quadratic parser would take 256 times as long.
    assert!(large < small * 64, "{small:?} against {large:?}");
}

#[test]
fn sections_nested_without_end_are_refused() {
    let open = "<Section>".repeat(100_000);
    let text = format!("<PubmedBookArticle><BookDocument><Sections>{open}");
    let error = efetch::parse(&text).unwrap_err();
    assert_eq!(error.message, "elements nested deeper than 128");
}

/// Found by fuzzing: a title with a space before its bracket, a year of five digits.
#[test]
fn oddities_in_titles_and_years_keep_the_promises() {
    for (document, format) in [
        (
            "<PubmedArticle><MedlineCitation><Article><ArticleTitle>[ About desks ].</ArticleTitle>\
             </Article></MedlineCitation></PubmedArticle>",
            "works",
        ),
        (
            "<PubmedArticle><MedlineCitation><Article><ArticleDate><Year>20247</Year>\
             <Month>02</Month><Day>28</Day></ArticleDate></Article></MedlineCitation>\
             </PubmedArticle>",
            "efetch",
        ),
    ] {
        support::check(format, document);
    }
}
