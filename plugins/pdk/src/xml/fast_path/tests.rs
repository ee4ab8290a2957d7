//! Compares the fast path with the plain reader, on documents made of fragments.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::text;
use crate::xml::tokens::{Token, Tokens};

/// Fragments that meet the conditions and that do not: long and short, tidy and not, whole and cut.
const PIECES: &[&str] = &[
    "<a>",
    "</a>",
    "</a >",
    "<b:c>",
    "</b:c>",
    "<a x='1'>",
    "<a x=\"1\" y=\"two words\">",
    "<a  x='1'>",
    "<a x = '1'>",
    "<a x='1'y='2'>",
    "<a x=' 1'>",
    "<a x='1 '>",
    "<a x='1  2'>",
    "<a x=''>",
    "<a/>",
    "<a x='&amp;'/>",
    "<a x='<'>",
    "<a x=\"it's\">",
    "<a x='1' x='2'>",
    "<1>",
    "<a 1='x'>",
    "<é ü='ö'>",
    "<a-name.of_more:than-thirty-two.bytes-in-one>",
    "<a an-attribute-of-more-than.sixteen='1'>",
    "<a x='a value of more than sixty-four bytes, at which the fast path gives up and returns'>",
    "text",
    " text",
    "text ",
    "two  spaces",
    "a line\nbreak",
    "\u{a0}",
    "é",
    "&amp;",
    "&",
    "<",
    ">",
    "/",
    "'",
    "a text of more than sixty-four bytes, at which the fast path has to look for its end again ",
    "<![CDATA[x]]>",
    "<!-- x -->",
    "<?x y?>",
    " ",
    "\n",
    "]]>",
];

fn document() -> impl Strategy<Value = String> {
    vec(prop::sample::select(PIECES), 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn tags_are_read_as_the_plain_reader_reads_them(document in document()) {
        let mut tokens = Tokens::new(&document);
        let mut attributes = Vec::new();
        loop {
            let at = tokens.clone();
            let token = tokens.next(&mut attributes);
            if let Some(usual) = at.usual_name() {
                prop_assert_eq!(Some(usual), at.name().ok());
                // With the plain reader only.
                let (mut plainly, mut found) = (at.clone(), Vec::new());
                let empty = plainly.attributes::<false>(usual, &mut found);
                let mut quickly = at.clone();
                let mut fast = Vec::new();
                let fast_empty = quickly.attributes::<true>(usual, &mut fast);
                prop_assert_eq!(empty.as_ref().ok(), fast_empty.as_ref().ok());
                prop_assert_eq!(
                    empty.map_err(|flaw| (flaw.offset, flaw.message)),
                    fast_empty.map_err(|flaw| (flaw.offset, flaw.message))
                );
                prop_assert_eq!(plainly.offset(), quickly.offset());
                let pairs = |all: &[super::Attribute<'_>]| -> Vec<(String, String)> {
                    all.iter().map(|attr| (attr.name.to_owned(), attr.raw.to_owned())).collect()
                };
                prop_assert_eq!(pairs(&found), pairs(&fast));
                for attr in &fast {
                    let value = text::decode_entities(attr.raw);
                    prop_assert!(!attr.plain || text::present(&value).as_deref() == Some(attr.raw));
                }
                let mut bare = at.clone();
                if bare.bare(usual) {
                    prop_assert!(found.is_empty());
                    prop_assert_eq!(bare.offset(), plainly.offset());
                }
            }
            match token {
                Ok(Token::Eof) | Err(_) => break,
                Ok(_) => {}
            }
        }
    }

    #[test]
    fn texts_and_end_tags_are_read_as_the_plain_reader_reads_them(document in document()) {
        let mut tokens = Tokens::new(&document);
        let mut attributes = Vec::new();
        loop {
            let at = tokens.clone();
            for name in ["a", "b:c"] {
                let mut quickly = at.clone();
                if quickly.closes(name) {
                    let mut plainly = at.clone();
                    prop_assert_eq!(plainly.next(&mut attributes).ok(), Some(Token::End(name)));
                    prop_assert_eq!(plainly.offset(), quickly.offset());
                }
                let mut quickly = at.clone();
                if let Some((text, tidy)) = quickly.leaf(name) {
                    let mut plainly = at.clone();
                    if !text.is_empty() {
                        prop_assert_eq!(plainly.next(&mut attributes).ok(), Some(Token::Text(text)));
                    }
                    prop_assert_eq!(plainly.next(&mut attributes).ok(), Some(Token::End(name)));
                    prop_assert_eq!(plainly.offset(), quickly.offset());
                    prop_assert!(!tidy || text.is_empty() || text::present(text).as_deref() == Some(text));
                }
            }
            match tokens.next(&mut attributes) {
                Ok(Token::Eof) | Err(_) => break,
                Ok(_) => {}
            }
        }
    }
}
