//! Answers of an instance → results, or its report. Pure but for [`search`].
//!
//! ```text
//! answer   {"query", "number_of_results", "results": [RESULT…], "unresponsive_engines": [[NAME, REASON]…]}
//! RESULT   {"title", "url", "content", "publishedDate" or "pubdate", "engines": [NAME…]}
//! failure  {"error": TEXT}, or a page of markup
//! ```

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, List, Text, object};
use carrel_pdk::{Action, Code, Error, FailureKind, Host};
use carrel_websearch::answer::{self, present};
use carrel_websearch::{Raw, Results, Search, Service, Words};

use crate::request;

/// The provider.
pub const SERVICE: Service =
    Service { name: "SearXNG", key: None, account: "docs/how-to/search-the-web.md" };

/// What to set when there is no usable instance.
const REMEDY: &str =
    "check that the instance runs and that plugins.searxng.runtime_config.endpoint names it";

object! {
    /// An answer.
    Answer {
        "results" => results: Option<List<Item<'d>>>,
        "number_of_results" => number: Count,
        "unresponsive_engines" => unresponsive: List<List<Text<'d>>>,
        "error" => error: Words,
    }
}

object! {
    /// A result.
    Item {
        "title" => title: Text<'d>,
        "url" => url: Text<'d>,
        "content" => content: Text<'d>,
        "publishedDate" => published: Text<'d>,
        "pubdate" => pubdate: Text<'d>,
        "engines" => engines: List<Text<'d>>,
        "engine" => engine: Text<'d>,
    }
}

/// Searches.
///
/// # Errors
///
/// The failure, if there is no response; the report of the instance; `upstream_invalid` for an answer
/// that cannot be read; `upstream_unavailable` if nothing was found and engines did not answer.
pub fn search(search: &Search, host: &dyn Host) -> Result<Results, Error> {
    let (request, unapplied) = request::search(search);
    let response = host.fetch(request).map_err(|failure| match failure.kind {
        FailureKind::Unreachable { .. } | FailureKind::Timeout { .. } => {
            let code = failure.code();
            Error::new(code, format!("the SearXNG instance does not answer; {REMEDY}"))
        }
        _ => SERVICE.failure(failure),
    })?;
    if response.status == 403 {
        return Err(Error::new(
            Code::UpstreamError,
            "the SearXNG instance refuses answers in JSON; add json to search.formats in its settings.yml",
        )
        .action(Action::AskOperator));
    }
    let mut found = answer::read(&SERVICE, &response, results)?;
    found.unapplied = unapplied;
    let page = search.page(request::PAGES).unwrap_or(1);
    let has_more = !found.results.is_empty() && page < request::PAGES;
    found.next = has_more.then(|| (page + 1).to_string());
    Ok(found)
}

/// The results in a document.
///
/// # Errors
///
/// `invalid_document` for other texts; the report of the instance; `upstream_unavailable` if nothing
/// was found and engines did not answer, because they may have found something.
pub fn results(text: &str) -> Result<Results, Error> {
    let expected = "an answer of SearXNG";
    let answer: Answer<'_> = document::read(SERVICE.name, expected, text)?;
    let Some(items) = &answer.results else {
        return Err(if answer.error.is_empty() {
            document::unexpected(expected, "an object without results", text)
        } else {
            SERVICE.report(None, "", &answer.error.0)
        });
    };
    let mut found = Results::default();
    for item in &items.0 {
        let names: Vec<&str> = item.engines.0.iter().filter_map(|name| name.0.as_deref()).collect();
        let joined = names.join(", ");
        let engines = if joined.is_empty() { item.engine.0.as_deref() } else { Some(&*joined) };
        found.push(Raw {
            title: item.title.0.as_deref(),
            url: item.url.0.as_deref(),
            snippet: item.content.0.as_deref(),
            published: present(&item.published).or(present(&item.pubdate)),
            source: engines,
        });
    }
    let failed: Vec<String> = answer.unresponsive.0.iter().filter_map(engine).collect();
    if items.0.is_empty() && !failed.is_empty() {
        let engines = carrel_websearch::plain(&failed.join(", "));
        let engines: String = engines.chars().take(300).collect();
        return Err(Error::new(
            Code::UpstreamUnavailable,
            format!("engines of the SearXNG instance did not answer: {engines}"),
        ));
    }
    // Most engines report no number, and the instance then says 0.
    found.total = answer.number.0.filter(|&number| number > 0);
    Ok(found)
}

/// The name of an engine that did not answer, and why.
fn engine(pair: &List<Text<'_>>) -> Option<String> {
    let mut words = pair.0.iter().filter_map(|word| word.0.as_deref());
    let name = words.next().filter(|name| !name.trim().is_empty())?;
    Some(match words.next() {
        Some(reason) => format!("{name} ({reason})"),
        None => name.to_owned(),
    })
}
