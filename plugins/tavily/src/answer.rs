//! Answers of Tavily → results, or its report. Pure but for [`search`].
//!
//! ```text
//! answer   {"query", "results": [RESULT…], "response_time"}
//! RESULT   {"title", "url", "content", "score", "published_date"}
//! failure  {"detail": {"error": TEXT}}   {"detail": TEXT}   {"detail": [{"msg": TEXT}…]}   {"error": TEXT}
//! ```

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{List, Text, object};
use carrel_pdk::{Error, Host};
use carrel_websearch::{Raw, Results, Search, Service, Words, answer};

use crate::request;

/// The provider.
pub const SERVICE: Service = Service {
    name: "Tavily",
    key: Some("CARREL_SECRET_TAVILY_API_KEY"),
    account: "https://app.tavily.com",
};

object! {
    /// An answer.
    Answer {
        "results" => results: Option<List<Item<'d>>>,
        "detail" => detail: Words,
        "error" => error: Words,
        "message" => message: Words,
    }
}

object! {
    /// A result.
    Item {
        "title" => title: Text<'d>,
        "url" => url: Text<'d>,
        "content" => content: Text<'d>,
        "published_date" => published: Text<'d>,
    }
}

/// Searches.
///
/// # Errors
///
/// See [`answer::ask`].
pub fn search(search: &Search, host: &dyn Host) -> Result<Results, Error> {
    answer::ask(&SERVICE, request::search(search), host, results)
}

/// The results in a document.
///
/// # Errors
///
/// `invalid_document` for other texts; the report of the API.
pub fn results(text: &str) -> Result<Results, Error> {
    let expected = "an answer of Tavily";
    let answer: Answer<'_> = document::read(SERVICE.name, expected, text)?;
    let Some(items) = &answer.results else {
        let reports = [&answer.error, &answer.detail, &answer.message];
        return Err(match reports.into_iter().find(|words| !words.is_empty()) {
            Some(words) => SERVICE.report(None, "", &words.0),
            None => document::unexpected(expected, "an object without results", text),
        });
    };
    let mut found = Results::default();
    for item in &items.0 {
        found.push(Raw {
            title: item.title.0.as_deref(),
            url: item.url.0.as_deref(),
            snippet: item.content.0.as_deref(),
            published: item.published.0.as_deref(),
            source: None,
        });
    }
    Ok(found)
}
