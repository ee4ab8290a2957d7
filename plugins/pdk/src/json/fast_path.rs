//! Strings without escapes, and values without space between them: what most JSON is made of.
//!
//! Each function returns what the plain reader ([`Reader`]) would, or leaves it to that one: the conditions
//! are in its docstring, and the tests compare the two.

#[cfg(test)]
mod tests;

use super::reader::{Reader, ends_string};
use crate::scan;

impl<'d> Reader<'d> {
    /// The next byte that is not whitespace; it is where the reader stands.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<u8> {
        match self.byte(self.at) {
            Some(b' ' | b'\n' | b'\r' | b'\t') => self.behind_whitespace(),
            byte => byte,
        }
    }

    /// The string whose opening quote is next, if nothing in it is escaped. If not, passes over nothing
    /// and returns the place before which there is only text.
    #[inline]
    pub(super) fn usual_string(&mut self) -> Result<&'d str, usize> {
        let start = self.at + 1;
        match scan::find(self.text.as_bytes(), start, ends_string) {
            Some(end) if self.byte(end) == Some(b'"') => {
                self.at = end + 1;
                Ok(&self.text[start..end])
            }
            Some(end) => Err(end),
            None => Err(self.text.len()),
        }
    }
}
