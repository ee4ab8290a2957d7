//! Searches → requests. Pure.

use carrel_pdk::Request;
use carrel_websearch::operators::{Operators, compose};
use carrel_websearch::{Accepts, Filter, Search};
use serde_json::{Map, Value};

use crate::countries::COUNTRIES;

/// What Tavily takes.
pub const ACCEPTS: Accepts = Accepts {
    query: 400,
    count: 20,
    sites: 300,
    filters: &[Filter::TimeRange, Filter::Country, Filter::ExactTerms],
};

/// The request, and the filters that it leaves out.
pub fn search(search: &Search) -> (Request, Vec<&'static str>) {
    let mut unapplied = Vec::new();
    let mut body: Map<String, Value> = Map::new();
    let mut add = |name: &str, value: Value| body.insert(name.to_owned(), value);
    add("query", compose(search, Operators { exact: true, ..Operators::default() }).into());
    add("max_results", search.count.min(ACCEPTS.count).into());
    add("search_depth", "basic".into());
    if let Some(range) = search.time_range {
        add("time_range", range.of(["day", "week", "month", "year"]).into());
    }
    if !search.sites.is_empty() {
        add("include_domains", search.sites.clone().into());
    }
    if let Some(country) = search.country.as_deref() {
        // The API boosts pages of a country, which it calls by its English name.
        match COUNTRIES.iter().find(|(code, _)| *code == country) {
            Some((_, name)) => {
                add("topic", "general".into());
                add("country", (*name).into());
            }
            None => unapplied.push("country"),
        }
    }
    let body = Value::Object(body).to_string();
    (Request::post("https://api.tavily.com/search", "application/json", body), unapplied)
}
