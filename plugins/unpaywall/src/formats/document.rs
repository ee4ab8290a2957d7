//! One response of the API → records, or its error. Pure.
//!
//! ```text
//! record    {"doi", …}, see `item`
//! search    {"elapsed_seconds", "results": [{"response": RECORD, "score", "snippet"}…]}
//! failure   {"HTTP_status_code": 404, "error": true, "message": TEXT}
//! ```

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, List, Object, Text, deserialize_object, object};
use carrel_pdk::text::excerpt;
use carrel_pdk::{Action, Code, Error, report};
use serde::de::{MapAccess, SeqAccess};

use crate::formats::item::Item;

/// The upstream's name in messages.
pub(crate) const SOURCE: &str = "Unpaywall";
const EXPECTED: &str = "records of Unpaywall";

/// What a document holds.
#[derive(Debug)]
pub(crate) enum Document<'d> {
    /// A record.
    Record(Box<Item<'d>>),
    /// The records of a search.
    Records(Vec<Item<'d>>),
}

object! {
    /// A match of a search.
    Match {
        "response" => response: Option<Item<'d>>,
    }
}

/// A document's members: a search's, an error's, or those of a record.
#[derive(Debug, Default)]
struct Root<'d> {
    results: Option<List<Match<'d>>>,
    status: Count,
    message: Text<'d>,
    /// The text of an error; Unpaywall itself has `true` here.
    error: Text<'d>,
    items: Option<Vec<Item<'d>>>,
    item: Box<Item<'d>>,
}

impl<'d> Object<'d> for Root<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "results" => self.results = map.next_value::<Option<_>>()?,
            "HTTP_status_code" => self.status = map.next_value()?,
            "message" => self.message = map.next_value()?,
            "error" => self.error = map.next_value()?,
            _ => return self.item.member(key, map),
        }
        Ok(true)
    }

    fn from_list<A: SeqAccess<'d>>(mut list: A) -> Result<Self, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Self { items: Some(items), ..Self::default() })
    }
}

deserialize_object!(Root);

/// Reads an answer of the API.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or has no records; the API's error report, by the
/// status that it names.
pub(crate) fn read(text: &str) -> Result<Document<'_>, Error> {
    let root: Root<'_> = document::read(SOURCE, EXPECTED, text)?;
    if let Some(results) = root.results {
        let found = results.0.into_iter().filter_map(|found| found.response);
        return Ok(Document::Records(found.filter(Item::is_record).collect()));
    }
    if let Some(items) = root.items {
        // Data files and lists of records, without the envelope of a search.
        let count = items.len();
        let records: Vec<_> = items.into_iter().filter(Item::is_record).collect();
        if records.is_empty() && count > 0 {
            return Err(document::unexpected(EXPECTED, "a list of something else", text));
        }
        return Ok(Document::Records(records));
    }
    if root.item.is_record() {
        return Ok(Document::Record(root.item));
    }
    if let Some(words) = root.message.0.as_deref().or(root.error.0.as_deref()) {
        return Err(explained(report(SOURCE, root.status.0, words), root.status.0));
    }
    let found = match root.item.title.0.as_deref() {
        Some(title) => format!("another object: {}", excerpt(title)),
        None => "an object that has neither a DOI nor results".to_owned(),
    };
    Err(document::unexpected(EXPECTED, &found, text))
}

/// Adds to a 422 what to do: Unpaywall requires an e-mail address of the operator.
pub(crate) fn explained(error: Error, status: Option<u64>) -> Error {
    if status != Some(422) || error.code != Code::UpstreamError {
        return error;
    }
    let message = format!(
        "{}; set fetch.contact (CARREL_CONTACT) to an e-mail address of your own, which Unpaywall requires",
        error.message
    );
    Error { message, ..error }.action(Action::AskOperator)
}
