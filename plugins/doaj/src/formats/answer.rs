//! One response of the API → its articles, or its error. Pure.
//!
//! ```text
//! search   {"total", "page", "pageSize", "query", "results": [ARTICLE…], "next": URL, "last": URL}
//! article  {"id", "es_type": "article", "bibjson": {…}}
//! failure  {"status": "not_found", "error": TEXT}
//! ```
//!
//! The last page has no `next`. Journals come in the same envelope, with other members in `bibjson`.

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, List, Object, Text, deserialize_object};
use carrel_pdk::{Error, percent, report};
use serde::de::MapAccess;

use super::article::Article;

use crate::SOURCE;
const EXPECTED: &str = "articles of DOAJ";

/// A page of articles with its total and next page.
#[derive(Debug)]
pub(crate) struct Listing<'d> {
    pub(crate) total: Option<u64>,
    pub(crate) next_page: Option<String>,
    pub(crate) items: Vec<Article<'d>>,
}

/// A document's members: a page, a report, or a single article.
#[derive(Debug, Default)]
struct Root<'d> {
    total: Count,
    results: Option<List<Article<'d>>>,
    next: Text<'d>,
    status: Text<'d>,
    error: Text<'d>,
    article: Article<'d>,
}

impl<'d> Object<'d> for Root<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "total" => self.total = map.next_value()?,
            "results" => self.results = Some(map.next_value()?),
            "next" => self.next = map.next_value()?,
            "status" => self.status = map.next_value()?,
            "error" => self.error = map.next_value()?,
            _ => return self.article.member(key, map),
        }
        Ok(true)
    }
}

deserialize_object!(Root);

/// Reads an answer of the API.
///
/// # Errors
///
/// The API's error report; `invalid_document` for text that is not JSON or has no articles.
pub(crate) fn read(document: &str) -> Result<Listing<'_>, Error> {
    let root: Root<'_> = document::read(SOURCE, EXPECTED, document)?;
    if root.results.is_none() && root.article.bibjson.is_none() {
        let trimmed = |text: &Text<'_>| text.0.as_deref().unwrap_or_default().trim().to_owned();
        let (status, words) = (trimmed(&root.status), trimmed(&root.error));
        if !status.is_empty() || !words.is_empty() {
            let code = status.parse().ok().or_else(|| meaning(&status));
            let words = [status.replace('_', " "), words];
            let words: Vec<&str> =
                words.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
            return Err(report::report(SOURCE, code, &words.join(": ")));
        }
        let found = "an object that has neither results nor bibjson";
        return Err(document::unexpected(EXPECTED, found, document));
    }
    let journals = |article: &Article<'_>| article.is_journal();
    let (total, items) = match root.results {
        Some(results) => (root.total.0, results.0),
        None => (Some(1), vec![root.article]),
    };
    if items.iter().any(journals) {
        return Err(document::unexpected(EXPECTED, "journals", document));
    }
    let next_page = root.next.0.as_deref().filter(|_| !items.is_empty()).and_then(page);
    Ok(Listing { total, next_page, items })
}

/// The HTTP status for one of the API's error codes.
fn meaning(status: &str) -> Option<u64> {
    Some(match status {
        "bad_request" => 400,
        "unauthorised" | "unauthorized" => 401,
        "forbidden" => 403,
        "not_found" => 404,
        "conflict" => 409,
        "rate_limited" | "too_many_requests" => 429,
        "error" | "internal_error" => 500,
        _ => return None,
    })
}

/// The number of the page in an address.
fn page(address: &str) -> Option<String> {
    let (_, query) = address.split_once('?')?;
    let value = query.split('&').find_map(|parameter| parameter.strip_prefix("page="))?;
    let value = percent::decode(value).into_owned();
    (!value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())).then_some(value)
}
