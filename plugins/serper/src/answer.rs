//! Answers of Serper → results, or its report. Pure but for [`search`].
//!
//! ```text
//! answer   {"searchParameters": {"q", …}, "organic": [RESULT…]}   beside lists of other kinds, which are not read
//! RESULT   {"title", "link", "snippet", "date"}
//! failure  {"message", "statusCode"}
//! ```

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, List, Members, Text, object};
use carrel_pdk::{Error, Host};
use carrel_websearch::{Raw, Results, Search, Service, Words, answer};

use crate::request;

/// The provider.
pub const SERVICE: Service = Service {
    name: "Serper",
    key: Some("CARREL_SECRET_SERPER_API_KEY"),
    account: "https://serper.dev",
};

object! {
    /// An answer.
    Answer {
        "searchParameters" => parameters: Members<'d, Text<'d>>,
        "organic" => organic: Option<List<Item<'d>>>,
        "message" => message: Words,
        "error" => error: Words,
        "statusCode" => status: Count,
    }
}

object! {
    /// A result.
    Item {
        "title" => title: Text<'d>,
        "link" => link: Text<'d>,
        "snippet" => snippet: Text<'d>,
        "date" => date: Text<'d>,
    }
}

/// Searches.
///
/// # Errors
///
/// The failure, if there is no response; the report of the API; `upstream_invalid` for an answer that
/// cannot be read.
pub fn search(search: &Search, host: &dyn Host) -> Result<Results, Error> {
    let response =
        host.fetch(request::search(search)).map_err(|failure| SERVICE.failure(failure))?;
    let mut found = answer::read(&SERVICE, &response, results)?;
    let page = search.page(request::PAGES).unwrap_or(1);
    let has_more = found.results.len() >= 10 && page < request::PAGES;
    found.next = has_more.then(|| (page + 1).to_string());
    Ok(found)
}

/// The results in a document.
///
/// # Errors
///
/// `invalid_document` for other texts; the report of the API.
pub fn results(text: &str) -> Result<Results, Error> {
    let expected = "an answer of Serper";
    let answer: Answer<'_> = document::read(SERVICE.name, expected, text)?;
    let reports = [&answer.message, &answer.error];
    let report = reports.into_iter().find(|words| !words.is_empty());
    if let (None, Some(words)) = (&answer.organic, report) {
        return Err(SERVICE.report(answer.status.0, "", &words.0));
    }
    // An answer repeats the search; without results the list may be left out.
    if answer.organic.is_none() && answer.parameters.0.is_empty() {
        return Err(document::unexpected(expected, "an object without organic results", text));
    }
    let mut found = Results::default();
    for item in answer.organic.iter().flat_map(|items| &items.0) {
        found.push(Raw {
            title: item.title.0.as_deref(),
            url: item.link.0.as_deref(),
            snippet: item.snippet.0.as_deref(),
            published: item.date.0.as_deref(),
            source: None,
        });
    }
    Ok(found)
}
