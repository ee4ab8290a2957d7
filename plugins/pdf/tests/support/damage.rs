//! Mutates files, the same way in every run.

#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test takes this file in as a module of its own"
)]

/// Fragments of PDF that are hard to parse.
const PIECES: &[&[u8]] = &[
    b"obj",
    b"endobj",
    b"stream\n",
    b"endstream",
    b"xref\n",
    b"trailer",
    b"startxref\n0",
    b"%%EOF",
    b"<<",
    b">>",
    b"[",
    b"]",
    b"(",
    b")",
    b"<",
    b">",
    b"1 0 R",
    b"2 0 R",
    b"9999999 0 R",
    b"/Length 99999999",
    b"/Length -1",
    b"/Kids [1 0 R 2 0 R]",
    b"/Parent 2 0 R",
    b"/Filter [/FlateDecode /FlateDecode]",
    b"/Filter /LZWDecode",
    b"/Type /ObjStm /N 1000000 /First 0",
    b"/W [8 8 8]",
    b"/Index [0 99999999]",
    b"/Prev 0",
    b"/Encrypt 1 0 R",
    b"/Predictor 15 /Columns 99999999",
    b"/Rotate 90",
    b"/MediaBox [0 0 1e38 1e38]",
    b"/Matrix [0 0 0 0 0 0]",
    b"/Font << /F1 1 0 R >>",
    b" Tf ",
    b" Tj ",
    b" TJ ",
    b" Do ",
    b" q ",
    b" Q ",
    b" BT ",
    b" ET ",
    b" cm ",
    b"1e30",
    b"-1e30",
    b"nan",
    b"\x00",
    b"\xFF\xFE",
    b"/Subtype /Type3",
    b"/Subtype /Type0",
    b"/ToUnicode 1 0 R",
    b"beginbfrange <0000> <FFFF> <0000> endbfrange",
    b"/FontMatrix [0 0 0 0 0 0]",
    b"/FirstChar -1 /LastChar 99999",
];

/// A pseudo-random number generator.
#[derive(Debug)]
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Damages a file in one to eight places; `donor` is a file to take pieces from.
pub fn damage(bytes: &mut Vec<u8>, donor: &[u8], numbers: &mut Numbers) {
    for _ in 0..=numbers.below(8) {
        let at = numbers.below(bytes.len() + 1);
        let length = 1 + numbers.below(64);
        let end = (at + length).min(bytes.len());
        match numbers.below(9) {
            0 => {
                for byte in &mut bytes[at..end] {
                    *byte = numbers.next() as u8;
                }
            }
            1 => drop(bytes.drain(at..end)),
            2 => bytes.truncate(at),
            3 => {
                let piece = PIECES[numbers.below(PIECES.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
            4 => {
                let piece = PIECES[numbers.below(PIECES.len())];
                let end = (at + piece.len()).min(bytes.len());
                bytes.splice(at..end, piece.iter().copied());
            }
            5 => {
                let copied = bytes[at..end].to_vec();
                let to = numbers.below(bytes.len() + 1);
                bytes.splice(to..to, copied);
            }
            6 if !donor.is_empty() => {
                let from = numbers.below(donor.len());
                let until = (from + 1 + numbers.below(2000)).min(donor.len());
                bytes.splice(at..end, donor[from..until].iter().copied());
            }
            7 => {
                // Digits: lengths, offsets, numbers of objects.
                let digit =
                    bytes.get(at..).and_then(|rest| rest.iter().position(u8::is_ascii_digit));
                if let Some(digit) = digit {
                    bytes[at + digit] = b'0' + numbers.below(10) as u8;
                }
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << numbers.below(8);
                }
            }
        }
    }
}
