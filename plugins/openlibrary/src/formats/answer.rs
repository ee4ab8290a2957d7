//! One response of the API → its books, or its error. Pure.
//!
//! ```text
//! by ISBN   {"ISBN:9780000000002": BOOK, …}            without those that are unknown
//! search    {"num_found" or "numFound", "docs": [BOOK…]}
//! edition   {"key": "/books/OL1M", …}
//! work      {"key": "/works/OL1W", …}
//! failure   {"error": "notfound", "key": "/isbn/…"}
//! ```

use std::borrow::Cow;

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, List, Object, Text, deserialize_object};
use carrel_pdk::{Error, report};
use serde::de::MapAccess;

use super::book::Book;
use crate::SOURCE;

const EXPECTED: &str = "books of Open Library";
/// The prefixes of keys by which books are requested.
const PREFIXES: [&str; 5] = ["ISBN:", "OLID:", "LCCN:", "OCLC:", "LC:"];

/// Books, each with the key by which it was requested, and their number in all.
#[derive(Debug)]
pub(crate) struct Listing<'d> {
    pub(crate) total: Option<u64>,
    pub(crate) items: Vec<(Option<Cow<'d, str>>, Book<'d>)>,
}

/// A document's members: books by key, a search, a report, or a single book.
#[derive(Debug, Default)]
struct Root<'d> {
    by_key: Vec<(Cow<'d, str>, Book<'d>)>,
    total: Count,
    docs: Option<List<Book<'d>>>,
    error: Text<'d>,
    is_empty: Blank,
    book: Book<'d>,
}

/// Whether an object has had no member so far; true at first.
#[derive(Debug)]
struct Blank(bool);

impl Default for Blank {
    fn default() -> Self {
        Self(true)
    }
}

impl<'d> Object<'d> for Root<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        self.is_empty = Blank(false);
        match key {
            "num_found" | "numFound" => {
                let count: Count = map.next_value()?;
                self.total = Count(count.0.or(self.total.0));
            }
            "docs" => self.docs = Some(map.next_value()?),
            "error" => self.error = map.next_value()?,
            _ if PREFIXES.iter().any(|prefix| key.starts_with(prefix)) => {
                self.by_key.push((Cow::Owned(key.to_owned()), map.next_value()?));
            }
            _ => return self.book.member(key, map),
        }
        Ok(true)
    }

    fn from_list<A: serde::de::SeqAccess<'d>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<serde::de::IgnoredAny>()?.is_some() {}
        Ok(Self { is_empty: Blank(false), ..Self::default() })
    }
}

deserialize_object!(Root);

/// Reads an answer of the API.
///
/// # Errors
///
/// The API's error report; `invalid_document` for text that is not JSON or has no books.
pub(crate) fn read(document: &str) -> Result<Listing<'_>, Error> {
    let root: Root<'_> = document::read(SOURCE, EXPECTED, document)?;
    if let Some(docs) = root.docs {
        let items = docs.0.into_iter().filter(Book::is_book).map(|book| (None, book)).collect();
        return Ok(Listing { total: root.total.0, items });
    }
    if !root.by_key.is_empty() || root.is_empty.0 {
        let items: Vec<_> = root
            .by_key
            .into_iter()
            .filter(|(_, book)| book.is_book())
            .map(|(key, book)| (Some(key), book))
            .collect();
        return Ok(Listing { total: Some(items.len() as u64), items });
    }
    if root.book.is_book() {
        return Ok(Listing { total: Some(1), items: vec![(None, root.book)] });
    }
    if let Some(words) = root.error.0.as_deref().map(str::trim).filter(|words| !words.is_empty()) {
        let status = (words == "notfound").then_some(404);
        return Err(report::report(SOURCE, status, words));
    }
    Err(document::unexpected(EXPECTED, "an object that has neither a title nor docs", document))
}
