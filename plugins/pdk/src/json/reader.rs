//! A JSON reader for serde.
//!
//! Accepts the texts that `serde_json` accepts, as one valid `str`, and returns the same values. It
//! is faster in the sandbox, where every loop iteration includes an interruption check and
//! `serde_json` searches strings four bytes at a time. Two things differ: a lone surrogate escape,
//! which JSON's grammar allows, becomes U+FFFD instead of an error; and errors have a byte offset.
//!
//! ```text
//! text    = space value space
//! value   = object | array | string | number | "true" | "false" | "null"
//! object  = "{" space [member {"," member}] "}"
//! member  = space string space ":" space value space
//! array   = "[" space [item {"," item}] "]"
//! item    = space value space
//! string  = '"' {any character but '"', "\" and U+0000 to U+001F | escape} '"'
//! escape  = "\" ('"' | "\" | "/" | "b" | "f" | "n" | "r" | "t" | "u" hex hex hex hex)
//! number  = ["-"] ("0" | nonzero {digit}) ["." digit {digit}] [("e" | "E") ["+" | "-"] digit {digit}]
//! space   = {" " | tab | line feed | carriage return}
//! ```
//!
//! This is the plain reader, for any text. A test compares it with the
//! [`fast_path`](super::fast_path).

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use crate::scan::{self, Lanes};

/// The deepest nesting of objects and arrays that are read; skipped values may be deeper.
const MAX_DEPTH: u8 = 127;

/// The reason why a text is not JSON, or not of the expected type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    message: Cow<'static, str>,
    /// Byte offset of the error; `None` if it is about a value.
    offset: Option<usize>,
    ended: bool,
}

impl Flaw {
    /// Byte offset of the error.
    pub fn offset(&self) -> usize {
        self.offset.unwrap_or_default()
    }

    /// Whether the text ends too early.
    pub fn is_end(&self) -> bool {
        self.ended
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Flaw {}

impl de::Error for Flaw {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: Cow::Owned(message.to_string()), offset: None, ended: false }
    }
}

/// Reads a value from a text that contains nothing else.
///
/// # Errors
///
/// When the text is not JSON, or the value does not fit `T`.
pub fn from_str<'d, T: Deserialize<'d>>(text: &'d str) -> Result<T, Flaw> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = T::deserialize(&mut reader).and_then(|value| match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.flaw("trailing characters")),
    });
    value.map_err(|flaw| Flaw { offset: flaw.offset.or(Some(reader.at)), ..flaw })
}

/// A text and the current position.
pub(super) struct Reader<'d> {
    pub(super) text: &'d str,
    pub(super) at: usize,
    pub(super) depth: u8,
}

/// Bytes that end or interrupt the text of a string.
#[inline]
pub(super) fn ends_string(here: Lanes) -> Lanes {
    here.is(b'"').or(here.is(b'\\')).or(here.in_range(0, 0x20))
}

impl<'d> Reader<'d> {
    #[inline]
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// Skips whitespace and returns the next byte.
    #[inline(never)]
    pub(super) fn behind_whitespace(&mut self) -> Option<u8> {
        let is_space = |here: Lanes| here.is(b' ').or(here.in_range(b'\t', 2)).or(here.is(b'\r'));
        let found = scan::find(self.text.as_bytes(), self.at, |here| is_space(here).not());
        self.at = found.unwrap_or(self.text.len());
        self.byte(self.at)
    }

    #[cold]
    fn flaw(&self, message: &'static str) -> Flaw {
        self.flaw_at(self.at, message)
    }

    #[cold]
    fn flaw_at(&self, at: usize, message: &'static str) -> Flaw {
        if at < self.text.len() {
            return Flaw { message: message.into(), offset: Some(at), ended: false };
        }
        let message = "the text ends in the middle".into();
        Flaw { message, offset: Some(self.text.len()), ended: true }
    }

    // -- strings -------------------------------------------------------------------------------

    /// The string whose opening quote is next.
    #[inline]
    fn string(&mut self) -> Result<Cow<'d, str>, Flaw> {
        match self.usual_string() {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(clean) => self.plain_string(clean).map(Cow::Owned),
        }
    }

    /// The string whose opening quote is next, which is known to be plain text up to `clean`.
    #[inline(never)]
    pub(super) fn plain_string(&mut self, clean: usize) -> Result<String, Flaw> {
        let (mut out, mut done) = (String::new(), self.at + 1);
        let mut end = scan::find(self.text.as_bytes(), clean, ends_string);
        loop {
            let Some(at) = end else { return Err(self.flaw_at(self.text.len(), "")) };
            // The byte found is ASCII, so both ends of the piece are character boundaries.
            out.push_str(&self.text[done..at]);
            match self.byte(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    let (character, behind) = self.escape(at)?;
                    out.push(character);
                    done = behind;
                }
                _ => return Err(self.flaw_at(at, "control character inside a string")),
            }
            end = scan::find(self.text.as_bytes(), done, ends_string);
        }
    }

    /// The character of the escape at `at`, and the position after it.
    fn escape(&self, at: usize) -> Result<(char, usize), Flaw> {
        let character = match self.byte(at + 1) {
            Some(same @ (b'"' | b'\\' | b'/')) => char::from(same),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code(at),
            _ => return Err(self.flaw_at(at + 1, "invalid escape")),
        };
        Ok((character, at + 2))
    }

    /// The character of a `\u` escape or of a surrogate pair.
    fn code(&self, at: usize) -> Result<(char, usize), Flaw> {
        let unit = self.digits(at + 2)?;
        if !(0xD800..0xE000).contains(&unit) {
            return Ok((char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), at + 6));
        }
        let is_next = self.byte(at + 6) == Some(b'\\') && self.byte(at + 7) == Some(b'u');
        if unit < 0xDC00
            && is_next
            && let Ok(low @ 0xDC00..0xE000) = self.digits(at + 8)
        {
            let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            return Ok((char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), at + 12));
        }
        Ok((char::REPLACEMENT_CHARACTER, at + 6))
    }

    /// The four hexadecimal digits at `at`.
    fn digits(&self, at: usize) -> Result<u32, Flaw> {
        (at..at + 4).try_fold(0, |number, at| {
            let digit = self.byte(at).and_then(|byte| char::from(byte).to_digit(16));
            digit.map(|digit| number << 4 | digit).ok_or_else(|| self.flaw_at(at, "invalid escape"))
        })
    }

    /// Skips the string whose opening quote is next.
    #[inline]
    fn skip_string(&mut self) -> Result<(), Flaw> {
        let mut from = self.at + 1;
        loop {
            let Some(at) = scan::find(self.text.as_bytes(), from, ends_string) else {
                return Err(self.flaw_at(self.text.len(), ""));
            };
            match self.byte(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(());
                }
                Some(b'\\') => (_, from) = self.escape(at)?,
                _ => return Err(self.flaw_at(at, "control character inside a string")),
            }
        }
    }

    // -- numbers and words ---------------------------------------------------------------------

    /// Skips a number and returns whether it is whole.
    fn skip_number(&mut self) -> Result<bool, Flaw> {
        let mut at = self.at + usize::from(self.byte(self.at) == Some(b'-'));
        at = match self.byte(at) {
            Some(b'0') => at + 1,
            Some(b'1'..=b'9') => self.behind_digits(at),
            _ => return Err(self.flaw_at(at, "invalid number")),
        };
        if matches!(self.byte(at), Some(b'0'..=b'9')) {
            return Err(self.flaw_at(at, "invalid number"));
        }
        let mut whole = true;
        if self.byte(at) == Some(b'.') {
            whole = false;
            at = self.some_digits(at + 1)?;
        }
        if matches!(self.byte(at), Some(b'e' | b'E')) {
            whole = false;
            let signed = matches!(self.byte(at + 1), Some(b'+' | b'-'));
            at = self.some_digits(at + 1 + usize::from(signed))?;
        }
        self.at = at;
        Ok(whole)
    }

    fn some_digits(&self, at: usize) -> Result<usize, Flaw> {
        let behind = self.behind_digits(at);
        if behind > at { Ok(behind) } else { Err(self.flaw_at(at, "invalid number")) }
    }

    #[inline]
    fn behind_digits(&self, at: usize) -> usize {
        let found = scan::find(self.text.as_bytes(), at, |here| here.in_range(b'0', 10).not());
        found.unwrap_or(self.text.len())
    }

    fn number<V: Visitor<'d>>(&mut self, visitor: V) -> Result<V::Value, Flaw> {
        let start = self.at;
        let whole = self.skip_number()?;
        let text = &self.text[start..self.at];
        if whole && text != "-0" {
            if let Ok(number) = text.parse() {
                return visitor.visit_u64(number);
            }
            if let Ok(number) = text.parse() {
                return visitor.visit_i64(number);
            }
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => visitor.visit_f64(number),
            _ => Err(self.flaw_at(start, "number out of range")),
        }
    }

    fn word(&mut self, word: &'static str) -> Result<(), Flaw> {
        let rest = &self.text.as_bytes()[self.at..];
        let same = rest.iter().zip(word.as_bytes()).take_while(|(a, b)| a == b).count();
        if same < word.len() {
            return Err(self.flaw_at(self.at + same, "expected value"));
        }
        self.at += same;
        Ok(())
    }

    // -- what is around them -------------------------------------------------------------------

    /// Steps into an object or array.
    fn enter(&mut self) -> Result<(), Flaw> {
        if self.depth == MAX_DEPTH {
            return Err(self.flaw("recursion limit exceeded"));
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    /// Steps to the next item of an array, or out of the array.
    #[inline]
    fn next_item(&mut self, first: bool) -> Result<bool, Flaw> {
        match self.peek() {
            Some(b',') if !first => {
                self.at += 1;
                Ok(true)
            }
            Some(b']') => {
                self.at += 1;
                Ok(false)
            }
            _ if first => Ok(true),
            _ => Err(self.flaw("expected `,` or `]`")),
        }
    }

    /// Steps to the next key of an object, or out of the object.
    #[inline(always)]
    fn next_key(&mut self, first: bool) -> Result<bool, Flaw> {
        let mut byte = self.peek();
        if !first && byte == Some(b',') {
            self.at += 1;
            byte = self.peek();
        } else if byte == Some(b'}') {
            self.at += 1;
            return Ok(false);
        } else if !first {
            return Err(self.flaw("expected `,` or `}`"));
        }
        match byte {
            Some(b'"') => Ok(true),
            _ => Err(self.flaw("key must be a string")),
        }
    }

    #[inline(always)]
    fn colon(&mut self) -> Result<(), Flaw> {
        match self.peek() {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.flaw("expected `:`")),
        }
    }

    /// Skips a value of any depth.
    fn skip_value(&mut self) -> Result<(), Flaw> {
        // What closes the objects and arrays that are open.
        let mut open: Vec<u8> = Vec::new();
        let mut first = true;
        loop {
            let close = open.last().copied();
            let more = match close {
                Some(b'}') => self.next_key(first)?,
                Some(_) => self.next_item(first)?,
                None => first,
            };
            if !more {
                open.pop();
                if open.is_empty() {
                    return Ok(());
                }
                first = false;
                continue;
            }
            if close == Some(b'}') {
                self.skip_string()?;
                self.colon()?;
            }
            first = false;
            match self.peek() {
                Some(b'"') => self.skip_string()?,
                Some(bracket @ (b'{' | b'[')) => {
                    self.at += 1;
                    // In ASCII, a closing bracket is two code points after the opening one.
                    open.push(bracket + 2);
                    first = true;
                }
                Some(b'-' | b'0'..=b'9') => drop(self.skip_number()?),
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                _ => return Err(self.flaw("expected value")),
            }
        }
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Flaw;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Flaw> {
        match self.peek() {
            Some(b'"') => match self.string()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            Some(bracket @ (b'{' | b'[')) => {
                self.enter()?;
                let mut inside = Inside { reader: self, first: true, ended: false };
                let value = match bracket {
                    b'{' => visitor.visit_map(&mut inside)?,
                    _ => visitor.visit_seq(&mut inside)?,
                };
                let (reader, ended) = (inside.reader, inside.ended);
                reader.depth -= 1;
                if ended { Ok(value) } else { Err(reader.flaw("expected fewer items")) }
            }
            Some(b'-' | b'0'..=b'9') => self.number(visitor),
            Some(b't') => self.word("true").and_then(|()| visitor.visit_bool(true)),
            Some(b'f') => self.word("false").and_then(|()| visitor.visit_bool(false)),
            Some(b'n') => self.word("null").and_then(|()| visitor.visit_unit()),
            _ => Err(self.flaw("expected value")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Flaw> {
        if self.peek() != Some(b'"') {
            return self.deserialize_any(visitor);
        }
        match self.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Flaw> {
        match self.peek() {
            Some(b'n') => self.word("null").and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Flaw> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Flaw> {
        self.skip_value()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier
    }
}

/// The members of an object, or the items of an array.
struct Inside<'r, 'd> {
    reader: &'r mut Reader<'d>,
    first: bool,
    ended: bool,
}

impl<'d> MapAccess<'d> for &mut Inside<'_, 'd> {
    type Error = Flaw;

    fn next_key_seed<K: DeserializeSeed<'d>>(&mut self, seed: K) -> Result<Option<K::Value>, Flaw> {
        if self.ended || !self.reader.next_key(self.first)? {
            self.ended = true;
            return Ok(None);
        }
        self.first = false;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'d>>(&mut self, seed: V) -> Result<V::Value, Flaw> {
        self.reader.colon()?;
        seed.deserialize(&mut *self.reader)
    }
}

impl<'d> SeqAccess<'d> for &mut Inside<'_, 'd> {
    type Error = Flaw;

    fn next_element_seed<T: DeserializeSeed<'d>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Flaw> {
        if self.ended || !self.reader.next_item(self.first)? {
            self.ended = true;
            return Ok(None);
        }
        self.first = false;
        seed.deserialize(&mut *self.reader).map(Some)
    }
}

#[cfg(test)]
mod tests;
