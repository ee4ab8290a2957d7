//! Parses mutated documents, and documents that a fuzzer found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use std::time::{Duration, Instant};

use carrel_page::{Options, read};
use carrel_pdk::Code;
use carrel_pdk::testing::damage::{Numbers, damage};

mod support;

use support::fixtures;

/// Fragments of pages that are hard to parse.
const PIECES: &[&str] = &[
    "<p>",
    "</p>",
    "<div>",
    "<table><tr><td>",
    "<td rowspan='9' colspan='99'>",
    "</table>",
    "<ul><li>",
    "<select>",
    "<math><mi>",
    "<annotation encoding='application/x-tex'>x</annotation>",
    "<svg>",
    "<template>",
    "<noscript>",
    "<b><i>",
    "</b>",
    "<a href='x'>",
    "<sub><sub>",
    "<pre>",
    "<dl><dt>",
    "<figure><figcaption>",
    "<script type='math/tex'>",
    "<script type='application/ld+json'>{\"a\":[",
    "<h2>",
    "<blockquote>",
    "<meta name='citation_doi' content='10.5555/x'>",
    "<form>",
    "<!--",
    "]]>",
    "<span class='ltx_note'><span class='ltx_note_content'>",
    "<body>",
    "<title>",
    "<plaintext>",
    "<div class='post'>",
    "\u{0}",
    "```",
    "| a | b |\n|---|---|\n",
    "> > ",
    "- - - ",
    "[^1]: x",
    "$$",
];

#[test]
fn two_thousand_damaged_documents_give_a_document_or_an_error() {
    let cases = fixtures().bytes();
    let mut numbers = Numbers::new(0x5EED_CA99_E112_3457);
    for round in 0..2000 {
        let (format, document) = &cases[round % cases.len()];
        let mut document = String::from_utf8_lossy(document).into_owned();
        if document.len() > 40_000 {
            continue;
        }
        damage(&mut document, PIECES, &mut numbers);
        support::check(format, document.as_bytes());
    }
}

#[test]
fn every_prefix_of_a_page_is_read() {
    let document = fixtures().bytes_of("article");
    for end in 0..=document.len() {
        support::check("html", &document[..end]);
    }
}

#[test]
fn nesting_of_any_depth_is_read() {
    for (before, behind) in [
        ("<div>", "</div>"),
        ("<ul><li>", "</li></ul>"),
        ("<blockquote>", "</blockquote>"),
        ("<b>", "</b>"),
        ("<sub>", "</sub>"),
        ("<table><tr><td>", "</td></tr></table>"),
        ("<dl><dd>", "</dd></dl>"),
        ("<figure>", "</figure>"),
        ("<figure><figcaption>", "</figcaption></figure>"),
        ("<math><mrow>", "</mrow></math>"),
        ("<math><msup>", "</msup></math>"),
        ("<span class='ltx_note'><span class='ltx_note_content'>", "</span></span>"),
        ("<div class='ltx_theorem'>", "</div>"),
        ("<span>", "</span>"),
        ("<a href='x'>", "</a>"),
        ("<ins>", "</ins>"),
        ("<p><b>", ""),
    ] {
        for depth in [10, 30, 100, 200, 5000] {
            let page = before.repeat(depth) + "word" + &behind.repeat(depth);
            support::check("html", page.as_bytes());
            let found = read("html", page.as_bytes(), &Options::default()).unwrap();
            assert!(found.to_text().contains("word"), "{before} {depth}: {found:?}");
        }
    }
    for (before, behind) in
        [("> ", ""), ("- ", ""), ("[", "](x)"), ("*", "*"), ("![", "](x)"), ("`", "")]
    {
        let text = before.repeat(5000) + "word" + &behind.repeat(5000);
        support::check("markdown", text.as_bytes());
    }
}

#[test]
fn a_page_of_too_many_elements_is_refused() {
    let page = "<p>".repeat(3_000_000);
    let error = read("html", page.as_bytes(), &Options::default()).unwrap_err();
    assert_eq!(error.code, Code::TooLarge);
}

#[test]
fn the_time_for_a_page_grows_with_its_size() {
    for (piece, behind) in [
        ("<p>word word word, and more of them.</p>", ""),
        ("<table><tr><td>a</td><td>b</td></tr></table>", ""),
        ("<div class=post>a contribution of some words</div>", ""),
        ("<h2>Related</h2><ul><li><a href=x>x</a></ul>", ""),
        ("<b>", ""),
        ("<!--", ""),
        ("<script>", ""),
        ("</p>", ""),
        ("<a href=x><p>", ""),
        ("<li><b>x", ""),
        ("<table><td>", ""),
        ("<svg><foreignObject>", ""),
        ("<sub>", ""),
        ("&amp", ""),
    ] {
        let time = |count: usize| {
            let page = piece.repeat(count) + behind;
            let start = Instant::now();
            let _ = read("html", page.as_bytes(), &Options::default());
            start.elapsed()
        };
        let (small, large) = (time(4_000), time(32_000));
        // Eight times the size: a quadratic reader would take 64 times as long.
        assert!(large < small * 40 + Duration::from_millis(400), "{piece}: {small:?}, {large:?}");
    }
}

#[test]
fn any_bytes_are_read() {
    let mut numbers = Numbers::new(7);
    for length in 0..400 {
        let bytes: Vec<u8> =
            (0..length).map(|_| u8::try_from(numbers.next(256)).unwrap()).collect();
        for format in ["html", "markdown", "text"] {
            support::check(format, &bytes);
        }
    }
}
