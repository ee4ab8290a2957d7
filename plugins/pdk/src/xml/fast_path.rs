//! What most tags, attributes and texts look like, read with few looks at the document.
//!
//! Each function returns nothing, and passes over nothing, for what is written in another way; the plain
//! reader ([`Tokens`]) takes it then. What it returns is what the plain reader would: the conditions are
//! in its docstring, and the tests compare the two.

#[cfg(test)]
mod tests;

use memchr::memchr2;

use super::tokens::{Attribute, Name, Tokens, ends_name};
use crate::scan::{self, Lanes};
use crate::text::may_be_whitespace;

impl<'d> Tokens<'d> {
    /// Passes over the end tag of `name`, if that is what comes next and it has no space in it.
    #[inline]
    pub(super) fn closes(&mut self, name: &str) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let closes = is_end_tag(rest, name);
        if closes {
            self.at += name.len() + 3;
        }
        closes
    }

    /// Passes over a text and the end tag of `name` behind it, if nothing else comes first. Also says
    /// whether the text is known to be tidy: whether there is nothing in it to collapse or to trim.
    #[inline]
    pub(super) fn leaf(&mut self, name: &str) -> Option<(&'d str, bool)> {
        let rest = &self.text.as_bytes()[self.at..];
        let ends = |here: Lanes| here.is(b'<').or(here.is(b'&'));
        let (length, plain) = match scan::find_soon(rest, ends, may_be_whitespace, b' ') {
            Some(found) => found,
            None => (memchr2(b'<', b'&', rest)?, false),
        };
        if !is_end_tag(&rest[length..], name) {
            return None;
        }
        let text = self.take(self.at, length, self.at + length + name.len() + 3);
        let spaces = matches!(text.as_bytes(), [b' ', ..] | [.., b' ']);
        Some((text, plain && !spaces))
    }

    /// The name in the start tag that comes next, if it is a short one as most are. The tag comes next
    /// still.
    #[inline(always)]
    pub(super) fn usual_name(&self) -> Option<Name<'d>> {
        let (b"<", rest) = self.text.as_bytes().get(self.at..)?.split_first_chunk()? else {
            return None;
        };
        if !rest.first()?.is_ascii_alphabetic() {
            return None;
        }
        let (length, colon) = scan::find_with_first(rest, ends_name, |here| here.is(b':'))?;
        Some(Name { whole: self.piece(self.at + 1, self.at + 1 + length), colon })
    }

    /// Passes over the start tag that comes next, whose name is known, if there is nothing else in it.
    #[inline(always)]
    pub(super) fn bare(&mut self, name: Name<'d>) -> bool {
        let end = self.at + 1 + name.whole.len();
        let bare = self.byte(end) == Some(b'>');
        if bare {
            self.at = end + 1;
        }
        bare
    }

    /// The attribute at `at` and the place behind it, if it is written as most are: behind one space, with
    /// a short name and a short value, and nothing else between them than `="`.
    #[inline(always)]
    pub(super) fn usual_attribute(&self, at: usize) -> Option<(Attribute<'d>, usize)> {
        let (b" ", rest) = self.text.as_bytes().get(at..)?.split_first_chunk()? else {
            return None;
        };
        let length = scan::find_at_once(rest, ends_name)?;
        if !rest.first()?.is_ascii_alphabetic() {
            return None;
        }
        let (&[b'=', quote @ (b'"' | b'\'')], value) = rest.get(length..)?.split_first_chunk()?
        else {
            return None;
        };
        let ends_value = |here: Lanes| here.is(quote).or(here.is(b'<'));
        let odd = |here: Lanes| may_be_whitespace(here).or(here.is(b'&'));
        let (value_length, plain) = scan::find_soon(value, ends_value, odd, b' ')?;
        if *value.get(value_length)? != quote {
            return None;
        }
        let open = at + 1 + length + 2;
        let name = self.piece(at + 1, at + 1 + length);
        let raw = self.piece(open, open + value_length);
        let plain = plain && !matches!(raw.as_bytes(), [] | [b' ', ..] | [.., b' ']);
        Some((Attribute { name, raw, plain }, open + value_length + 1))
    }
}

/// Whether `text` starts with the end tag of `name`, written without a space.
#[inline]
fn is_end_tag(text: &[u8], name: &str) -> bool {
    let Some((b"</", rest)) = text.split_first_chunk() else { return false };
    let Some((found, rest)) = rest.split_at_checked(name.len()) else { return false };
    rest.first() == Some(&b'>') && scan::same(found, name.as_bytes())
}
