//! One response of the API → items, or the error or other kind of response that it is. Pure.
//!
//! ```text
//! response   {"status": "ok", "message-type": TYPE, "message": MESSAGE}   or a bare WORK, as in data files
//! TYPE       "work"          MESSAGE is a WORK, see `item`
//!            "work-list"     {"items": [WORK…], "total-results", "items-per-page", "next-cursor", "facets"}
//!            "work-agency"   {"DOI", "agency": {"id", "label"}}
//! failure    {"status": "failed", "message-type": "validation-failure" | "resource-failure" | …,
//!             "message": [{"type", "value", "message"}…]}
//!            {"status": "error", "message-type": "exception", "message": {"name", "message"}}
//!            Resource not found.                                          as plain text
//! facets     {NAME: {"value-count": N, "values": {VALUE: COUNT…}}…}
//! ```
//!
//! Members come in any order; every one may be missing or of another type ([`lenient`](carrel_pdk::json::lenient)).

use carrel_pdk::json::lenient::{Count, List, Members, Object, Text, deserialize_object, object};
use carrel_pdk::json::position;
use carrel_pdk::text::excerpt;
use carrel_pdk::{Code, Error, json};
use serde::de::{MapAccess, SeqAccess};

use crate::formats::item::Item;

/// The most problems in a message, and its length in characters; the API can list hundreds.
const MOST_PROBLEMS: usize = 10;
const LONGEST_REPORT: usize = 2000;

/// What a document holds.
#[derive(Debug)]
pub(crate) enum Document<'d> {
    /// A work.
    Work(Box<Item<'d>>),
    /// A list of works.
    Works(Box<Listing<'d>>),
}

/// A page of works.
#[derive(Debug, Default)]
pub(crate) struct Listing<'d> {
    pub(crate) items: Option<List<Item<'d>>>,
    pub(crate) total_results: Count,
    pub(crate) items_per_page: Count,
    pub(crate) next_cursor: Text<'d>,
    pub(crate) facets: Members<'d, Facet<'d>>,
}

object! {
    /// How often the values of a field occur among the results.
    Facet {
        "value-count" => value_count: Count,
        "values" => values: Members<'d, Count>,
    }
}

object! {
    /// One of the errors that the API reports.
    Problem {
        "type" => kind: Text<'d>,
        "value" => value: Text<'d>,
        "message" => message: Text<'d>,
    }
}

object! {
    /// A registration agency.
    Agency {
        "id" => id: Text<'d>,
        "label" => label: Text<'d>,
    }
}

/// A document's members: the envelope, or a bare work.
#[derive(Debug, Default)]
struct Root<'d> {
    status: Text<'d>,
    message_type: Text<'d>,
    message: Option<Message<'d>>,
    content: Content<'d>,
}

/// The envelope's content: a list of problems, or an object.
#[derive(Debug, Default)]
struct Message<'d> {
    problems: Vec<Problem<'d>>,
    content: Content<'d>,
}

/// An object of any of the API's kinds.
#[derive(Debug, Default)]
struct Content<'d> {
    listing: Listing<'d>,
    item: Box<Item<'d>>,
    agency: Agency<'d>,
    /// The name of a funder, a journal, an exception.
    name: Text<'d>,
    /// The text of an exception.
    text: Text<'d>,
}

impl<'d> Object<'d> for Root<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "status" => self.status = map.next_value()?,
            "message-type" => self.message_type = map.next_value()?,
            "message" => self.message = Some(map.next_value()?),
            _ => return self.content.member(key, map),
        }
        Ok(true)
    }
}

impl<'d> Object<'d> for Message<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        self.content.member(key, map)
    }

    fn from_text(text: &str) -> Self {
        let message = Text(Some(text.to_owned().into()));
        let problem = Problem { message, ..Problem::default() };
        Self { problems: vec![problem], ..Self::default() }
    }

    fn from_list<A: SeqAccess<'d>>(mut list: A) -> Result<Self, A::Error> {
        let mut problems = Vec::new();
        while let Some(problem) = list.next_element()? {
            problems.push(problem);
        }
        Ok(Self { problems, ..Self::default() })
    }
}

impl<'d> Object<'d> for Content<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "items" => self.listing.items = Some(map.next_value()?),
            "total-results" => self.listing.total_results = map.next_value()?,
            "items-per-page" => self.listing.items_per_page = map.next_value()?,
            "next-cursor" => self.listing.next_cursor = map.next_value()?,
            "facets" => self.listing.facets = map.next_value()?,
            "agency" => self.agency = map.next_value()?,
            "name" => self.name = map.next_value()?,
            "message" => self.text = map.next_value()?,
            _ => return self.item.member(key, map),
        }
        Ok(true)
    }
}

deserialize_object!(Root);
deserialize_object!(Message);

/// Reads an answer of the API, in its envelope or bare as in Crossref's data files.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or has no works, `upstream_error` and `not_found`
/// for the API's error reports.
pub(crate) fn read(document: &str) -> Result<Document<'_>, Error> {
    let text = document.strip_prefix('\u{feff}').unwrap_or(document);
    let start = text.trim_start();
    let offset = (document.len() - start.len()) as u64;
    if start.trim_end() == "Resource not found." {
        return Err(Error::new(Code::NotFound, "Crossref reports: resource not found"));
    }
    if !start.starts_with('{') {
        let found = match start.chars().next() {
            None => "nothing".to_owned(),
            Some('<') => format!("markup: {}", excerpt(start)),
            Some(_) => excerpt(start.trim_end()),
        };
        let message = format!("expected a JSON object of Crossref's API but found {found}");
        return Err(Error::invalid_document(message, offset, ""));
    }
    let root: Root<'_> =
        json::from_str(text).map_err(|flaw| position::error(document, text, &flaw))?;
    let message_type = root.message_type.0.as_deref().unwrap_or_default();
    let Some(message) = root.message else {
        return works(root.content, "", offset);
    };
    let status = root.status.0.as_deref().unwrap_or_default();
    if let ("", "", Some(problem)) = (status, message_type, message.problems.first()) {
        // Gateways report errors in this form; the API itself names status and type.
        let words = excerpt(problem.message.0.as_deref().unwrap_or_default());
        let message = format!("expected works of Crossref but found a message of no type: {words}");
        return Err(Error::invalid_document(message, offset, ""));
    }
    if !message.problems.is_empty() || matches!(status, "failed" | "error") {
        return Err(report(message_type, &message));
    }
    works(message.content, message_type, offset)
}

/// The name of the agency in an answer about a DOI's registration, when it is not Crossref.
///
/// # Errors
///
/// `invalid_document` when the answer names no agency.
pub(crate) fn agency(document: &str) -> Result<Option<String>, Error> {
    let message = json::from_str::<Root<'_>>(document).ok().and_then(|root| root.message);
    let agency = message.map(|message| message.content.agency);
    let named = agency.and_then(|agency| Some((agency.id.0?, agency.label.0)));
    let (id, label) =
        named.ok_or_else(|| Error::invalid_document("expected an agency but found none", 0, ""))?;
    let is_other = !id.eq_ignore_ascii_case("crossref");
    Ok(is_other.then(|| excerpt(label.unwrap_or(id).trim())))
}

/// The works in an object, if it has any.
fn works<'d>(content: Content<'d>, message_type: &str, offset: u64) -> Result<Document<'d>, Error> {
    let is_work = content.item.doi.0.is_some()
        || content.item.kind.0.is_some()
        || content.item.title.0.is_some();
    // Without the envelope only a DOI shows that it is a work: an error report has a type and a
    // title too.
    let is_bare_work = content.item.doi.0.is_some();
    match message_type {
        "work" if is_work => Ok(Document::Work(content.item)),
        "" if is_bare_work => Ok(Document::Work(content.item)),
        "work-list" | "" if content.listing.items.is_some() => {
            Ok(Document::Works(Box::new(content.listing)))
        }
        _ => {
            let name = [content.name, content.agency.label, content.agency.id, content.item.title]
                .into_iter()
                .find_map(|text| text.0)
                .map(|name| format!(": {}", excerpt(&name)))
                .unwrap_or_default();
            let found = match message_type {
                "work" | "work-list" => format!("an empty message of type {message_type}"),
                "" => format!("an object that has neither a DOI nor items{name}"),
                "work-agency" => format!("the registration agency of a DOI{name}"),
                other => format!("a message of type {}{name}", excerpt(other)),
            };
            let message = format!("expected works of Crossref but found {found}");
            Err(Error::invalid_document(message, offset, ""))
        }
    }
}

/// The API's error report.
fn report(message_type: &str, message: &Message<'_>) -> Error {
    let line = |text: &Text<'_>| {
        let text = text.0.as_deref().unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let kind = if message_type.is_empty() { "an error".to_owned() } else { excerpt(message_type) };
    let mut reports: Vec<String> = message
        .problems
        .iter()
        .take(MOST_PROBLEMS)
        .map(|problem| {
            let (kind, value, text) =
                (line(&problem.kind), line(&problem.value), line(&problem.message));
            let value = if value.is_empty() || text.contains(&value) {
                String::new()
            } else {
                format!(" ({})", excerpt(&value))
            };
            let kind = if kind.is_empty() { kind } else { format!("{kind}: ") };
            format!("{kind}{text}{value}")
        })
        .collect();
    reports.extend([line(&message.content.name), line(&message.content.text)]);
    reports.retain(|report| !report.is_empty());
    let text = format!("Crossref reports {kind}: {}", reports.join("; "));
    let on_one_line = |character: char| if character.is_control() { ' ' } else { character };
    let text = text.trim_end_matches(": ").chars().map(on_one_line);
    let text: String = text.take(LONGEST_REPORT).collect();
    // `not-found` also occurs for parameters and filters, where it is about the arguments.
    let is_missing = message
        .problems
        .iter()
        .any(|problem| matches!(line(&problem.kind).as_str(), "not-found" | "resource-not-found"));
    match message_type {
        _ if is_missing => Error::new(Code::NotFound, text),
        // A server error, which other arguments would not avoid.
        "exception" => Error::new(Code::UpstreamError, text).retry_later(),
        _ => Error::new(Code::UpstreamError, text),
    }
}
