//! Answers of Tavily → results, or its report. Pure but for [`search`].
//!
//! ```text
//! answer   {"query", "results": [RESULT…], "response_time"}
//! RESULT   {"title", "url", "content", "score", "published_date"}
//! failure  {"detail": {"error": TEXT}}   {"detail": TEXT}   {"error": TEXT}
//! ```

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{List, Object, Text, object};
use carrel_pdk::{Error, Host};
use carrel_websearch::{Raw, Results, Search, Service, answer};
use serde::de::MapAccess;

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
        "detail" => detail: Detail,
        "error" => error: Text<'d>,
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

/// A report: a text, or an object that holds one.
#[derive(Debug, Default, Clone)]
struct Detail(String);

impl<'de> Object<'de> for Detail {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key != "error" {
            return Ok(false);
        }
        self.0 = map.next_value::<Text<'de>>()?.0.unwrap_or_default().into_owned();
        Ok(true)
    }

    fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl<'de> serde::Deserialize<'de> for Detail {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        carrel_pdk::json::lenient::read_object(deserializer)
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
    let mut found = answer::read(&SERVICE, &response, results)?;
    found.unapplied = unapplied;
    Ok(found)
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
        let words = answer.error.0.as_deref().unwrap_or(&answer.detail.0);
        return Err(if words.trim().is_empty() {
            document::unexpected(expected, "an object without results", text)
        } else {
            SERVICE.report(None, "", words)
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
