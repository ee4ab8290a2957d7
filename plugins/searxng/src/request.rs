//! Searches → requests. Pure.

use carrel_pdk::{Request, percent};
use carrel_websearch::operators::{Operators, compose};
use carrel_websearch::{Accepts, Filter, Search};

/// A placeholder for the instance that the operator runs: the setting `runtime_config.endpoint`
/// has its address, which the plugin does not learn.
pub const HOST: &str = "endpoint.invalid";

/// What SearXNG takes. It passes operators on to its engines, of which most know them.
pub const ACCEPTS: Accepts = Accepts {
    query: 500,
    count: 20,
    sites: 8,
    filters: &[
        Filter::TimeRange,
        Filter::Safe,
        Filter::Language,
        Filter::Country,
        Filter::ExactTerms,
        Filter::ExcludeTerms,
        Filter::Next,
    ],
};

/// The last page.
pub const PAGES: u32 = 50;

/// The request, and the filters that it leaves out.
pub fn search(search: &Search) -> (Request, Vec<&'static str>) {
    let mut unapplied = Vec::new();
    let words = compose(search, Operators::ALL);
    let mut url = format!(
        "https://{HOST}/search?q={}&format=json&categories=general",
        percent::query(&words)
    );
    let mut add = |name: &str, value: &str| {
        url.push_str(&format!("&{name}={value}"));
    };
    if let Some(range) = search.time_range {
        add("time_range", range.of(["day", "week", "month", "year"]));
    }
    if let Some(safe) = search.safe {
        add("safesearch", safe.of(["0", "1", "2"]));
    }
    match (search.language.as_deref(), search.country.as_deref()) {
        (Some(language), Some(country)) => add("language", &format!("{language}-{country}")),
        (Some(language), None) => add("language", language),
        // A region needs a language.
        (None, Some(_)) => unapplied.push("country"),
        (None, None) => {}
    }
    if let Some(page) = search.page(PAGES) {
        add("pageno", &page.to_string());
    }
    (Request::get(url), unapplied)
}
