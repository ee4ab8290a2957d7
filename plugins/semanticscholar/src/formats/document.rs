//! One response of the API → papers or links, or its error. Pure.
//!
//! ```text
//! paper            {"paperId", …}, see `item`
//! search           {"total", "offset", "next"?, "data": [PAPER…]}     "data" is missing when nothing matches
//! bulk             {"total", "token" or null, "data": [PAPER…]}
//! match            {"data": [{…, "matchScore"}]}
//! batch            [PAPER or null…]
//! recommendations  {"recommendedPapers": [PAPER…]}
//! links            {"offset", "next"?, "data": [{"citingPaper" or "citedPaper": PAPER, "contexts", …}…]}
//! failure          {"error": TEXT}   {"message": TEXT, "code": "429"}
//! ```
//!
//! Members come in any order; every one may be missing or of another type
//! ([`lenient`](carrel_pdk::json::lenient)).

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, Flag, List, Object, Text, deserialize_object, read_object};
use carrel_pdk::text::excerpt;
use carrel_pdk::{Action, Code, Error, report};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess};

use crate::formats::item::Item;
use crate::formats::next::Given;

/// The upstream's name in messages.
pub(crate) const SOURCE: &str = "Semantic Scholar";

/// An entry of a list: a paper, or a link to one.
#[derive(Debug, Default)]
pub(crate) struct Entry<'d> {
    pub(crate) item: Box<Item<'d>>,
    /// Whether it is a link; its paper may be null.
    pub(crate) is_link: bool,
    pub(crate) citing: Option<Box<Item<'d>>>,
    pub(crate) cited: Option<Box<Item<'d>>>,
    pub(crate) contexts: List<Text<'d>>,
    pub(crate) intents: List<Text<'d>>,
    pub(crate) influential: Flag,
}

impl<'d> Object<'d> for Entry<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        self.is_link |= matches!(key, "citingPaper" | "citedPaper");
        match key {
            "citingPaper" => self.citing = map.next_value::<Option<Box<Item<'d>>>>()?,
            "citedPaper" => self.cited = map.next_value::<Option<Box<Item<'d>>>>()?,
            "contexts" => self.contexts = map.next_value()?,
            "intents" => self.intents = map.next_value()?,
            "isInfluential" => self.influential = map.next_value()?,
            _ => return self.item.member(key, map),
        }
        Ok(true)
    }
}

deserialize_object!(Entry);

/// An entry, or null for a paper that the API does not have.
#[derive(Debug, Default)]
pub(crate) struct Perhaps<'d>(pub(crate) Option<Entry<'d>>);

impl<'de> Deserialize<'de> for Perhaps<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<Entry<'de>>::deserialize(deserializer).map(Self)
    }
}

/// A list of papers or links.
#[derive(Debug, Default)]
pub(crate) struct Listing<'d> {
    pub(crate) entries: Vec<Perhaps<'d>>,
    pub(crate) total: Count,
    pub(crate) next: Given<'d>,
}

/// What a document holds.
#[derive(Debug)]
pub(crate) enum Document<'d> {
    /// A paper.
    Paper(Box<Item<'d>>),
    /// A list.
    Listing(Listing<'d>),
}

/// A document's members: a list's, an error's, or those of a paper.
#[derive(Debug, Default)]
struct Root<'d> {
    entries: Option<List<Perhaps<'d>>>,
    total: Count,
    offset: Count,
    next: Given<'d>,
    token: Given<'d>,
    error: Text<'d>,
    message: Text<'d>,
    code: Count,
    item: Box<Item<'d>>,
}

impl<'d> Object<'d> for Root<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "data" | "recommendedPapers" => self.entries = map.next_value::<Option<_>>()?,
            "total" => self.total = map.next_value()?,
            "offset" => self.offset = map.next_value()?,
            "next" => self.next = map.next_value()?,
            "token" => self.token = map.next_value()?,
            "error" => self.error = map.next_value()?,
            "message" => self.message = map.next_value()?,
            "code" => self.code = map.next_value()?,
            _ => return self.item.member(key, map),
        }
        Ok(true)
    }

    fn from_list<A: SeqAccess<'d>>(mut list: A) -> Result<Self, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            entries.push(entry);
        }
        Ok(Self { entries: Some(List(entries)), ..Self::default() })
    }
}

impl<'de> Deserialize<'de> for Root<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

/// Reads an answer of the API; `expected` says what the format holds.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or is another object; the API's error report, see
/// [`report`](carrel_pdk::report()).
pub(crate) fn read<'d>(expected: &str, text: &'d str) -> Result<Document<'d>, Error> {
    let root: Root<'d> = document::read(SOURCE, expected, text).map_err(hint)?;
    let is_paper = root.item.is_paper();
    let words = root.error.0.as_deref().or(root.message.0.as_deref());
    if let (false, None, Some(words)) = (is_paper, &root.entries, words) {
        return Err(hint(report(SOURCE, root.code.0, words)));
    }
    // A search without matches leaves its list out.
    let is_empty_list = root.total.0 == Some(0) || root.offset.0.is_some();
    if root.entries.is_some() || (is_empty_list && !is_paper) {
        let entries = root.entries.unwrap_or_default().0;
        let next = if root.next.0.is_some() { root.next } else { root.token };
        return Ok(Document::Listing(Listing { entries, total: root.total, next }));
    }
    if is_paper && root.item.author_id.0.is_none() {
        return Ok(Document::Paper(root.item));
    }
    let found = match root.item.other_name() {
        Some(name) => format!("another object: {}", excerpt(name)),
        None => "an object that has neither a paper's members nor data".to_owned(),
    };
    Err(document::unexpected(expected, &found, text))
}

/// Adds to an error that a key raises the rate limit. Without a key the API usually answers 429,
/// because all clients without a key share one limit.
pub(crate) fn hint(error: Error) -> Error {
    match error.code {
        Code::RateLimited => {
            let message = format!(
                "{}; a free API key (CARREL_SECRET_SEMANTICSCHOLAR_API_KEY) has a rate of its own",
                error.message
            );
            Error { message, ..error }
        }
        Code::UpstreamError if error.action == Some(Action::AskOperator) => {
            let message = format!("{}; check the API key of Semantic Scholar", error.message);
            Error { message, ..error }
        }
        _ => error,
    }
}
