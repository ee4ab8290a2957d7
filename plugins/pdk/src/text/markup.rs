//! Reads strings with markup: titles and abstracts with HTML, JATS or MathML, well formed or not.

use std::borrow::Cow;
use std::collections::HashSet;

use memchr::{memchr, memchr2, memmem};

use super::flow::Flow;
use super::{entity, present};

/// The most bytes of one tag or entity; a longer one is text. Keeps the work linear.
const LONGEST_TAG: usize = 4096;
const LONGEST_ENTITY: usize = 12;
/// The most open elements; tags of deeper ones are ignored.
const MAX_DEPTH: usize = 64;

/// `text` for readers: tags and comments removed, entities decoded, sub- and superscripts and
/// formulas in characters, headings of sections followed by a colon, whitespace collapsed. `None`
/// if nothing is left. Borrows if nothing changes.
///
/// Unlike XML, such strings may contain literal angle brackets and ampersands. Text that does not
/// have the form of a tag is kept, and so is a tag whose name neither HTML nor JATS nor MathML has,
/// unless it is paired or has a prefix. Tags and entities that upstream escaped twice are decoded
/// again.
pub fn marked_up(text: &str) -> Option<Cow<'_, str>> {
    if memchr2(b'<', b'&', text.as_bytes()).is_none() {
        return present(text);
    }
    let (first, doubtful) = Reader::new(text, false).read();
    if doubtful && first.contains('<') {
        let (second, _) = Reader::new(&first, true).read();
        return present(&second).map(|text| Cow::Owned(text.into_owned()));
    }
    present(&first).map(|text| Cow::Owned(text.into_owned()))
}

/// One pass over a string.
struct Reader<'t> {
    text: &'t str,
    /// Tags were decoded from entities: only pairs of known names count, and entities are not
    /// decoded again.
    again: bool,
    flow: Flow,
    /// Names of the open elements, with prefixes.
    open: Vec<&'t str>,
    /// Every name that an end tag has; read when first needed.
    ends: Option<HashSet<&'t str>>,
    /// Which of comments, sections and instructions are known to have no further end, so that the
    /// search is not repeated.
    endless: [bool; 3],
}

/// A tag.
struct Tag<'t> {
    kind: TagKind,
    name: &'t str,
    /// The offset after it.
    end: usize,
}

#[derive(PartialEq)]
enum TagKind {
    Start,
    End,
    Empty,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, again: bool) -> Self {
        Self {
            text,
            again,
            flow: Flow::default(),
            open: Vec::new(),
            ends: None,
            endless: [false; 3],
        }
    }

    fn read(mut self) -> (String, bool) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(next) = memchr2(b'<', b'&', &bytes[at..]).map(|offset| at + offset) {
            self.flow.push(&self.text[at..next]);
            let read = if bytes[next] == b'&' { self.entity(next) } else { self.bracket(next) };
            at = read.unwrap_or_else(|| {
                self.flow.push(&self.text[next..=next]);
                next + 1
            });
        }
        self.flow.push(&self.text[at..]);
        self.flow.abandon(0);
        self.flow.into_text()
    }

    /// Reads the entity at `at`; returns the offset behind it.
    fn entity(&mut self, at: usize) -> Option<usize> {
        if self.again {
            return None;
        }
        let head = &self.text.as_bytes()[at..];
        let length = memchr(b';', &head[..head.len().min(LONGEST_ENTITY)])?;
        let name = self.text.get(at + 1..at + length)?;
        self.flow.reference(name, entity(name)?);
        Some(at + length + 1)
    }

    /// Reads the tag, comment, section or instruction at `at`; returns the offset behind it.
    fn bracket(&mut self, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        let special = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        for (number, (opening, closing)) in special.into_iter().enumerate() {
            let Some(content) = rest.strip_prefix(opening) else { continue };
            if self.endless[number] {
                return None;
            }
            let Some(length) = memmem::find(content.as_bytes(), closing.as_bytes()) else {
                self.endless[number] = true;
                return None;
            };
            if opening == "<![CDATA[" {
                self.flow.push(&content[..length]);
            }
            return Some(at + opening.len() + length + closing.len());
        }
        let tag = tag(self.text, at)?;
        let (prefix, local) = tag
            .name
            .rsplit_once(':')
            .map_or((None, tag.name), |(prefix, local)| (Some(prefix), local));
        let lower = local.to_ascii_lowercase();
        if tag.kind == TagKind::End {
            let Some(depth) = self.open.iter().rposition(|&name| name == tag.name) else {
                return (is_known(&lower) || prefix.is_some()).then_some(tag.end);
            };
            // Unclosed elements inside end here too, without effect.
            self.open.truncate(depth);
            self.flow.abandon(depth + 1);
            self.flow.close();
            return Some(tag.end);
        }
        let known = is_known(&lower);
        let counts = if self.again {
            known && (tag.kind == TagKind::Empty || lower == "br" || self.has_end(tag.name))
        } else {
            known || prefix.is_some() || tag.kind == TagKind::Empty || self.has_end(tag.name)
        };
        if !counts {
            return None;
        }
        let is_void = tag.kind == TagKind::Empty || ["br", "hr", "img"].contains(&lower.as_str());
        if is_void || self.open.len() < MAX_DEPTH {
            self.flow.open(&lower);
            if is_void {
                self.flow.close();
            } else {
                self.open.push(tag.name);
            }
        } else {
            self.flow.push(" ");
        }
        Some(tag.end)
    }

    fn has_end(&mut self, name: &str) -> bool {
        let text = self.text;
        let ends = self.ends.get_or_insert_with(|| {
            memmem::find_iter(text.as_bytes(), b"</")
                .filter_map(|at| name_at(text, at + 2))
                .collect()
        });
        ends.contains(name)
    }
}

/// The tag at `at`, if the text there has the form of one.
fn tag(text: &str, at: usize) -> Option<Tag<'_>> {
    let bytes = &text.as_bytes()[..text.len().min(at + LONGEST_TAG)];
    let is_end = bytes.get(at + 1) == Some(&b'/');
    let name = name_at(text, at + 1 + usize::from(is_end))?;
    let mut next = at + 1 + usize::from(is_end) + name.len();
    loop {
        let before = next;
        next += bytes.get(next..)?.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match bytes.get(next)? {
            b'>' => {
                let kind = if is_end { TagKind::End } else { TagKind::Start };
                return Some(Tag { kind, name, end: next + 1 });
            }
            b'/' if !is_end && bytes.get(next + 1) == Some(&b'>') => {
                return Some(Tag { kind: TagKind::Empty, name, end: next + 2 });
            }
            _ if !is_end && next > before => next = attribute(bytes, next)?,
            _ => return None,
        }
    }
}

/// The offset behind the attribute at `at`: a name, an equals sign and a value.
fn attribute(bytes: &[u8], at: usize) -> Option<usize> {
    let skip = |from: usize, predicate: fn(&u8) -> bool| {
        Some(from + bytes.get(from..)?.iter().take_while(|byte| predicate(byte)).count())
    };
    let name_end = skip(at, |byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte))?;
    let equals = skip(name_end, u8::is_ascii_whitespace)?;
    if name_end == at || bytes.get(equals) != Some(&b'=') {
        return None;
    }
    let value = skip(equals + 1, u8::is_ascii_whitespace)?;
    match bytes.get(value)? {
        &quote @ (b'"' | b'\'') => Some(value + 2 + memchr(quote, &bytes[value + 1..])?),
        _ => {
            let end = skip(value, |byte| !byte.is_ascii_whitespace() && !b"<>\"'".contains(byte))?;
            (end > value).then_some(end)
        }
    }
}

/// The name at `at`, perhaps with a prefix.
fn name_at(text: &str, at: usize) -> Option<&str> {
    let bytes = &text.as_bytes()[..text.len().min(at + LONGEST_TAG)];
    let name_end = |from: usize| {
        let rest = bytes.get(from..)?;
        if !rest.first()?.is_ascii_alphabetic() {
            return None;
        }
        let is_in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        Some(from + rest.iter().take_while(is_in_name).count())
    };
    let mut end = name_end(at)?;
    if bytes.get(end) == Some(&b':') {
        end = name_end(end + 1)?;
    }
    text.get(at..end)
}

/// Elements of HTML, JATS and MathML that occur in titles and abstracts.
fn is_known(local: &str) -> bool {
    matches!(
        local,
        "a" | "abbr"
            | "abstract"
            | "alternatives"
            | "annotation"
            | "annotation-xml"
            | "article-title"
            | "b"
            | "big"
            | "blockquote"
            | "bold"
            | "br"
            | "break"
            | "caption"
            | "center"
            | "cite"
            | "code"
            | "comment"
            | "dd"
            | "def"
            | "def-item"
            | "def-list"
            | "disp-formula"
            | "disp-quote"
            | "div"
            | "dl"
            | "dt"
            | "em"
            | "email"
            | "etal"
            | "ext-link"
            | "fn"
            | "font"
            | "graphic"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "hr"
            | "i"
            | "img"
            | "inf"
            | "inline-formula"
            | "inline-graphic"
            | "italic"
            | "label"
            | "li"
            | "list"
            | "list-item"
            | "math"
            | "mfenced"
            | "mfrac"
            | "mi"
            | "mmultiscripts"
            | "mn"
            | "mo"
            | "monospace"
            | "mover"
            | "mprescripts"
            | "mrow"
            | "mroot"
            | "mspace"
            | "msqrt"
            | "mstyle"
            | "msub"
            | "msubsup"
            | "msup"
            | "mtable"
            | "mtd"
            | "mtext"
            | "mtr"
            | "munder"
            | "munderover"
            | "named-content"
            | "none"
            | "ol"
            | "overline"
            | "p"
            | "pre"
            | "q"
            | "roman"
            | "s"
            | "sans-serif"
            | "sc"
            | "scp"
            | "sec"
            | "section"
            | "semantics"
            | "small"
            | "source"
            | "span"
            | "strike"
            | "strong"
            | "styled-content"
            | "sub"
            | "subtitle"
            | "sup"
            | "table"
            | "tbody"
            | "td"
            | "tex-math"
            | "th"
            | "title"
            | "tr"
            | "tt"
            | "u"
            | "ul"
            | "underline"
            | "uri"
            | "xref"
    )
}

#[cfg(test)]
mod tests;
