//! Documents nobody wrote: fixtures with pieces changed, removed, doubled and swapped, the same ones
//! in every run; and what a fuzzer once found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::Plugin;

mod support;

use support::{fixtures, read};

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
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "\\",
    "\\u",
    "\\ud83d",
    "\\udc18",
    "\\u0000",
    "\\/",
    "null",
    "true",
    "-",
    "1e999",
    "99999999999999999999999",
    "0.5",
    "{\"message\":",
    "\"message-type\":\"work\",",
    "\"message-type\":\"work-list\",",
    "\"items\":[",
    "\"title\":[\"",
    "\"author\":[{\"family\":",
    "\"date-parts\":[[",
    "<i>",
    "</i>",
    "<sub>",
    "</sub>",
    "<jats:title>",
    "</jats:title>",
    "<mml:math>",
    "<mml:msub>",
    "</mml:msub>",
    "<mml:mmultiscripts>",
    "<mml:mprescripts/>",
    "<jats:alternatives>",
    "</jats:alternatives>",
    "<!--",
    "<![CDATA[",
    "&amp;",
    "&lt;",
    "&#0;",
    "&#xD800;",
    "&amp;lt;sub&amp;gt;",
    "\u{feff}",
    "\u{a0}",
    "\u{0}",
    "\u{e9}",
    "\u{1f418}",
    " ",
    "\n",
    "http://",
    "10.5555/",
    "%",
    "Resource not found.",
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
    let documents: Vec<String> =
        fixtures().iter().map(|case| read(case, "response.json")).collect();
    let mut numbers = Numbers(0x5EED_CA99_E112_3457);
    for round in 0..20_000 {
        let mut document = documents[round % documents.len()].clone();
        for _ in 0..=numbers.next(3) {
            mutate(&mut document, &mut numbers);
        }
        support::check(&document);
    }
}

#[test]
fn markup_in_every_text_gives_a_result() {
    let mut numbers = Numbers(0x5EED_0DD5_0DD5_5EED);
    for _ in 0..5000 {
        let mut text = String::new();
        for _ in 0..numbers.next(12) {
            text.push_str(PIECES[26 + numbers.next(24)]);
        }
        let text = serde_json::to_string(&text).unwrap();
        support::check(&format!(
            r#"{{"DOI": "10.5555/x", "title": [{text}], "abstract": {text}, "publisher": {text},
                "author": [{{"family": {text}, "affiliation": [{{"name": {text}}}]}}]}}"#
        ));
    }
}

#[test]
fn every_prefix_of_a_document_is_truncated_and_says_where() {
    let case = fixtures().into_iter().find(|case| case.ends_with("full_work")).unwrap();
    let whole = read(&case, "response.json");
    let end = whole.trim_end().len();
    for at in (1..end).filter(|&at| whole.is_char_boundary(at)) {
        let error = carrel_crossref::Crossref::parse("work", &whole[..at]).unwrap_err();
        let position = error.position.unwrap();
        assert!(position.offset <= at as u64, "cut at {at}, reported at {}", position.offset);
    }
}

#[test]
fn a_report_with_line_breaks_anywhere_is_one_line() {
    for document in [
        r#"{"status": "failed", "message-type": "a\nb", "message": []}"#,
        r#"{"status": "failed", "message-type": "x", "message": [{"type": "a\u0085b\u0000"}]}"#,
        r#"{"message-type": "x", "message": [{"message": "a\u2028b\rc", "value": "d\ne"}]}"#,
        r#"{"message-type": "a\nb", "message": {"name": "c\nd"}}"#,
    ] {
        support::check(document);
    }
}
