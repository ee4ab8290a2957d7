//! The order of texts: that of the Unicode collation's root for Latin, Greek and Cyrillic. Letters
//! are compared first, then their accents, then their case; other signs do not count, and numbers
//! compare by their value.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A text prepared for comparing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CollationKey {
    primary: Vec<u32>,
    secondary: Vec<u32>,
    tertiary: Vec<u8>,
}

/// Weights: blanks before numbers before letters.
const BLANK: u32 = 1;
const DIGITS: u32 = 1000;
const LETTER: u32 = 2000;

/// Letters that are others with a difference, or two others.
const LETTERS: &[(char, &str)] = &[
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('đ', "d"),
    ('ł', "l"),
    ('ħ', "h"),
    ('ŧ', "t"),
    ('ı', "i"),
    ('ĳ', "ij"),
    ('ﬁ', "fi"),
    ('ﬂ', "fl"),
];

impl CollationKey {
    /// The key of a text.
    pub(crate) fn new(text: &str) -> Self {
        let mut key = Self { primary: Vec::new(), secondary: Vec::new(), tertiary: Vec::new() };
        let mut digits = String::new();
        for c in text.trim().nfd() {
            if let Some(digit) = c.to_digit(10) {
                digits.push(char::from_digit(digit, 10).unwrap_or('0'));
                continue;
            }
            key.number(&mut digits);
            if is_combining_mark(c) {
                key.secondary.push(u32::from(c));
                continue;
            }
            if c.is_whitespace() {
                key.primary.push(BLANK);
                continue;
            }
            if !c.is_alphanumeric() {
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
        key.number(&mut digits);
        while key.primary.last() == Some(&BLANK) {
            key.primary.pop();
        }
        key
    }

    /// Writes a number so that numbers compare by their value.
    fn number(&mut self, digits: &mut String) {
        if digits.is_empty() {
            return;
        }
        let value = digits.trim_start_matches('0');
        self.primary.push(DIGITS + u32::try_from(value.len().min(500)).unwrap_or_default());
        self.primary.extend(value.bytes().map(|digit| DIGITS + u32::from(digit - b'0')));
        digits.clear();
    }

    fn push(&mut self, c: char, upper: bool, variant: u32) {
        self.primary.push(LETTER + u32::from(c));
        self.secondary.push(variant);
        self.tertiary.push(u8::from(upper));
    }
}
