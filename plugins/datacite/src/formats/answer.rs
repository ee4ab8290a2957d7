//! One response of the API → its resources, or its error. Pure.
//!
//! ```text
//! one       {"data": RESOURCE, "included": […]}
//! list      {"data": [RESOURCE…], "meta": {"total", "totalPages", "page"}, "links": {"self", "next"}}
//! bare      RESOURCE, as in data files, or its attributes alone, as content negotiation gives them
//! RESOURCE  {"id", "type": "dois", "attributes": {…}}
//! failure   {"errors": [{"status": "404", "title", "source", "detail"}…]}
//!           The resource you are looking for doesn't exist.            as plain text
//! ```

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, List, Object, Text, deserialize_object, object};
use carrel_pdk::text::excerpt;
use carrel_pdk::{Error, percent, report};
use serde::de::{MapAccess, SeqAccess};

use super::resource::Resource;

use crate::SOURCE;
/// DataCite's message about an unknown DOI, in JSON or as plain text.
const NOTHING: &str = "The resource you are looking for doesn't exist.";
/// The most problems in a message.
const MOST_PROBLEMS: usize = 10;

/// What a document holds.
#[derive(Debug)]
pub(crate) enum Answer<'d> {
    /// One resource.
    One(Box<Resource<'d>>),
    /// A page of resources.
    Many(Listing<'d>),
}

/// A page of resources with its total and cursor.
#[derive(Debug)]
pub(crate) struct Listing<'d> {
    pub(crate) total: Option<u64>,
    pub(crate) next_cursor: Option<String>,
    pub(crate) items: Vec<Resource<'d>>,
}

/// A document's members: the envelope, or a bare resource.
#[derive(Debug, Default)]
struct Root<'d> {
    data: Option<Data<'d>>,
    errors: Option<List<Problem<'d>>>,
    meta: Meta<'d>,
    links: Links<'d>,
    bare: Resource<'d>,
}

/// The envelope's content: a resource or a list of them.
#[derive(Debug, Default)]
struct Data<'d> {
    resource: Resource<'d>,
    list: Option<Vec<Resource<'d>>>,
}

object! {
    /// One of the errors that the API reports.
    Problem {
        "status" => status: Count,
        "title" => title: Text<'d>,
        "detail" => detail: Text<'d>,
        "source" => source: Text<'d>,
    }
}

object! {
    /// Numbers about all pages.
    Meta {
        "total" => total: Count,
        "page" => page: Text<'d>,
    }
}

object! {
    /// Addresses of other pages.
    Links {
        "next" => next: Text<'d>,
    }
}

impl<'d> Object<'d> for Root<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "data" => self.data = Some(map.next_value()?),
            "errors" => self.errors = Some(map.next_value()?),
            "meta" => self.meta = map.next_value()?,
            "links" => self.links = map.next_value()?,
            _ => return self.bare.member(key, map),
        }
        Ok(true)
    }
}

impl<'d> Object<'d> for Data<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        self.resource.member(key, map)
    }

    fn from_list<A: SeqAccess<'d>>(mut list: A) -> Result<Self, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Self { list: Some(items), ..Self::default() })
    }
}

deserialize_object!(Root);
deserialize_object!(Data);

/// Reads an answer of the API, in its envelope or bare.
///
/// # Errors
///
/// The API's error report; `invalid_document` for text that is not JSON or has no DOIs.
pub(crate) fn read(document: &str) -> Result<Answer<'_>, Error> {
    const EXPECTED: &str = "DOIs of DataCite";
    if document.trim() == NOTHING {
        return Err(report::report(SOURCE, Some(404), NOTHING));
    }
    let root: Root<'_> = document::read(SOURCE, EXPECTED, document)?;
    if let Some(errors) = root.errors {
        return Err(reported(&errors.0));
    }
    let unexpected = |found: &str| Err(document::unexpected(EXPECTED, found, document));
    let describe = |kind: &str| format!("resources of type {}", excerpt(kind));
    let Some(data) = root.data else {
        if root.bare.is_doi() && root.bare.attributes.has_content() {
            return Ok(Answer::One(Box::new(root.bare)));
        }
        return unexpected("an object that has neither data nor a DOI");
    };
    let Some(items) = data.list else {
        return match data.resource.other_kind() {
            Some(kind) => unexpected(&describe(kind)),
            None if data.resource.is_doi() => Ok(Answer::One(Box::new(data.resource))),
            None => unexpected("data without a DOI"),
        };
    };
    if let Some(kind) = items.iter().find_map(Resource::other_kind) {
        return unexpected(&describe(kind));
    }
    let next_cursor = root.links.next.0.as_deref().and_then(cursor);
    Ok(Answer::Many(Listing { total: root.meta.total.0, next_cursor, items }))
}

/// The cursor in the URL of the next page; numbered pages have none.
fn cursor(next: &str) -> Option<String> {
    let (_, query) = next.split_once('?')?;
    let value = query.split('&').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        (percent::decode(name) == "page[cursor]").then_some(value)
    })?;
    Some(percent::decode(value).into_owned()).filter(|value| !value.trim().is_empty())
}

/// The API's error report. The first status counts.
fn reported(problems: &[Problem<'_>]) -> Error {
    let status = problems.iter().find_map(|problem| problem.status.0);
    let trimmed = |text: &Text<'_>| text.0.as_deref().unwrap_or_default().trim().to_owned();
    let words: Vec<String> = problems
        .iter()
        .take(MOST_PROBLEMS)
        .map(|problem| {
            let source = trimmed(&problem.source);
            let words = [trimmed(&problem.title), trimmed(&problem.detail)];
            let words = words.into_iter().filter(|text| !text.is_empty());
            let words = words.collect::<Vec<_>>().join(": ");
            if source.is_empty() { words } else { format!("{source}: {words}") }
        })
        .filter(|words| !words.is_empty())
        .collect();
    let is_nothing = words.iter().any(|words| words.contains(NOTHING));
    report::report(SOURCE, status.or(is_nothing.then_some(404)), &words.join("; "))
}
