//! The order of texts: the first level of the Unicode collation, with the changes of languages.
//! Accents, case and punctuation do not count, blanks and symbols come before numbers, which compare
//! by their value, and numbers before letters.

mod letters;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

pub(crate) use letters::Alphabet;

/// A text prepared for comparing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CollationKey(Vec<u32>);

const BLANK: u32 = 1;
const SYMBOL: u32 = 0x10;
const DIGITS: u32 = 0x40_0000;
/// The script of the language, and the others.
const FIRST: u32 = 0x100_0000;
const LETTER: u32 = 0x400_0000;
/// Weights of a letter, so that others can follow it.
const STEP: u32 = 16;

impl CollationKey {
    /// The key of a text in a language's order.
    pub(crate) fn new(text: &str, alphabet: Alphabet) -> Self {
        let mut key = Self(Vec::with_capacity(text.len()));
        let mut digits = String::new();
        for c in text.nfc().flat_map(char::to_lowercase) {
            if let Some(digit) = digit(c) {
                digits.push(digit);
                continue;
            }
            key.number(&mut digits);
            if c == ' ' || c == '\n' || c == '\t' {
                key.0.push(BLANK);
            } else if is_symbol(c) {
                key.0.push(SYMBOL + u32::from(c));
            } else {
                key.letter(c, alphabet);
            }
        }
        key.number(&mut digits);
        while key.0.last() == Some(&BLANK) {
            key.0.pop();
        }
        key
    }

    fn letter(&mut self, c: char, alphabet: Alphabet) {
        let weight = |c: char| {
            let start = if alphabet.is_first(c) { FIRST } else { LETTER };
            start + u32::from(c) * STEP
        };
        if let Some((before, offset)) = alphabet.position(c) {
            self.0.push(weight(before) + offset);
        } else if let Some(letters) = letters::equal(c) {
            self.0.extend(letters.chars().map(weight));
        } else {
            for base in std::iter::once(c).nfd().filter(|base| base.is_alphanumeric()) {
                if !is_combining_mark(base) {
                    self.0.push(weight(letters::plain(base)));
                }
            }
        }
    }

    /// Writes a number so that numbers compare by their value.
    fn number(&mut self, digits: &mut String) {
        if digits.is_empty() {
            return;
        }
        let value = digits.trim_start_matches('0');
        self.0.push(DIGITS + u32::try_from(value.len().min(500)).unwrap_or_default());
        self.0.extend(value.bytes().map(|digit| DIGITS + u32::from(digit - b'0')));
        digits.clear();
    }
}

/// A decimal digit of any script, also a superscript or subscript.
fn digit(c: char) -> Option<char> {
    let first = match u32::from(c) {
        0x30..=0x39 => return Some(c),
        0xb2 | 0xb3 => 0xb0,
        0xb9 => 0xb8,
        0x660..=0x669 => 0x660,
        0x6f0..=0x6f9 => 0x6f0,
        0x966..=0x96f => 0x966,
        0x9e6..=0x9ef => 0x9e6,
        0xe50..=0xe59 => 0xe50,
        0x2070..=0x2079 => 0x2070,
        0x2080..=0x2089 => 0x2080,
        0xff10..=0xff19 => 0xff10,
        _ => return None,
    };
    char::from_digit(u32::from(c) - first, 10)
}

/// Whether a character is a symbol, such as those of mathematics and currencies, and no punctuation.
fn is_symbol(c: char) -> bool {
    matches!(c, '$' | '+' | '<'..='>' | '^' | '`' | '|' | '~')
        || matches!(u32::from(c),
            0xa2..=0xa6 | 0xa8 | 0xa9 | 0xac | 0xae..=0xb1 | 0xb4 | 0xb8 | 0xd7 | 0xf7
            | 0x2c2..=0x2c5 | 0x2d2..=0x2df | 0x2044 | 0x2052 | 0x20a0..=0x20c0 | 0x2190..=0x2307
            | 0x230c..=0x2328 | 0x232b..=0x23ff | 0x2500..=0x2767 | 0x2794..=0x27c4 | 0x27f0..=0x2982
            | 0x2999..=0x29d7 | 0x29dc..=0x29fb | 0x29fe..=0x2bff | 0x1f300..=0x1faff)
}

#[cfg(test)]
mod tests {
    use super::{Alphabet, CollationKey};

    fn sorted(language: &str, texts: &[&'static str]) -> Vec<&'static str> {
        let alphabet = Alphabet::of(language);
        let mut texts = texts.to_vec();
        texts.sort_by_key(|text| CollationKey::new(text, alphabet));
        texts
    }

    #[test]
    fn texts_are_in_the_order_of_the_unicode_collation() {
        let order = [
            "$ a",
            "2",
            "0012",
            "12 a",
            "a b",
            "a$b",
            "a9",
            "a-9 b",
            "a10",
            "Ængel",
            "(Ångström)",
            "Đ",
            "...dots",
            "Dz",
            "Łodz",
            "Lodz a",
            "n a",
            "'n rolk",
            "ŋ",
            "øre",
            "ß",
            "ss a",
            "Zebra",
            "Þorn",
            "Παπα",
            "Ґ",
            "д",
            "ђ",
            "Ёлка",
            "Елка а",
            "Иванов",
            "Йод",
            "Іваненко",
            "כהן",
            "김",
            "かた",
            "カタカナ",
            "李",
        ];
        let mut mixed = order;
        mixed.reverse();
        assert_eq!(sorted("en-US", &mixed), order);
    }

    #[test]
    fn accents_case_and_punctuation_do_not_count() {
        let root = Alphabet::of("en-US");
        let key = |text| CollationKey::new(text, root);
        for (left, right) in [("École", "ecole"), ("“a”, b", "A b"), ("ｶ", "ｶ"), ("が", "か")]
        {
            assert_eq!(key(left), key(right));
        }
    }

    #[test]
    fn languages_have_letters_of_their_own() {
        assert_eq!(sorted("sv-SE", &["Ö", "Ä", "Å", "Z", "A"]), ["A", "Z", "Å", "Ä", "Ö"]);
        assert_eq!(sorted("da-DK", &["Å", "Ø", "Æ", "Z", "A"]), ["A", "Z", "Æ", "Ø", "Å"]);
        assert_eq!(sorted("es-ES", &["Ñu", "Nz", "Oa"]), ["Nz", "Ñu", "Oa"]);
        assert_eq!(sorted("pl-PL", &["Ła", "Lz", "Ma"]), ["Lz", "Ła", "Ma"]);
        assert_eq!(sorted("ru-RU", &["Abe", "Яна", "1"]), ["1", "Яна", "Abe"]);
        assert_eq!(
            sorted("ja-JP", &["Иванов", "Παπα", "山", "かた", "Zebra", "Þorn"]),
            ["Zebra", "Þorn", "かた", "山", "Παπα", "Иванов"]
        );
        assert_eq!(sorted("de-DE", &["Äz", "Ab", "B"]), ["Ab", "Äz", "B"]);
    }
}
