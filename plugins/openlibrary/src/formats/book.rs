//! A book in Open Library's JSON and terms: the members that the record uses.
//!
//! The same member has several forms: an author is a key in an edition, a key below `author` in a work,
//! a `name` in an answer by ISBN, and a text of `author_name` in a match of a search; a description is a
//! text, or an object with `value`; an ISBN is a member of its own, or of `identifiers`.

use carrel_pdk::json::lenient::{List, Object, Text, deserialize_object, object};
use serde::de::MapAccess;

object! {
    /// An edition, a work, or a match of a search.
    Book {
        "key" => key: Text<'d>,
        "type" => kind: Kind<'d>,
        "url" => url: Text<'d>,
        "title_prefix" => title_prefix: Text<'d>,
        "title" => title: Text<'d>,
        "subtitle" => subtitle: Text<'d>,
        "authors" => authors: List<Named<'d>>,
        "author_name" => author_names: List<Text<'d>>,
        "publishers" => publishers: List<Named<'d>>,
        "publisher" => publisher: List<Text<'d>>,
        "publish_date" => publish_date: List<Text<'d>>,
        "first_publish_date" => first_publish_date: Text<'d>,
        "first_publish_year" => first_publish_year: Text<'d>,
        "languages" => languages: List<Named<'d>>,
        "language" => language: List<Text<'d>>,
        "subjects" => subjects: List<Named<'d>>,
        "subject" => subject: List<Text<'d>>,
        "description" => description: Described<'d>,
        "isbn" => isbn: List<Text<'d>>,
        "isbn_13" => isbn_13: List<Text<'d>>,
        "isbn_10" => isbn_10: List<Text<'d>>,
        "identifiers" => identifiers: Identifiers<'d>,
    }
}

impl Book<'_> {
    /// Whether it describes a book, and not an author or a list.
    pub(crate) fn is_book(&self) -> bool {
        let key = self.key.0.as_deref().unwrap_or_default();
        let is_other =
            key.starts_with('/') && !key.starts_with("/books/") && !key.starts_with("/works/");
        self.title.0.as_deref().is_some_and(|title| !title.trim().is_empty()) && !is_other
    }
}

/// A text, or an object with a `name` or a `key`.
#[derive(Debug, Default, Clone)]
pub(crate) struct Named<'d> {
    pub(crate) name: Text<'d>,
    pub(crate) key: Text<'d>,
}

impl<'d> Object<'d> for Named<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "name" => self.name = map.next_value()?,
            "key" => self.key = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn from_text(text: &str) -> Self {
        Self { name: Text(Some(text.to_owned().into())), key: Text(None) }
    }
}

deserialize_object!(Named);

/// A text, or an object with a `value`.
#[derive(Debug, Default, Clone)]
pub(crate) struct Described<'d> {
    pub(crate) value: Text<'d>,
}

impl<'d> Object<'d> for Described<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "value" => self.value = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn from_text(text: &str) -> Self {
        Self { value: Text(Some(text.to_owned().into())) }
    }
}

deserialize_object!(Described);

/// The type: a text, or an object with a `key`.
#[derive(Debug, Default, Clone)]
pub(crate) struct Kind<'d> {
    pub(crate) key: Text<'d>,
}

impl<'d> Object<'d> for Kind<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "key" => self.key = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn from_text(text: &str) -> Self {
        Self { key: Text(Some(text.to_owned().into())) }
    }
}

deserialize_object!(Kind);

object! {
    /// Numbers of a book, by kind.
    Identifiers {
        "isbn_13" => isbn_13: List<Text<'d>>,
        "isbn_10" => isbn_10: List<Text<'d>>,
    }
}
