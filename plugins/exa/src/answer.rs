//! Answers of Exa → results, or its report. Pure but for [`search`].
//!
//! ```text
//! answer   {"requestId", "results": [RESULT…], "costDollars": {…}}
//! RESULT   {"title", "url", "publishedDate", "author", "highlights": [TEXT…], "summary", "text"}   any may be null
//! failure  {"requestId", "error": TEXT, "tag": CODE}
//! ```

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{List, Text, object};
use carrel_pdk::{Error, Host};
use carrel_websearch::answer::{self, present};
use carrel_websearch::{Raw, Results, Search, Service, Words};

use crate::request;

/// The provider.
pub const SERVICE: Service = Service {
    name: "Exa",
    key: Some("CARREL_SECRET_EXA_API_KEY"),
    account: "https://dashboard.exa.ai",
};

object! {
    /// An answer.
    Answer {
        "results" => results: Option<List<Item<'d>>>,
        "error" => error: Words,
        "message" => message: Words,
        "tag" => tag: Text<'d>,
    }
}

object! {
    /// A result.
    Item {
        "title" => title: Text<'d>,
        "url" => url: Text<'d>,
        "publishedDate" => published: Text<'d>,
        "highlights" => highlights: List<Text<'d>>,
        "summary" => summary: Text<'d>,
        "text" => text: Text<'d>,
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
    let expected = "an answer of Exa";
    let answer: Answer<'_> = document::read(SERVICE.name, expected, text)?;
    let Some(items) = &answer.results else {
        let words = if answer.error.is_empty() { &*answer.message.0 } else { &*answer.error.0 };
        let tag = answer.tag.0.as_deref().unwrap_or_default();
        return Err(if words.is_empty() && tag.is_empty() {
            document::unexpected(expected, "an object without results", text)
        } else {
            SERVICE.report(None, tag, words)
        });
    };
    let mut found = Results::default();
    for item in &items.0 {
        let highlights: Vec<&str> = item.highlights.0.iter().filter_map(present).collect();
        let joined = highlights.join(" … ");
        let fallback = present(&item.summary).or(present(&item.text));
        found.push(Raw {
            title: item.title.0.as_deref(),
            url: item.url.0.as_deref(),
            snippet: if joined.is_empty() { fallback } else { Some(&joined) },
            published: item.published.0.as_deref(),
            source: None,
        });
    }
    Ok(found)
}
