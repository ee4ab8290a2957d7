//! The arguments of the tool `web_search`, and the schema of those that a provider takes.

use carrel_pdk::{Error, arguments};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// How old a result may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeRange {
    /// Since yesterday.
    Day,
    /// The last seven days.
    Week,
    /// The last month.
    Month,
    /// The last year.
    Year,
}

impl TimeRange {
    /// Picks the word for this value from four, in the order of the variants.
    pub fn of(self, words: [&str; 4]) -> &str {
        words[self as usize]
    }
}

/// How strictly offensive pages are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Safe {
    /// Not at all.
    Off,
    /// Explicit pictures.
    Medium,
    /// Explicit texts too.
    High,
}

impl Safe {
    /// Picks the word for this value from three, in the order of the variants.
    pub fn of(self, words: [&str; 3]) -> &str {
        words[self as usize]
    }
}

/// What is searched for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The words.
    pub query: String,
    /// Results requested.
    #[serde(default = "ten", deserialize_with = "carrel_pdk::args::whole_number")]
    pub count: u32,
    /// How old a result may be.
    #[serde(default)]
    pub time_range: Option<TimeRange>,
    /// The same as a day, `YYYY-MM-DD`, because a plugin has no clock.
    #[serde(default)]
    pub since: Option<String>,
    /// How strictly offensive pages are left out.
    #[serde(default)]
    pub safe: Option<Safe>,
    /// ISO 639-1, in lower case.
    #[serde(default)]
    pub language: Option<String>,
    /// ISO 3166-1 alpha-2, in upper case.
    #[serde(default)]
    pub country: Option<String>,
    /// The only hosts to search, with those below them.
    #[serde(default)]
    pub sites: Vec<String>,
    /// A phrase that every result has.
    #[serde(default)]
    pub exact_terms: Option<String>,
    /// Words that no result has.
    #[serde(default)]
    pub exclude_terms: Option<String>,
    /// The search engine to ask, of a provider that has several.
    #[serde(default)]
    pub engine: Option<String>,
    /// `next` of an earlier result.
    #[serde(default)]
    pub next: Option<String>,
}

fn ten() -> u32 {
    10
}

impl Search {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when the text does not fit.
    pub fn read(json: &str) -> Result<Self, Error> {
        arguments(json)
    }

    /// The number that `next` is, if it is one from 1 to `last`.
    pub fn page(&self, last: u32) -> Option<u32> {
        self.next.as_deref()?.parse().ok().filter(|page| (1..=last).contains(page))
    }
}

/// An argument that not every provider takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// `time_range`.
    TimeRange,
    /// `since`, in place of a range.
    Since,
    /// `safe`.
    Safe,
    /// `language`.
    Language,
    /// `country`.
    Country,
    /// `exact_terms`.
    ExactTerms,
    /// `exclude_terms`.
    ExcludeTerms,
    /// `engine`.
    Engine,
    /// `next`.
    Next,
}

/// What a provider takes.
#[derive(Debug, Clone, Copy)]
pub struct Accepts {
    /// Characters of a query.
    pub query: u32,
    /// Results of one call.
    pub count: u32,
    /// Hosts that one request can name.
    pub sites: u32,
    /// The filters that it applies.
    pub filters: &'static [Filter],
}

impl Accepts {
    /// The input schema of the tool.
    pub fn schema(&self) -> Value {
        let mut members = Map::new();
        let mut add = |name: &str, schema: Value| members.insert(name.to_owned(), schema);
        add("query", json!({"type": "string", "minLength": 1, "maxLength": self.query}));
        add(
            "count",
            json!({"type": "integer", "minimum": 1, "maximum": self.count, "default": 10.min(self.count)}),
        );
        if self.sites > 0 {
            add(
                "sites",
                json!({
                    "description": "The only hosts to search, with those below them.",
                    "type": "array", "maxItems": self.sites,
                    "items": {"type": "string", "pattern": "^[a-z0-9.-]{1,253}$"},
                }),
            );
        }
        for filter in self.filters {
            let (name, schema) = match filter {
                Filter::TimeRange => {
                    ("time_range", json!({"enum": ["day", "week", "month", "year"]}))
                }
                Filter::Since => {
                    ("since", json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}))
                }
                Filter::Safe => ("safe", json!({"enum": ["off", "medium", "high"]})),
                Filter::Language => (
                    "language",
                    json!({"description": "ISO 639-1.", "type": "string", "pattern": "^[a-z]{2}$"}),
                ),
                Filter::Country => (
                    "country",
                    json!({"description": "ISO 3166-1 alpha-2.", "type": "string", "pattern": "^[A-Z]{2}$"}),
                ),
                Filter::ExactTerms => ("exact_terms", json!({"type": "string", "minLength": 1})),
                Filter::ExcludeTerms => {
                    ("exclude_terms", json!({"type": "string", "minLength": 1}))
                }
                Filter::Engine => (
                    "engine",
                    json!({"description": "In place of the engine of the settings.", "type": "string", "pattern": "^[A-Za-z0-9:_-]{1,100}$"}),
                ),
                Filter::Next => (
                    "next",
                    json!({"description": "next of an earlier result.", "type": "string", "maxLength": 100}),
                ),
            };
            add(name, schema);
        }
        json!({
            "type": "object", "required": ["query"], "additionalProperties": false,
            "properties": members,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_defaults() {
        let search = Search::read(r#"{"query": "desks", "count": 5.0, "next": "2"}"#).unwrap();
        assert_eq!((search.count, search.page(9), search.page(1)), (5, Some(2), None));
        assert!(search.sites.is_empty() && search.safe.is_none());
        assert!(Search::read(r#"{"query": "desks", "site": "x"}"#).is_err());
    }

    #[test]
    fn each_value_has_its_word() {
        assert_eq!(TimeRange::Month.of(["d", "w", "m", "y"]), "m");
        assert_eq!(Safe::High.of(["0", "1", "2"]), "2");
    }

    #[test]
    fn the_schema_has_what_the_provider_takes_and_nothing_else() {
        let accepts = Accepts { query: 400, count: 20, sites: 0, filters: &[Filter::Safe] };
        let schema = accepts.schema();
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["count", "query", "safe"]);
        assert_eq!(schema["properties"]["query"]["maxLength"], 400);
    }
}
