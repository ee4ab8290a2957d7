//! One response of the API → its rows, or its error. Pure.
//!
//! ```text
//! links    [{"oci", "citing": IDS, "cited": IDS, "creation": "2019-04", "timespan": "P1Y2M", "author_sc", "journal_sc"}…]
//! failure  {"error": 404, "message": TEXT}
//! ```
//!
//! All values are texts. An unknown work has an empty list.

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Object, Text, deserialize_object, object};
use carrel_pdk::{Error, report};
use serde::de::{MapAccess, SeqAccess};

use crate::SOURCE;
const EXPECTED: &str = "links of OpenCitations";

object! {
    /// One citation.
    Row {
        "citing" => citing: Text<'d>,
        "cited" => cited: Text<'d>,
        "creation" => creation: Text<'d>,
        "oci" => oci: Text<'d>,
        "timespan" => timespan: Text<'d>,
        "author_sc" => author_self_citation: Text<'d>,
        "journal_sc" => journal_self_citation: Text<'d>,
        "title" => title: Text<'d>,
    }
}

/// A document: a list of rows, or a report.
#[derive(Debug, Default)]
struct Root<'d> {
    rows: Option<Vec<Row<'d>>>,
    has_error: bool,
    error: Text<'d>,
    message: Text<'d>,
}

impl<'d> Object<'d> for Root<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "error" => {
                self.error = map.next_value()?;
                self.has_error = true;
            }
            "message" => self.message = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn from_list<A: SeqAccess<'d>>(mut list: A) -> Result<Self, A::Error> {
        let mut rows = Vec::new();
        while let Some(row) = list.next_element()? {
            rows.push(row);
        }
        Ok(Self { rows: Some(rows), ..Self::default() })
    }
}

deserialize_object!(Root);

/// Reads an answer of the API.
///
/// # Errors
///
/// The API's error report; `invalid_document` for text that is not JSON or has no citations.
pub(crate) fn read(document: &str) -> Result<Vec<Row<'_>>, Error> {
    let root: Root<'_> = document::read(SOURCE, EXPECTED, document)?;
    let Some(rows) = root.rows else {
        let trimmed = |text: &Text<'_>| text.0.as_deref().unwrap_or_default().trim().to_owned();
        let (error, message) = (trimmed(&root.error), trimmed(&root.message));
        if root.has_error || !message.is_empty() {
            let status = error.parse().ok().filter(|status| (400..600).contains(status));
            let words = if message.is_empty() { error } else { message };
            return Err(report::report(SOURCE, status.or_else(|| status_in(&words)), &words));
        }
        return Err(document::unexpected(EXPECTED, "an object, not a list", document));
    };
    let is_link = |row: &Row<'_>| row.citing.0.is_some() && row.cited.0.is_some();
    if !rows.is_empty() && !rows.iter().any(is_link) {
        let is_metadata = rows.iter().any(|row| row.title.0.is_some());
        let found = if is_metadata { "metadata of works" } else { "a list without citations" };
        return Err(document::unexpected(EXPECTED, found, document));
    }
    Ok(rows)
}

/// The status in a text such as "HTTP status code 404: the operation requested does not exist".
fn status_in(words: &str) -> Option<u64> {
    let (_, rest) = words.split_once("status code ")?;
    let status = rest.get(..3)?.parse().ok()?;
    (400..600).contains(&status).then_some(status)
}
