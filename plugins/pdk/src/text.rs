//! Normalises text for readers: the rules for titles, names and abstracts of every source.
//!
//! - Runs of whitespace, line breaks included, become one space; none at either end.
//! - Markup inside a text never truncates it: its content becomes part of the text.
//! - Sub- and superscripts become Unicode where every character has one, else `_{…}` and `^{…}`.
//! - An entity that upstream escaped twice is decoded once more.
//! - TeX is kept, dollars included.

use std::borrow::Cow;

use crate::scan::{self, Lanes};

mod entities;
pub(crate) mod flow;
mod markup;
mod math;
mod named;
mod scripts;

pub use entities::{decode_entities, entity};
pub use markup::marked_up;
pub use scripts::{Script, write_script};

/// `text` with every run of Unicode whitespace as one space and none at either end. Borrows if
/// nothing changes.
pub fn collapse(text: &str) -> Cow<'_, str> {
    let text = trim(text);
    let mut next = untidy(text, 0);
    if next.is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    while let Some(at) = next {
        out.push_str(&text[done..at]);
        out.push(' ');
        done = text.len() - text[at..].trim_start().len();
        next = untidy(text, done);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// `text` without whitespace at either end; fast if there is none.
pub fn trim(text: &str) -> &str {
    match text.as_bytes() {
        [0x21..0x7F] | [0x21..0x7F, .., 0x21..0x7F] => text,
        _ => text.trim(),
    }
}

/// `collapse`, with `None` for an empty text.
pub fn present(text: &str) -> Option<Cow<'_, str>> {
    Some(collapse(text)).filter(|text| !text.is_empty())
}

/// A piece of a document that fits into a message: the first 60 characters, on one line.
pub fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = |character: char| {
        if character.is_control() || character.is_whitespace() { ' ' } else { character }
    };
    text.chars().take(LONGEST).map(line).collect()
}

/// The bytes that whitespace other than a space begins with. U+0085 and U+00A0 start with C2, U+1680
/// with E1, U+2000 to U+205F with E2, U+3000 with E3; so do others, such as dashes and quotes.
pub(crate) fn may_be_whitespace(here: Lanes) -> Lanes {
    here.in_range(0, 0x20).or(here.is(0xC2)).or(here.in_range(0xE1, 3))
}

/// Where the first whitespace from `from` on begins that is not just one space.
fn untidy(text: &str, from: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let at = scan::find_or_twice(text.as_bytes(), from, may_be_whitespace, b' ')?;
        let character = text.get(at..)?.chars().next()?;
        if character.is_whitespace() {
            // A space before it belongs to the same run.
            return Some(if text[..at].ends_with(' ') { at - 1 } else { at });
        }
        from = at + character.len_utf8();
    }
}

/// The offset of the first control character that XML does not allow.
pub(crate) fn control_character(text: &str) -> Option<usize> {
    const WHITESPACE: u16 = 1 << b'\t' | 1 << b'\n' | 1 << b'\r';
    scan::find_rare(text.as_bytes(), 0, |here| {
        here.below_sixteen(!WHITESPACE).or(here.in_range(0x10, 0x10))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rule in its simplest form.
    fn plainly(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tidy_text_is_borrowed() {
        for text in ["", "one", "one two", "naïve Möbius “quotes” – dashes", " trimmed \n"]
        {
            assert!(matches!(collapse(text), Cow::Borrowed(_)), "{text:?}");
        }
    }

    #[test]
    fn line_breaks_and_runs_become_one_space() {
        assert_eq!(
            collapse("  Quantum\n  criticality,\tthe   end \u{a0} \u{2003}of it\r\n"),
            "Quantum criticality, the end of it"
        );
    }

    #[test]
    fn tex_stays_as_it_is() {
        let text = r"$\lesssim 3$ and $a_{ij}^2$ -- \'etale";
        assert_eq!(collapse(text), text);
    }

    #[test]
    fn blank_is_absent() {
        assert_eq!(present(" \n\u{a0} "), None);
        assert_eq!(present(" a "), Some(Cow::Borrowed("a")));
    }

    #[test]
    fn control_characters_that_xml_allows_are_let_through() {
        for code in 0..0x80_u8 {
            let text = format!("0123456789abcdef{}", char::from(code));
            let bad = code < 0x20 && !matches!(code, b'\t' | b'\n' | b'\r');
            assert_eq!(control_character(&text), bad.then_some(16), "{code}");
        }
    }

    proptest! {
        #[test]
        fn collapse_is_split_and_join(text in "[ \n\ta-zé“\u{a0}\u{2003}\u{3000}\u{e000}]{0,60}") {
            prop_assert_eq!(collapse(&text), plainly(&text));
        }
    }
}
