//! The text of glyphs: one or several characters.

use std::collections::HashMap;

/// The text of a glyph: a character, or an index into the document's [`Texts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Text(u32);

const FIRST_TEXT: u32 = 0x11_0000;

/// Texts of several characters for single glyphs.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Texts {
    /// The glyph's text for a string.
    pub(crate) fn add(&mut self, text: &str) -> Text {
        let mut characters = text.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            return Text(only.into());
        }
        if let Some(number) = self.numbers.get(text) {
            return Text(*number);
        }
        let number = FIRST_TEXT.saturating_add(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        Text(number)
    }

    /// Adds a glyph's characters to a string.
    pub(crate) fn push(&self, text: Text, to: &mut String) {
        match char::from_u32(text.0) {
            Some(character) => to.push(character),
            None => to.push_str(self.of(text)),
        }
    }

    fn of(&self, text: Text) -> &str {
        let index = text.0.saturating_sub(FIRST_TEXT) as usize;
        self.all.get(index).map_or("", String::as_str)
    }
}

impl Text {
    /// The character, where it is one.
    pub(crate) fn character(self) -> Option<char> {
        char::from_u32(self.0)
    }
}
