//! Compares the fast path with the plain reader, on texts made of fragments.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::json::reader::Reader;

/// Fragments that meet the conditions and that do not: with and without escapes, short and long,
/// whole and cut.
const PIECES: &[&str] = &[
    "",
    "a",
    "é",
    "\u{1F418}",
    "a text of sixteen",
    "a text of more than sixty-four bytes, of which the last is in a lane of its own.",
    "\\n",
    "\\\"",
    "\\u00e9",
    "\\ud83d",
    "\\ud83d\\udc18",
    "\\u12",
    "\\x",
    "\\",
    "\n",
    "\u{1f}",
    "\u{7f}",
    "\"",
];

/// Whitespace as documents have it, and other characters.
const SPACE: &[&str] =
    &[" ", "\n", "\r", "\t", "                    ", "\u{b}", "\u{a0}", "x", "\""];

fn joined(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    vec(prop::sample::select(pieces), 0..8).prop_map(|pieces| pieces.concat())
}

fn reader(text: &str) -> Reader<'_> {
    Reader { text, at: 0, depth: 0 }
}

proptest! {
    #[test]
    fn usual_string_is_what_the_plain_reader_returns(text in joined(PIECES), closed in any::<bool>()) {
        let text = format!("\"{text}{}", if closed { "\"" } else { "" });
        let (mut fast, mut plain) = (reader(&text), reader(&text));
        let expected = plain.plain_string(1);
        match fast.usual_string() {
            Ok(found) => {
                prop_assert_eq!(Ok(found.to_owned()), expected);
                prop_assert_eq!(fast.at, plain.at);
            }
            Err(clean) => {
                prop_assert_eq!(fast.at, 0);
                prop_assert_eq!(fast.plain_string(clean), expected);
                prop_assert_eq!(fast.at, plain.at);
            }
        }
    }

    #[test]
    fn peek_stops_where_the_plain_reader_stops(text in joined(SPACE)) {
        let (mut fast, mut plain) = (reader(&text), reader(&text));
        prop_assert_eq!(fast.peek(), plain.behind_whitespace());
        prop_assert_eq!(fast.at, plain.at);
    }
}
