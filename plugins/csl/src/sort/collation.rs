//! The order of texts: that of the Unicode collation's root for Latin, Greek and Cyrillic. Letters
//! are compared first, then their accents, then their case.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A text prepared for comparing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CollationKey {
    primary: Vec<u32>,
    secondary: Vec<u32>,
    tertiary: Vec<u8>,
}

/// Signs before digits and letters, in the order of the root collation.
const SIGNS: &str = "_‿-‐‑‒–—―,;:!¡?¿.…·'‘’‚‹›\"“”„«»()[]{}§¶@*/\\&#%‰†‡•`´˜^¨°©®+±÷×<=>|¦~¤¢$£¥€";

/// Letters that are others with a difference, or two others.
const LETTERS: &[(char, &str)] = &[
    ('ß', "ss"), ('æ', "ae"), ('œ', "oe"), ('ø', "o"), ('đ', "d"), ('ł', "l"), ('ħ', "h"),
    ('ŧ', "t"), ('ı', "i"), ('ĳ', "ij"), ('ﬁ', "fi"), ('ﬂ', "fl"),
];

impl CollationKey {
    /// The key of a text.
    pub(crate) fn new(text: &str) -> Self {
        let mut key = Self { primary: Vec::new(), secondary: Vec::new(), tertiary: Vec::new() };
        for c in text.trim().nfd() {
            if is_combining_mark(c) {
                key.secondary.push(u32::from(c));
                continue;
            }
            if c.is_control() {
                continue;
            }
            let upper = c.is_uppercase();
            for lower in c.to_lowercase() {
                if is_combining_mark(lower) {
                    continue;
                }
                match LETTERS.iter().find(|(from, _)| *from == lower) {
                    Some((_, to)) => {
                        for c in to.chars() {
                            key.push(c, upper, 1);
                        }
                    }
                    None => key.push(lower, upper, 0),
                }
            }
        }
        key
    }

    fn push(&mut self, c: char, upper: bool, variant: u32) {
        let code = u32::from(c);
        let weight = if c.is_whitespace() {
            1
        } else if let Some(at) = SIGNS.chars().position(|sign| sign == c) {
            2 + u32::try_from(at).unwrap_or_default()
        } else if c.is_numeric() {
            1000 + c.to_digit(10).unwrap_or(10)
        } else if c.is_alphabetic() {
            2000 + code
        } else {
            500 + code % 400
        };
        self.primary.push(weight);
        self.secondary.push(variant);
        self.tertiary.push(u8::from(upper));
    }
}
