//! Documents nobody wrote: fixtures with pieces changed, removed, doubled and swapped, the same ones
//! in every run; and what a fuzzer once found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use carrel_eutils::efetch;

mod support;

use support::fixtures::{all, document, format};

/// A small generator of numbers, so that every run tries the same documents.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below.max(1) as u64).unwrap()
    }
}

/// Pieces that a parser may stumble over.
const PIECES: &[&str] = &[
    "<",
    ">",
    "&",
    ";",
    "\"",
    "'",
    "/",
    "]]>",
    "<![CDATA[",
    "<!--",
    "-->",
    "<?",
    "?>",
    "</PubmedArticle>",
    "<PubmedArticle>",
    "<ERROR>no</ERROR>",
    "<error id='1'/>",
    "<Id>1</Id>",
    "<Link>",
    "</LinkSet>",
    "<Item Name='a' Type='List'>",
    "<error>x</error>",
    "&amp;",
    "&lt;",
    "&#0;",
    "&amp;amp;",
    "\u{feff}",
    "\u{a0}",
    "\u{0}",
    "\u{e9}",
    "\u{1f418}",
    " ",
    "\n",
    "|",
    "AMBIGUOUS",
    "PMID- 1",
    "      ",
    "<sub>2</sub>",
    "<!DOCTYPE x>",
    "<Year>1</Year>",
    "<Year>0000</Year>",
    "<Month>99</Month>",
    "<PMID/>",
    "%",
    "10.1/x",
    "\\",
    "\t",
    "null",
    "{\"error\":\"x\"}",
    "9999999999999999999999",
];

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn mutate(text: &mut String, numbers: &mut Numbers) {
    let at = boundary(text, numbers.next(text.len() + 1));
    let end = boundary(text, (at + numbers.next(40)).min(text.len()));
    match numbers.next(6) {
        0 => text.insert_str(at, PIECES[numbers.next(PIECES.len())]),
        1 => text.replace_range(at..end, ""),
        2 => text.replace_range(at..end, PIECES[numbers.next(PIECES.len())]),
        3 => {
            let piece = text[at..end].to_owned();
            text.insert_str(at, &piece);
        }
        4 => {
            let piece = text[at..end].to_owned();
            let to = boundary(text, numbers.next(text.len() + 1));
            text.insert_str(to, &piece);
        }
        _ => text.truncate(at),
    }
}

#[test]
fn thousands_of_damaged_documents_give_a_result_or_an_error() {
    let cases: Vec<(String, String)> =
        all().iter().map(|case| (format(case), document(case))).collect();
    let mut numbers = Numbers(0x5EED_CA99_E112_3457);
    for round in 0..12_000 {
        let (format, document) = &cases[round % cases.len()];
        let mut document = document.clone();
        for _ in 0..=numbers.next(4) {
            mutate(&mut document, &mut numbers);
        }
        support::check(format, &document);
        if format == "efetch" {
            support::check("works", &document);
        }
    }
}

#[test]
fn every_prefix_of_a_set_is_truncated_and_says_where() {
    let case = all().into_iter().find(|case| case.ends_with("article")).unwrap();
    let whole = document(&case);
    let end = whole.trim_end().len();
    for at in (0..end).filter(|&at| whole.is_char_boundary(at)) {
        let error = efetch::parse(&whole[..at]).unwrap_err();
        let position = error.position.unwrap();
        assert!(position.offset <= at as u64, "cut at {at}, reported at {}", position.offset);
    }
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
    // Sixteen times as much; anything quadratic would take 256 times as long.
    assert!(large < small * 64, "{small:?} against {large:?}");
}

#[test]
fn sections_nested_without_end_are_refused() {
    let open = "<Section>".repeat(100_000);
    let text = format!("<PubmedBookArticle><BookDocument><Sections>{open}");
    let error = efetch::parse(&text).unwrap_err();
    assert_eq!(error.message, "elements nested deeper than 128");
}
