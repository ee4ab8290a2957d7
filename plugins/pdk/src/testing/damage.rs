//! Mutates documents: changes, removes, doubles and swaps pieces, the same way in every run.

use crate::{Code, Error};

/// Fragments that are hard to parse in any format.
pub const PIECES: &[&str] = &[
    "<",
    ">",
    "&",
    ";",
    "\"",
    "'",
    "/",
    ":",
    "=",
    "\\",
    "%",
    "]]>",
    "<![CDATA[",
    "<!--",
    "-->",
    "<?",
    "?>",
    "<!DOCTYPE x>",
    "<!DOCTYPE x [<!ENTITY a 'b'>]>",
    "<sub>2</sub>",
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
    "  ",
    "\n",
    "\t",
    "http://",
    "10.5555/",
    "9999999999999999999999",
];

/// A small pseudo-random number generator, so that every run tries the same documents.
#[derive(Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// A generator with a seed other than 0.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, below the one given.
    pub fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below.max(1) as u64).unwrap_or(0)
    }
}

/// Mutates a document in up to five places, with common fragments and those of its format.
pub fn damage(document: &mut String, own: &[&str], numbers: &mut Numbers) {
    for _ in 0..=numbers.next(4) {
        damage_once(document, own, numbers);
    }
}

/// Mutates a document of bytes in up to five places, with any bytes and fragments of its format,
/// such as keywords.
pub fn damage_bytes(document: &mut Vec<u8>, own: &[&[u8]], numbers: &mut Numbers) {
    for _ in 0..=numbers.next(4) {
        let at = numbers.next(document.len() + 1);
        let end = (at + numbers.next(40)).min(document.len());
        let taken = document[at..end].to_vec();
        match numbers.next(7) {
            0 => {
                let random = [u8::try_from(numbers.next(256)).unwrap_or(0)];
                let number = numbers.next(own.len() + 1);
                let piece = own.get(number).copied().unwrap_or(&random);
                document.splice(at..at, piece.iter().copied());
            }
            1 => drop(document.drain(at..end)),
            2 => document[at..end].fill(u8::try_from(numbers.next(256)).unwrap_or(0)),
            3 => drop(document.splice(at..at, taken)),
            4 => {
                let to = numbers.next(document.len() + 1);
                document.splice(to..to, taken);
            }
            5 => {
                if let Some(byte) = document.get_mut(at) {
                    *byte ^= 1 << numbers.next(8);
                }
            }
            _ => document.truncate(at),
        }
    }
}

fn damage_once(text: &mut String, own: &[&str], numbers: &mut Numbers) {
    let at = boundary(text, numbers.next(text.len() + 1));
    let end = boundary(text, (at + numbers.next(40)).min(text.len()));
    let number = numbers.next(own.len() + PIECES.len());
    let piece = own.get(number).copied().unwrap_or_else(|| PIECES[number - own.len()]);
    let taken = text[at..end].to_owned();
    match numbers.next(6) {
        0 => text.insert_str(at, piece),
        1 => text.replace_range(at..end, ""),
        2 => text.replace_range(at..end, piece),
        3 => text.insert_str(at, &taken),
        4 => {
            let to = boundary(text, numbers.next(text.len() + 1));
            text.insert_str(to, &taken);
        }
        _ => text.truncate(at),
    }
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Checks that a truncated document is invalid, with a position inside it, for every length from
/// `first` on.
///
/// # Panics
///
/// When a truncated document parses, or its error has another code or position.
#[allow(clippy::panic, reason = "tests fail loudly")]
pub fn check_every_prefix(
    document: &str,
    first: usize,
    parse: impl Fn(&str) -> Result<String, Error>,
) {
    let end = document.trim_end().len();
    for at in (first..end).filter(|&at| document.is_char_boundary(at)) {
        let Err(error) = parse(&document[..at]) else { panic!("cut at {at}, and no error") };
        assert_eq!(error.code, Code::InvalidDocument, "cut at {at}: {error}");
        let Some(position) = error.position else { panic!("cut at {at}, and no place") };
        assert!(position.offset <= at as u64, "cut at {at}, reported at {}", position.offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_damaged_alike_in_every_run() {
        let damaged = |seed: u64| {
            let mut document: Vec<u8> = (0..=255).collect();
            damage_bytes(&mut document, &[b"endobj"], &mut Numbers::new(seed));
            document
        };
        let all: Vec<Vec<u8>> = (1..200).map(damaged).collect();
        assert_eq!(all, (1..200).map(damaged).collect::<Vec<_>>());
        let whole: Vec<u8> = (0..=255).collect();
        assert!(all.iter().filter(|document| **document != whole).count() > 150);
        let mut empty = Vec::new();
        (1..50).for_each(|seed| damage_bytes(&mut empty, &[], &mut Numbers::new(seed)));
    }
}
