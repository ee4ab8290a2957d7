//! Searches → requests. Pure.

use carrel_pdk::Request;
use carrel_websearch::operators::{Operators, compose};
use carrel_websearch::{Accepts, Filter, Safe, Search};
use serde_json::{Map, Value};

/// What Serper takes: Google's operators and parameters.
pub const ACCEPTS: Accepts = Accepts {
    query: 500,
    count: 20,
    // Google's queries have at most 32 words.
    sites: 10,
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
pub const PAGES: u32 = 10;
/// Languages that are not called by their ISO code alone.
const RENAMED: &[(&str, &str)] = &[("zh", "zh-cn"), ("he", "iw"), ("nb", "no")];

/// The request.
pub fn search(search: &Search) -> Request {
    let mut body: Map<String, Value> = Map::new();
    let mut add = |name: &str, value: Value| body.insert(name.to_owned(), value);
    add("q", compose(search, Operators::ALL).into());
    // The API returns ten results or a multiple.
    add("num", search.count.clamp(10, ACCEPTS.count).into());
    if let Some(range) = search.time_range {
        add("tbs", range.of(["qdr:d", "qdr:w", "qdr:m", "qdr:y"]).into());
    }
    if let Some(safe) = search.safe {
        add("safe", if safe == Safe::Off { "off" } else { "active" }.into());
    }
    if let Some(language) = search.language.as_deref() {
        let renamed = RENAMED.iter().find(|(usual, _)| *usual == language);
        add("hl", renamed.map_or(language, |(_, own)| own).into());
    }
    if let Some(country) = &search.country {
        add("gl", country.to_ascii_lowercase().into());
    }
    if let Some(page) = search.page(PAGES) {
        add("page", page.into());
    }
    let body = Value::Object(body).to_string();
    Request::post("https://google.serper.dev/search", "application/json", body)
}
