//! Documents nobody wrote: fixtures with pieces changed, removed, doubled and swapped, the same ones
//! in every run; and what a fuzzer once found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use std::fs;
use std::path::Path;

mod support;

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
    "</entry>",
    "<entry>",
    "</feed>",
    "<feed xmlns='http://www.w3.org/2005/Atom'>",
    "&amp;",
    "&lt;",
    "&#0;",
    "&#xD800;",
    "&amp;amp;",
    "\u{feff}",
    "\u{a0}",
    "\u{0}",
    "\u{e9}",
    "\u{1f418}",
    " ",
    "\n",
    "  ",
    "xmlns:a='b'",
    "a:",
    ":",
    "=",
    "<sub>2</sub>",
    "<br/>",
    "<!DOCTYPE x>",
    "<!DOCTYPE x [<!ENTITY a 'b'>]>",
    "http://",
    "%",
    "%zz",
    "10.1/x",
    "\\",
    "\t",
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
fn thousands_of_damaged_feeds_give_a_result_or_an_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/arxiv");
    let mut documents: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path().join("response.xml")).unwrap())
        .collect();
    documents.sort();
    let mut numbers = Numbers(0x5EED_CA99_E112_3457);
    for round in 0..6000 {
        let mut document = documents[round % documents.len()].clone();
        for _ in 0..=numbers.next(4) {
            mutate(&mut document, &mut numbers);
        }
        support::check(&document);
    }
}

#[test]
fn every_prefix_of_a_feed_is_truncated_and_says_where() {
    let file = "../../tests/fixtures/arxiv/new_generation/response.xml";
    let whole = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let end = whole.trim_end().len();
    for at in (0..end).filter(|&at| whole.is_char_boundary(at)) {
        let error = carrel_arxiv::feed::parse(&whole[..at]).unwrap_err();
        let position = error.position.unwrap();
        assert!(position.offset <= at as u64, "cut at {at}, reported at {}", position.offset);
    }
}
