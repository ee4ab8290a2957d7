//! Answers of the Custom Search JSON API → results, or its report. Pure but for [`search`].
//!
//! ```text
//! answer   {"kind": "customsearch#search", "queries": {"nextPage": [{"startIndex"}]},
//!           "searchInformation": {"totalResults": TEXT}, "items": [ITEM…]}   no "items" when nothing matches
//! ITEM     {"title", "link", "snippet", "pagemap": {"metatags": [{"og:site_name", "article:published_time"}]}}
//! failure  {"error": {"code", "message", "status", "errors": [{"reason"}], "details": [{"reason"}]}}
//! ```

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, List, Members, Text, object};
use carrel_pdk::{Error, Host};
use carrel_websearch::answer::{self, present};
use carrel_websearch::{Raw, Results, Search, Service, day};

use crate::request;

/// The provider.
pub const SERVICE: Service = Service {
    name: "Google Programmable Search",
    key: Some("CARREL_SECRET_GOOGLE_API_KEY"),
    account: "https://developers.google.com/custom-search/v1/overview",
};

/// Tags of a page that state when it was published.
const DATES: &[&str] =
    &["article:published_time", "citation_publication_date", "dc.date", "date", "og:updated_time"];

object! {
    /// An answer.
    Answer {
        "kind" => kind: Text<'d>,
        "queries" => queries: Queries<'d>,
        "searchInformation" => information: Members<'d, Count>,
        "items" => items: List<Item<'d>>,
        "error" => error: Report<'d>,
    }
}

object! {
    /// Descriptions of this page and the next.
    Queries {
        "nextPage" => next: List<Members<'d, Count>>,
    }
}

object! {
    /// A result.
    Item {
        "title" => title: Text<'d>,
        "htmlTitle" => html_title: Text<'d>,
        "link" => link: Text<'d>,
        "snippet" => snippet: Text<'d>,
        "htmlSnippet" => html_snippet: Text<'d>,
        "pagemap" => page: Page<'d>,
    }
}

object! {
    /// What a page states about itself.
    Page {
        "metatags" => tags: List<Members<'d, Text<'d>>>,
    }
}

object! {
    /// A report.
    Report {
        "code" => code: Count,
        "message" => message: Text<'d>,
        "status" => status: Text<'d>,
        "errors" => errors: List<Members<'d, Text<'d>>>,
        "details" => details: List<Members<'d, Text<'d>>>,
    }
}

/// Searches.
///
/// # Errors
///
/// As [`request::engine`]; the failure, if there is no response; the report of the API;
/// `upstream_invalid` for an answer that cannot be read.
pub fn search(search: &Search, host: &dyn Host) -> Result<Results, Error> {
    let engine = request::engine(search, host)?;
    let request = request::search(search, &engine);
    let response = host.fetch(request).map_err(|failure| SERVICE.failure(failure))?;
    answer::read(&SERVICE, &response, results)
}

/// The results in a document.
///
/// # Errors
///
/// `invalid_document` for other texts; the report of the API.
pub fn results(text: &str) -> Result<Results, Error> {
    let expected = "an answer of the Custom Search JSON API";
    let answer: Answer<'_> = document::read(SERVICE.name, expected, text)?;
    let error = &answer.error;
    let message = error.message.0.as_deref().unwrap_or_default();
    let mut reports = error.errors.0.iter().chain(&error.details.0);
    let reason = reports.find_map(|report| member(report, "reason")).unwrap_or_default();
    let status = error.status.0.as_deref().unwrap_or_default();
    if error.code.0.is_some() || !message.is_empty() {
        return Err(SERVICE.report(error.code.0, &format!("{reason} {status}"), message));
    }
    let is_answer = answer.kind.0.as_deref() == Some("customsearch#search");
    if !is_answer && answer.items.0.is_empty() && answer.information.0.is_empty() {
        return Err(document::unexpected(expected, "an object without items", text));
    }
    let mut found = Results::default();
    for item in &answer.items.0 {
        let tags = &item.page.tags.0;
        let tag = |name: &str| tags.iter().find_map(|tags| member(tags, name));
        found.push(Raw {
            title: present(&item.title).or(present(&item.html_title)),
            url: item.link.0.as_deref(),
            snippet: present(&item.snippet).or(present(&item.html_snippet)),
            published: DATES.iter().filter_map(|name| tag(name)).find(|text| day(text).is_some()),
            source: tag("og:site_name"),
        });
    }
    let total = answer.information.0.iter().find(|(key, _)| key == "totalResults");
    found.total = total.and_then(|(_, count)| count.0);
    let next = answer.queries.next.0.iter().flat_map(|page| &page.0);
    let next = next.filter(|(key, _)| key == "startIndex").find_map(|(_, index)| index.0);
    found.next =
        next.filter(|index| *index <= u64::from(request::LAST)).map(|index| index.to_string());
    Ok(found)
}

fn member<'m>(members: &'m Members<'_, Text<'_>>, name: &str) -> Option<&'m str> {
    let (_, text) = members.0.iter().find(|(key, _)| key == name)?;
    text.0.as_deref()
}
