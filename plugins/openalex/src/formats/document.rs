//! One response of the API → works, or its error. Pure.
//!
//! ```text
//! work      {"id": "https://openalex.org/W…", …}, see `item`
//! list      {"meta": {"count", "next_cursor"}, "results": [WORK…], "group_by": […]}   or a bare [WORK…]
//! failure   {"error": TEXT, "message": TEXT}   or a page of markup, as for 404
//! ```
//!
//! Members come in any order; every one may be missing or of another type ([`lenient`](carrel_pdk::json::lenient)).

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, List, Object, Text, deserialize_object, object};
use carrel_pdk::text::excerpt;
use carrel_pdk::{Error, report};
use serde::de::{MapAccess, SeqAccess};

use crate::formats::item::Item;

/// The upstream's name in messages.
pub(crate) const SOURCE: &str = "OpenAlex";
const EXPECTED: &str = "works of OpenAlex";

/// What a document holds.
#[derive(Debug)]
pub(crate) enum Document<'d> {
    /// A work.
    Work(Box<Item<'d>>),
    /// A list of works.
    Works(Listing<'d>),
}

/// A page of works.
#[derive(Debug, Default)]
pub(crate) struct Listing<'d> {
    pub(crate) items: Vec<Item<'d>>,
    pub(crate) total_results: Option<u64>,
    pub(crate) next_cursor: Text<'d>,
}

object! {
    /// A list's `meta` member.
    Meta {
        "count" => count: Count,
        "next_cursor" => next_cursor: Text<'d>,
    }
}

/// A document's members: a list's, an error's, or those of a work.
#[derive(Debug, Default)]
struct Root<'d> {
    meta: Option<Meta<'d>>,
    results: Option<List<Item<'d>>>,
    error: Text<'d>,
    message: Text<'d>,
    item: Box<Item<'d>>,
}

impl<'d> Object<'d> for Root<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "meta" => self.meta = Some(map.next_value()?),
            "results" => self.results = Some(map.next_value()?),
            "error" => self.error = map.next_value()?,
            "message" => self.message = map.next_value()?,
            _ => return self.item.member(key, map),
        }
        Ok(true)
    }

    fn from_list<A: SeqAccess<'d>>(mut list: A) -> Result<Self, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Self { results: Some(List(items)), ..Self::default() })
    }
}

deserialize_object!(Root);

/// Reads an answer of the API.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or has no works; the API's error report, see
/// [`report`](carrel_pdk::report).
pub(crate) fn read(text: &str) -> Result<Document<'_>, Error> {
    let root: Root<'_> = document::read(SOURCE, EXPECTED, text)?;
    let is_work = root.item.is_work();
    if !is_work && root.results.is_none() && root.error.0.is_some() {
        let reported = [root.error.0.as_deref(), root.message.0.as_deref()];
        let words: Vec<&str> = reported.into_iter().flatten().collect();
        return Err(report(SOURCE, None, &words.join(": ")));
    }
    if let Some(results) = root.results {
        // Null and empty items are ignored; an item that is not a work makes the document invalid.
        let (items, others): (Vec<_>, Vec<_>) = results.0.into_iter().partition(Item::is_work);
        if let Some(name) = others.iter().find_map(Item::name) {
            let found = format!("a list with {}", excerpt(name));
            return Err(document::unexpected(EXPECTED, &found, text));
        }
        let meta = root.meta.unwrap_or_default();
        return Ok(Document::Works(Listing {
            items,
            total_results: meta.count.0,
            next_cursor: meta.next_cursor,
        }));
    }
    if is_work {
        return Ok(Document::Work(root.item));
    }
    let found = match root.item.name() {
        Some(name) => format!("another object: {}", excerpt(name)),
        None => "an object that has neither a work's members nor results".to_owned(),
    };
    Err(document::unexpected(EXPECTED, &found, text))
}
