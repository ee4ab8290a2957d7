//! The result of the tool `web_search` and of the format `results`.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::address::address;
use crate::dates::day;
use crate::text::{cut, plain};

/// The most characters of a title, of a snippet and of the name of a source.
const TITLE: usize = 300;
const SNIPPET: usize = 1000;
const SOURCE: usize = 100;
/// The most results of an answer.
const MOST: usize = 100;

/// What a provider found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Results {
    /// The most relevant first, each URL once.
    pub results: Vec<Found>,
    /// Matches in all, by the provider's estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// What asks for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Filters that the provider could not apply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub unapplied: Vec<&'static str>,
    #[serde(skip)]
    seen: HashSet<String>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Found {
    /// On one line.
    pub title: String,
    /// http or https.
    pub url: String,
    /// On one line; may be empty.
    pub snippet: String,
    /// `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The site or the engines, by the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A result as the provider writes it: every part may be missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Raw<'d> {
    /// Text, possibly with tags and entities.
    pub title: Option<&'d str>,
    /// Without it, there is no result.
    pub url: Option<&'d str>,
    /// As the title.
    pub snippet: Option<&'d str>,
    /// A date in any spelling.
    pub published: Option<&'d str>,
    /// A name.
    pub source: Option<&'d str>,
}

impl Results {
    /// Adds a result, cleaned. Left out without a web address, and if its URL is there already.
    pub fn push(&mut self, raw: Raw<'_>) {
        let Some(url) = raw.url.and_then(address) else { return };
        if self.results.len() >= MOST || !self.seen.insert(url.clone().into_owned()) {
            return;
        }
        let title = present(raw.title, TITLE).unwrap_or_else(|| host(&url).to_owned());
        self.results.push(Found {
            title,
            snippet: present(raw.snippet, SNIPPET).unwrap_or_default(),
            published: raw.published.and_then(day),
            source: present(raw.source, SOURCE),
            url: url.into_owned(),
        });
    }

    /// Keeps the first `most` results.
    pub fn limit(&mut self, most: u32) {
        self.results.truncate(most as usize);
    }

    /// The result as JSON text.
    pub fn to_json(&self) -> String {
        // Plain data: writing cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn present(text: Option<&str>, most: usize) -> Option<String> {
    let text = cut(plain(text?), most);
    (!text.is_empty()).then_some(text)
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_cleaned_and_kept_once() {
        let mut results = Results::default();
        let raw = Raw {
            title: Some("<b>Walled</b> desks"),
            url: Some("https://example.org/desks"),
            snippet: Some("A\u{202e} desk"),
            published: Some("Mar 5, 2021"),
            source: Some(" "),
        };
        results.push(raw);
        results.push(raw);
        results.push(Raw { url: Some("javascript:x"), ..raw });
        results.push(Raw { url: Some("https://example.org/"), ..Raw::default() });
        assert_eq!(
            results.to_json(),
            r#"{"results":[{"title":"Walled desks","url":"https://example.org/desks","snippet":"A desk","published":"2021-03-05"},{"title":"example.org","url":"https://example.org/","snippet":""}]}"#
        );
        results.limit(1);
        assert_eq!(results.results.len(), 1);
    }

    #[test]
    fn a_huge_snippet_is_cut() {
        let mut results = Results::default();
        let long = "word ".repeat(100_000);
        results.push(Raw {
            url: Some("https://example.org/"),
            snippet: Some(&long),
            ..Raw::default()
        });
        assert!(results.results[0].snippet.chars().count() <= SNIPPET + 1);
    }
}
