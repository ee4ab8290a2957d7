//! One response of the API → its list of articles, or its error. Pure.
//!
//! ```text
//! search      {"version", "hitCount", "nextCursorMark", "request": {"cursorMark"}, "resultList": {"result": [ARTICLE…]}}
//! article     {"version", "hitCount", "request", "result": ARTICLE}
//! citations   {"version", "hitCount", "request": {"page", "pageSize"}, "citationList": {"citation": [ARTICLE…]}}
//! references  {…, "referenceList": {"reference": [ARTICLE…]}}
//! failure     {"errCode": 404, "errMsg": TEXT}        with status 200 as well
//!             {"version", "request"}                  without hitCount and list: the query was refused
//!             <errorBean><errCode>…</errCode><errMsg>…</errMsg></errorBean>
//! ```
//!
//! A list without hits is empty, null or absent.

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, List, Text, object};
use carrel_pdk::text::{collapse, decode_entities, excerpt};
use carrel_pdk::{Code, Error, report};

use super::article::Article;

use crate::SOURCE;

object! {
    /// A document's members.
    Answer {
        "version" => version: Text<'d>,
        "hitCount" => hit_count: Count,
        "nextCursorMark" => next_cursor: Text<'d>,
        "request" => request: Option<Request<'d>>,
        "resultList" => results: Option<Results<'d>>,
        "result" => result: Option<List<Article<'d>>>,
        "citationList" => citations: Option<Citations<'d>>,
        "referenceList" => references: Option<References<'d>>,
        "dbCountList" => database_counts: Option<Other<'d>>,
        "dbCrossReferenceList" => database_links: Option<Other<'d>>,
        "errCode" => error_code: Count,
        "errMsg" => error_message: Text<'d>,
    }
}

object! {
    /// The request, as the answer repeats it.
    Request {
        "cursorMark" => cursor: Text<'d>,
        "database" => database: Text<'d>,
        "semanticType" => semantic_type: Text<'d>,
    }
}

object! {
    /// A member whose value is ignored; only its presence counts.
    Other {
        "" => unnamed: Text<'d>,
    }
}

object! {
    /// The list of a search.
    Results {
        "result" => items: List<Article<'d>>,
    }
}

object! {
    /// The list of citing articles.
    Citations {
        "citation" => items: List<Article<'d>>,
    }
}

object! {
    /// The list of cited articles.
    References {
        "reference" => items: List<Article<'d>>,
    }
}

/// Which list a document holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    /// Articles that match a query, or one article.
    Results,
    /// Articles that cite one.
    Citations,
    /// Articles that one cites.
    References,
}

impl Listed {
    fn expected(self) -> &'static str {
        match self {
            Self::Results => "articles of Europe PMC",
            Self::Citations => "citations of Europe PMC",
            Self::References => "references of Europe PMC",
        }
    }
}

/// A list of articles with its total and cursor.
#[derive(Debug)]
pub(crate) struct Listing<'d> {
    pub(crate) total: Option<u64>,
    pub(crate) next_cursor: Option<carrel_pdk::record::Text<'d>>,
    pub(crate) items: Vec<Article<'d>>,
}

/// Reads the list of an answer.
///
/// # Errors
///
/// The API's error report, with any status; `invalid_document` for text that is not JSON or has
/// another list.
pub(crate) fn read(document: &str, listed: Listed) -> Result<Listing<'_>, Error> {
    if let Some(error) = markup(document) {
        return Err(error);
    }
    let answer: Answer<'_> = document::read(SOURCE, listed.expected(), document)?;
    let words = answer.error_message.0.as_deref().unwrap_or_default();
    if answer.error_code.0.is_some() || !words.trim().is_empty() {
        return Err(report::report(SOURCE, answer.error_code.0, words));
    }
    let lists = [
        ("a list of results", answer.results.map(|list| list.items)),
        ("an article", answer.result),
        ("a list of citations", answer.citations.map(|list| list.items)),
        ("a list of references", answer.references.map(|list| list.items)),
    ];
    let [results, result, citations, references] = lists;
    let (requested, others) = match listed {
        Listed::Results => (results.1.or(result.1), [citations, references]),
        Listed::Citations => (citations.1, [results, references]),
        Listed::References => (references.1, [results, citations]),
    };
    if requested.is_none()
        && let Some((found, _)) = others.into_iter().find(|(_, list)| list.is_some())
    {
        return Err(document::unexpected(listed.expected(), found, document));
    }
    let about_databases = answer.database_counts.is_some()
        || answer.database_links.is_some()
        || answer.request.as_ref().is_some_and(|request| {
            request.database.0.is_some() || request.semantic_type.0.is_some()
        });
    if about_databases {
        return Err(document::unexpected(listed.expected(), "links to databases", document));
    }
    let is_listed = requested.is_some();
    let items = requested.unwrap_or_default().0;
    match answer.hit_count.0 {
        None if items.is_empty() => {
            if answer.version.0.is_some() && answer.request.is_some() {
                let message =
                    "Europe PMC reports no number of hits, as it does when it refuses a query";
                return Err(Error::new(Code::UpstreamError, message));
            }
            let found = "an object that has neither hits nor their number";
            return Err(document::unexpected(listed.expected(), found, document));
        }
        Some(1..) if !is_listed => {
            let found = "a number of hits without their list";
            return Err(document::unexpected(listed.expected(), found, document));
        }
        _ => {}
    }
    let sent = answer.request.and_then(|request| request.cursor.0).unwrap_or_default();
    let next_cursor = answer
        .next_cursor
        .0
        .filter(|next| !items.is_empty() && !next.trim().is_empty())
        .filter(|next| *next != sent && *next != carrel_pdk::percent::decode(&sent));
    Ok(Listing { total: answer.hit_count.0, next_cursor, items })
}

/// The error of an XML document: an error report, or an answer in a format that was not requested.
fn markup(document: &str) -> Option<Error> {
    let start = document.trim_start_matches('\u{feff}').trim_start();
    if !start.starts_with('<') {
        return None;
    }
    let message = element(start, "errMsg");
    let code = element(start, "errCode").and_then(|code| code.parse().ok());
    if message.is_some() || code.is_some() {
        return Some(report::report(SOURCE, code, &message.unwrap_or_default()));
    }
    let is_answer = start.get(..start.len().min(400)).unwrap_or(start).contains("<responseWrapper");
    is_answer.then(|| {
        let found = format!("its XML, where format=json was expected: {}", excerpt(start));
        document::unexpected("JSON of Europe PMC", &found, document)
    })
}

/// The text of the first element of that name near the start.
fn element(document: &str, name: &str) -> Option<String> {
    const HEAD: usize = 4096;
    let mut end = document.len().min(HEAD);
    while !document.is_char_boundary(end) {
        end -= 1;
    }
    let head = &document[..end];
    let (_, rest) = head.split_once(&format!("<{name}>"))?;
    let (words, _) = rest.split_once("</")?;
    Some(collapse(&decode_entities(words)).into_owned())
}
