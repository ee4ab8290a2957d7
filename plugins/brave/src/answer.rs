//! Answers of the API → results, or its report. Pure but for [`search`].
//!
//! ```text
//! answer   {"type": "search", "query": {"more_results_available"}, "web": {"results": [RESULT…]}}   no "web" when nothing matches
//! RESULT   {"title", "url", "description", "page_age", "profile": {"name"}}
//! failure  {"type": "ErrorResponse", "error": {"status", "code", "detail"}}
//! ```

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, Flag, List, Members, Text, object};
use carrel_pdk::{Error, Host};
use carrel_websearch::{Raw, Results, Search, Service, answer};

use crate::request;

/// The provider.
pub const SERVICE: Service = Service {
    name: "Brave Search",
    key: Some("CARREL_SECRET_BRAVE_API_KEY"),
    account: "https://brave.com/search/api/",
};

object! {
    /// An answer.
    Answer {
        "type" => kind: Text<'d>,
        "query" => query: Members<'d, Flag>,
        "web" => web: Web<'d>,
        "error" => error: Report<'d>,
    }
}

object! {
    /// The results of one kind.
    Web {
        "results" => results: List<Item<'d>>,
    }
}

object! {
    /// A result.
    Item {
        "title" => title: Text<'d>,
        "url" => url: Text<'d>,
        "description" => description: Text<'d>,
        "page_age" => page_age: Text<'d>,
        "profile" => profile: Profile<'d>,
    }
}

object! {
    /// A site.
    Profile {
        "name" => name: Text<'d>,
    }
}

object! {
    /// A report.
    Report {
        "status" => status: Count,
        "code" => code: Text<'d>,
        "detail" => detail: Text<'d>,
    }
}

/// Searches.
///
/// # Errors
///
/// The failure, if there is no response; the report of the API; `upstream_invalid` for an answer that
/// cannot be read.
pub fn search(search: &Search, host: &dyn Host) -> Result<Results, Error> {
    let (request, unapplied) = request::search(search);
    let response = host.fetch(request).map_err(|failure| SERVICE.failure(failure))?;
    let page = search.page(9).unwrap_or(0);
    let (mut found, more) = answer::read(&SERVICE, &response, read)?;
    found.unapplied = unapplied;
    found.next = (more && page < 9).then(|| (page + 1).to_string());
    Ok(found)
}

/// The results in a document.
///
/// # Errors
///
/// `invalid_document` for other texts; the report of the API.
pub fn results(text: &str) -> Result<Results, Error> {
    Ok(read(text)?.0)
}

/// The results, and whether there are more.
fn read(text: &str) -> Result<(Results, bool), Error> {
    let expected = "an answer of Brave Search";
    let answer: Answer<'_> = document::read(SERVICE.name, expected, text)?;
    let kind = answer.kind.0.as_deref().unwrap_or_default();
    let code = answer.error.code.0.as_deref().unwrap_or_default();
    let detail = answer.error.detail.0.as_deref().unwrap_or_default();
    if kind == "ErrorResponse" || !code.is_empty() || !detail.is_empty() {
        return Err(SERVICE.report(answer.error.status.0, code, detail));
    }
    if kind != "search" && answer.web.results.0.is_empty() {
        return Err(document::unexpected(expected, "an object of another type", text));
    }
    let mut found = Results::default();
    for item in &answer.web.results.0 {
        found.push(Raw {
            title: item.title.0.as_deref(),
            url: item.url.0.as_deref(),
            snippet: item.description.0.as_deref(),
            published: item.page_age.0.as_deref(),
            source: item.profile.name.0.as_deref(),
        });
    }
    let more = answer.query.0.iter().find(|(key, _)| key == "more_results_available");
    Ok((found, more.is_some_and(|(_, flag)| flag.0 == Some(true))))
}
