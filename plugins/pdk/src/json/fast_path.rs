//! The fast path for strings without escapes and for values without whitespace between them.
//!
//! Each function returns the result of the plain reader ([`Reader`]), or leaves the input to it.
//! Each doc comment states the conditions; tests compare both.

#[cfg(test)]
mod tests;

use super::reader::{Reader, ends_string};
use crate::scan;

impl<'d> Reader<'d> {
    /// The next byte that is not whitespace; the reader's position is there.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<u8> {
        match self.byte(self.at) {
            Some(b' ' | b'\n' | b'\r' | b'\t') => self.behind_whitespace(),
            byte => byte,
        }
    }

    /// The string whose opening quote is next, if nothing in it is escaped. Otherwise consumes
    /// nothing and returns the position up to which there is only text.
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
