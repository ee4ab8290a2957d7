//! Searches → requests. Pure.

use carrel_pdk::Request;
use carrel_websearch::operators::{self, Operators, compose};
use carrel_websearch::{Accepts, Filter, Safe, Search};
use serde_json::{Map, Value, json};

/// What Exa takes.
pub const ACCEPTS: Accepts = Accepts {
    query: 500,
    count: 25,
    sites: 300,
    filters: &[
        Filter::Since,
        Filter::Safe,
        Filter::Country,
        Filter::ExactTerms,
        Filter::ExcludeTerms,
    ],
};

/// The most words of a phrase that results have, or have not.
const PHRASE_WORDS: usize = 5;

/// The request, and the filters that it leaves out.
pub fn search(search: &Search) -> (Request, Vec<&'static str>) {
    let mut unapplied = Vec::new();
    let mut body: Map<String, Value> = Map::new();
    let mut add = |name: &str, value: Value| body.insert(name.to_owned(), value);
    add("query", compose(search, Operators::default()).into());
    add("type", "auto".into());
    add("numResults", search.count.min(ACCEPTS.count).into());
    add("contents", json!({"highlights": {"numSentences": 2, "highlightsPerUrl": 2}}));
    if !search.sites.is_empty() {
        add("includeDomains", search.sites.clone().into());
    }
    if let Some(since) = &search.since {
        add("startPublishedDate", format!("{since}T00:00:00.000Z").into());
    }
    if let Some(country) = &search.country {
        add("userLocation", country.clone().into());
    }
    if search.safe.is_some_and(|safe| safe != Safe::Off) {
        add("moderation", true.into());
    }
    if let Some(phrase) = &search.exact_terms {
        match short(phrase) {
            Some(phrase) => drop(add("includeText", json!([phrase]))),
            None => unapplied.push("exact_terms"),
        }
    }
    if let Some(terms) = &search.exclude_terms {
        // One phrase is all that the API takes.
        match operators::terms(terms).as_slice() {
            [] => {}
            [term] if short(term).is_some() => {
                drop(add("excludeText", json!([term.trim_matches('"')])));
            }
            _ => unapplied.push("exclude_terms"),
        }
    }
    let body = Value::Object(body).to_string();
    (Request::post("https://api.exa.ai/search", "application/json", body), unapplied)
}

/// The phrase without quotation marks, if it has no more words than the API takes.
fn short(phrase: &str) -> Option<String> {
    let phrase = phrase.replace('"', " ");
    let words: Vec<&str> = phrase.split_whitespace().collect();
    (1..=PHRASE_WORDS).contains(&words.len()).then(|| words.join(" "))
}
