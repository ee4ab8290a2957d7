//! Splits a document into tags and texts: checks single tokens, not their nesting.
//!
//! Written for this project because the general reader, quick-xml, spends most of its time checking
//! what is known here: that the document is one valid `str`. A test compares the two on mutated
//! documents.
//!
//! This is the plain reader, for any document. [`fast_path`](super::fast_path) reads the usual
//! forms of tags and texts; another test compares the two.

use memchr::{memchr, memchr2, memchr3};

use super::MAX_ATTRIBUTES;
use crate::scan::{self, Lanes};
use crate::text::excerpt;

/// Bytes that end a name; beyond ASCII all belong to it.
pub(super) fn ends_name(here: Lanes) -> Lanes {
    let letters = here.with_bits(0x20).in_range(b'a', 26);
    let digits_and_colon = here.in_range(b'0', 11);
    let hyphen_and_stop = here.in_range(b'-', 2);
    let others = here.is(b'_').or(here.beyond_ascii());
    letters.or(digits_and_colon).or(hyphen_and_stop).or(others).not()
}

/// The name of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name<'d> {
    /// As written, prefix included.
    pub(super) whole: &'d str,
    /// The position of its first colon.
    pub(super) colon: Option<usize>,
}

/// An attribute of a start tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attribute<'d> {
    pub(super) name: &'d str,
    /// The raw text between the quotes.
    pub(super) raw: &'d str,
    /// Whether `raw` is known to equal the value: not empty, nothing to decode, collapse or trim.
    pub(super) plain: bool,
}

/// One piece of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'d> {
    /// A start tag; its attributes are in the caller's list.
    Start {
        name: Name<'d>,
        empty: bool,
    },
    End(&'d str),
    Text(&'d str),
    /// `&name;`
    Reference(&'d str),
    CData(&'d str),
    /// A document type declaration, with content of its own or without.
    DocType {
        internal: bool,
    },
    /// `<?xml …?>`
    Declaration,
    /// A comment or processing instruction.
    Other,
    Eof,
}

/// The error of a token, with its position.
#[derive(Debug)]
pub(super) struct Flaw {
    pub(super) offset: usize,
    pub(super) message: String,
}

/// The document and the current position.
#[derive(Debug, Clone)]
pub(super) struct Tokens<'d> {
    pub(super) text: &'d str,
    pub(super) at: usize,
}

impl<'d> Tokens<'d> {
    /// Starts after a byte order mark, if there is one.
    pub(super) fn new(text: &'d str) -> Self {
        Self { text, at: if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 } }
    }

    /// Bytes before the next token.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Skips whitespace: a third of an indented document.
    #[inline]
    pub(super) fn skip_whitespace(&mut self) {
        self.at = self.behind_whitespace(self.at);
    }

    /// The next token. A start tag's attributes replace what is in `attributes`.
    #[inline]
    pub(super) fn next(&mut self, attributes: &mut Vec<Attribute<'d>>) -> Result<Token<'d>, Flaw> {
        match self.byte(self.at) {
            None => Ok(Token::Eof),
            Some(b'<') => match self.byte(self.at + 1) {
                Some(b'/') => self.end_tag(),
                Some(b'!') => self.declaration(),
                Some(b'?') => self.instruction(),
                _ => self.start_tag(attributes).map(|(name, empty)| Token::Start { name, empty }),
            },
            Some(b'&') => self.reference(),
            Some(_) => {
                let rest = &self.text.as_bytes()[self.at..];
                let length = memchr2(b'<', b'&', rest).unwrap_or(rest.len());
                Ok(Token::Text(self.take(self.at, length, self.at + length)))
            }
        }
    }

    /// The next start tag: its name, and whether it is self-closing. Its attributes replace what is
    /// in `attributes`.
    pub(super) fn start_tag(
        &mut self,
        attributes: &mut Vec<Attribute<'d>>,
    ) -> Result<(Name<'d>, bool), Flaw> {
        let name = self.name()?;
        let empty = self.rest_of_tag(name, attributes)?;
        Ok((name, empty))
    }

    /// The name in the next start tag.
    pub(super) fn name(&self) -> Result<Name<'d>, Flaw> {
        let from = self.at + 1;
        let end = self.behind_name(from);
        if end == from {
            let message = match self.byte(end) {
                None => "the document ends inside a tag",
                Some(_) => "malformed tag",
            };
            return Err(self.flaw(self.at, message));
        }
        let whole = self.piece(from, end);
        Ok(Name { whole, colon: scan::find(whole.as_bytes(), 0, |here| here.is(b':')) })
    }

    /// Reads the rest of the next start tag after its name; returns whether it is self-closing.
    #[inline(always)]
    pub(super) fn rest_of_tag(
        &mut self,
        name: Name<'d>,
        attributes: &mut Vec<Attribute<'d>>,
    ) -> Result<bool, Flaw> {
        self.attributes::<true>(name, attributes)
    }

    /// As [`rest_of_tag`](Self::rest_of_tag), with or without the fast path.
    #[inline(always)]
    pub(super) fn attributes<const FAST: bool>(
        &mut self,
        name: Name<'d>,
        attributes: &mut Vec<Attribute<'d>>,
    ) -> Result<bool, Flaw> {
        attributes.clear();
        let (tag, name) = (self.at, name.whole);
        let mut at = tag + 1 + name.len();
        loop {
            if FAST && let Some((attribute, next)) = self.usual_attribute(at) {
                self.add(attribute, tag, attributes)?;
                at = next;
                continue;
            }
            let before = at;
            at = self.behind_whitespace(at);
            let empty = match self.byte(at) {
                Some(b'>') => false,
                Some(b'/') if self.byte(at + 1) == Some(b'>') => true,
                None => return Err(self.flaw(tag, "the document ends inside a tag")),
                Some(b'/') if self.byte(at + 1).is_none() => {
                    return Err(self.flaw(tag, "the document ends inside a tag"));
                }
                Some(_) if at == before => return Err(self.malformed_attribute(tag, name)),
                Some(_) => {
                    at = self.attribute(tag, name, at, attributes)?;
                    continue;
                }
            };
            self.at = at + if empty { 2 } else { 1 };
            return Ok(empty);
        }
    }

    /// Reads the attribute at `at` and returns the position after it.
    #[inline(never)]
    fn attribute(
        &self,
        tag: usize,
        element: &str,
        at: usize,
        attributes: &mut Vec<Attribute<'d>>,
    ) -> Result<usize, Flaw> {
        let ends = || self.flaw(tag, "the document ends inside a tag");
        let name_end = self.behind_name(at);
        let equals = self.behind_whitespace(name_end);
        match self.byte(equals) {
            Some(b'=') if name_end > at => {}
            None => return Err(ends()),
            Some(_) => return Err(self.malformed_attribute(tag, element)),
        }
        let open = self.behind_whitespace(equals + 1);
        let quote = match self.byte(open) {
            Some(quote @ (b'"' | b'\'')) => quote,
            None => return Err(ends()),
            Some(_) => return Err(self.malformed_attribute(tag, element)),
        };
        let rest = &self.text.as_bytes()[open + 1..];
        let length =
            scan::find(rest, 0, |here| here.is(quote).or(here.is(b'<'))).ok_or_else(ends)?;
        if rest[length] != quote {
            let closes = memchr(quote, rest).is_some();
            return Err(if closes { self.malformed_attribute(tag, element) } else { ends() });
        }
        let attribute = Attribute {
            name: self.piece(at, name_end),
            raw: self.piece(open + 1, open + 1 + length),
            plain: false,
        };
        self.add(attribute, tag, attributes)?;
        Ok(open + 1 + length + 1)
    }

    /// Adds an attribute to those of the tag that begins at `tag`.
    #[inline(always)]
    fn add(
        &self,
        attribute: Attribute<'d>,
        tag: usize,
        attributes: &mut Vec<Attribute<'d>>,
    ) -> Result<(), Flaw> {
        let name = attribute.name;
        if attributes.iter().any(|seen| scan::same(seen.name.as_bytes(), name.as_bytes())) {
            return Err(self.flaw(tag, format!("attribute {} twice", excerpt(name))));
        }
        if attributes.len() == MAX_ATTRIBUTES {
            let message = format!("more than {MAX_ATTRIBUTES} attributes in one element");
            return Err(self.flaw(tag, message));
        }
        attributes.push(attribute);
        Ok(())
    }

    #[inline(never)]
    fn end_tag(&mut self) -> Result<Token<'d>, Flaw> {
        let tag = self.at;
        let name_end = self.behind_name(tag + 2);
        let close = self.behind_whitespace(name_end);
        match self.byte(close) {
            Some(b'>') if name_end > tag + 2 => {
                self.at = close + 1;
                Ok(Token::End(self.piece(tag + 2, name_end)))
            }
            None => Err(self.flaw(tag, "the document ends inside a tag")),
            Some(_) => Err(self.flaw(tag, "malformed end tag")),
        }
    }

    #[inline(never)]
    fn reference(&mut self) -> Result<Token<'d>, Flaw> {
        let rest = &self.text.as_bytes()[self.at + 1..];
        match memchr3(b';', b'&', b'<', rest) {
            Some(length) if rest[length] == b';' && length > 0 => {
                let end = self.at + 1 + length + 1;
                Ok(Token::Reference(self.take(self.at + 1, length, end)))
            }
            _ => Err(self.flaw(self.at, "ampersand that starts no entity")),
        }
    }

    /// Reads a construct that starts with `<!`.
    #[inline(never)]
    fn declaration(&mut self) -> Result<Token<'d>, Flaw> {
        const DOCTYPE: &str = "<!DOCTYPE";
        const CDATA: &str = "<![CDATA[";
        let (tag, rest) = (self.at, &self.text[self.at..]);
        if let Some(content) = rest.strip_prefix("<!--") {
            let Some(dashes) = find(content, "--") else {
                return Err(self.flaw(tag, "the document ends inside a comment"));
            };
            let close = tag + 4 + dashes + 2;
            return match self.byte(close) {
                Some(b'>') => {
                    self.at = close + 1;
                    Ok(Token::Other)
                }
                None => Err(self.flaw(tag, "the document ends inside a comment")),
                Some(_) => Err(self.flaw(tag, "double hyphen in a comment")),
            };
        }
        if let Some(content) = rest.strip_prefix(CDATA) {
            let Some(length) = find(content, "]]>") else {
                return Err(self.flaw(tag, "the document ends inside a CDATA section"));
            };
            let start = tag + CDATA.len();
            return Ok(Token::CData(self.take(start, length, start + length + 3)));
        }
        if rest.get(..DOCTYPE.len()).is_some_and(|head| head.eq_ignore_ascii_case(DOCTYPE)) {
            return self.document_type(tag + DOCTYPE.len());
        }
        let unfinished = ["<!--", CDATA, DOCTYPE].iter().any(|whole| whole.starts_with(rest));
        Err(self.flaw(
            tag,
            if unfinished { "the document ends inside a tag" } else { "malformed markup after <!" },
        ))
    }

    /// Reads the rest of a document type declaration up to its internal subset.
    fn document_type(&mut self, from: usize) -> Result<Token<'d>, Flaw> {
        let mut at = from;
        loop {
            match self.byte(at) {
                Some(b'>') => {
                    self.at = at + 1;
                    return Ok(Token::DocType { internal: false });
                }
                Some(b'[') => return Ok(Token::DocType { internal: true }),
                Some(quote @ (b'"' | b'\'')) => {
                    let rest = &self.text.as_bytes()[at + 1..];
                    at += memchr(quote, rest).map_or(rest.len(), |length| length + 1) + 1;
                }
                Some(_) => at += 1,
                None => {
                    let message = "the document ends inside a document type declaration";
                    return Err(self.flaw(self.at, message));
                }
            }
        }
    }

    #[inline(never)]
    fn instruction(&mut self) -> Result<Token<'d>, Flaw> {
        let tag = self.at;
        let target_end = self.behind_name(tag + 2);
        let Some(length) = find(&self.text[tag + 2..], "?>") else {
            return Err(self.flaw(tag, "the document ends inside a processing instruction"));
        };
        if target_end == tag + 2 {
            return Err(self.flaw(tag, "malformed processing instruction"));
        }
        self.at = tag + 2 + length + 2;
        let is_declaration = self.text[tag + 2..target_end].eq_ignore_ascii_case("xml");
        Ok(if is_declaration { Token::Declaration } else { Token::Other })
    }

    /// The `length` bytes from `from` on, `next` being where the token ends. Both ends are next to
    /// ASCII characters, so they are boundaries.
    pub(super) fn take(&mut self, from: usize, length: usize, next: usize) -> &'d str {
        self.at = next;
        self.piece(from, from + length)
    }

    /// The part of the document between two offsets, each next to an ASCII character or at its
    /// end.
    #[inline]
    #[allow(unsafe_code)]
    pub(super) fn piece(&self, from: usize, to: usize) -> &'d str {
        debug_assert!(self.text.is_char_boundary(from) && self.text.is_char_boundary(to));
        // SAFETY: the bytes between boundaries of a `str` are UTF-8, and a position next to an
        // ASCII character is a boundary. The check that slicing a `str` makes would be a tenth of
        // the time of reading a tag.
        unsafe { std::str::from_utf8_unchecked(&self.text.as_bytes()[from..to]) }
    }

    #[inline]
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    #[inline]
    fn behind_whitespace(&self, at: usize) -> usize {
        let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte(at) else { return at };
        let is_space = |here: Lanes| here.is(b' ').or(here.in_range(b'\t', 2)).or(here.is(b'\r'));
        let found = scan::find(self.text.as_bytes(), at, |here| is_space(here).not());
        found.unwrap_or(self.text.len())
    }

    /// The end of the name at `at`; `at` itself when none is there.
    #[inline]
    fn behind_name(&self, at: usize) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        match rest.first() {
            Some(first) if !first.is_ascii_digit() && !b"-.".contains(first) => {
                at + scan::find(rest, 0, ends_name).unwrap_or(rest.len())
            }
            _ => at,
        }
    }

    #[cold]
    fn flaw(&self, offset: usize, message: impl Into<String>) -> Flaw {
        Flaw { offset, message: message.into() }
    }

    #[cold]
    fn malformed_attribute(&self, tag: usize, name: &str) -> Flaw {
        self.flaw(tag, format!("malformed attribute in <{}>", excerpt(name)))
    }
}

/// The first position of `needle`, which is ASCII, in `text`. Linear: every byte is looked at once.
fn find(text: &str, needle: &str) -> Option<usize> {
    memchr::memmem::find(text.as_bytes(), needle.as_bytes())
}
