//! The fast path for tags, attributes and texts in their usual forms.
//!
//! For another form, each function returns nothing and consumes nothing, and the plain reader
//! ([`Tokens`]) reads it. Otherwise the result is the plain reader's. Each doc comment states the
//! conditions; tests compare both.

#[cfg(test)]
mod tests;

use memchr::memchr2;

use super::tokens::{Attribute, Name, Tokens, ends_name};
use crate::scan::{self, Lanes};
use crate::text::may_be_whitespace;

impl<'d> Tokens<'d> {
    /// Consumes the end tag of `name`, if it comes next and contains no space.
    #[inline]
    pub(super) fn closes(&mut self, name: &str) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let closes = is_end_tag(rest, name);
        if closes {
            self.at += name.len() + 3;
        }
        closes
    }

    /// Consumes a text and the end tag of `name` after it, if nothing else precedes that. Also
    /// returns whether the text is known to need no collapsing or trimming.
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

    /// The name in the next start tag, if it is short, as most are. Does not consume the tag.
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

    /// Consumes the next start tag, whose name is known, if there is nothing else in it.
    #[inline(always)]
    pub(super) fn bare(&mut self, name: Name<'d>) -> bool {
        let end = self.at + 1 + name.whole.len();
        let bare = self.byte(end) == Some(b'>');
        if bare {
            self.at = end + 1;
        }
        bare
    }

    /// The attribute at `at` and the position after it, if it has the usual form: after one space,
    /// with a short name and a short value, and only `="` between them.
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
        let not_plain = |here: Lanes| may_be_whitespace(here).or(here.is(b'&'));
        let (value_length, plain) = scan::find_soon(value, ends_value, not_plain, b' ')?;
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
