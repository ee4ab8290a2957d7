//! A CSL-JSON item: its variables as texts, names and dates. Every member may be of any type.

pub(crate) mod date;
pub(crate) mod name;
mod note;
mod particles;

use std::collections::HashMap;

use serde_json::{Map, Value};

use date::Date;
use name::Name;

/// The variables that hold dates.
pub(crate) const DATES: &[&str] =
    &["accessed", "available-date", "event-date", "issued", "original-date", "submitted"];

/// The variables that hold names.
pub(crate) const NAMES: &[&str] = &[
    "author",
    "chair",
    "collection-editor",
    "compiler",
    "composer",
    "container-author",
    "contributor",
    "curator",
    "director",
    "editor",
    "editor-translator",
    "editorial-director",
    "executive-producer",
    "guest",
    "host",
    "illustrator",
    "interviewer",
    "narrator",
    "organizer",
    "original-author",
    "performer",
    "producer",
    "recipient",
    "reviewed-author",
    "script-writer",
    "series-creator",
    "translator",
];

/// The variables that `cs:number` renders and labels count.
pub(crate) const NUMBERS: &[&str] = &[
    "chapter-number",
    "citation-number",
    "collection-number",
    "edition",
    "first-reference-note-number",
    "issue",
    "locator",
    "number",
    "number-of-pages",
    "number-of-volumes",
    "page",
    "page-first",
    "part-number",
    "printing-number",
    "section",
    "supplement-number",
    "version",
    "volume",
];

/// An item.
#[derive(Debug, Clone, Default)]
pub(crate) struct Item {
    pub(crate) id: String,
    /// The type.
    pub(crate) kind: String,
    pub(crate) texts: HashMap<String, String>,
    pub(crate) names: HashMap<String, Vec<Name>>,
    pub(crate) dates: HashMap<String, Date>,
}

impl Item {
    /// Reads an item; members of unexpected types are absent.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let mut item = Self {
            id: members.get("id").and_then(text)?,
            kind: members.get("type").and_then(text).unwrap_or_default(),
            ..Self::default()
        };
        for (key, value) in members {
            if matches!(key.as_str(), "id" | "type") {
                continue;
            }
            item.read_member(key, value);
        }
        if let Some(note) = item.texts.remove("note") {
            let rest = note::apply(&note, &mut item);
            if !rest.is_empty() {
                item.texts.insert("note".to_owned(), rest);
            }
        }
        item.alias("title-short", "shortTitle");
        item.alias("container-title-short", "journalAbbreviation");
        if !item.texts.contains_key("page-first")
            && let Some(page) = item.texts.get("page")
        {
            let end = page.find(['-', '–', ',', '&']).unwrap_or(page.len());
            let first = page[..end].trim().to_owned();
            item.texts.insert("page-first".to_owned(), first);
        }
        Some(item)
    }

    fn read_member(&mut self, key: &str, value: &Value) {
        match value {
            Value::Array(names) => {
                let names: Vec<Name> = names.iter().filter_map(Name::read).collect();
                if !names.is_empty() && !DATES.contains(&key) {
                    self.names.insert(key.to_owned(), names);
                }
            }
            Value::Object(members) if DATES.contains(&key) => self.read_date(key, members),
            Value::Object(_) if NAMES.contains(&key) => {
                if let Some(name) = Name::read(value) {
                    self.names.insert(key.to_owned(), vec![name]);
                }
            }
            Value::String(raw) if DATES.contains(&key) => {
                if let Some(date) = Date::parse(raw) {
                    self.dates.insert(key.to_owned(), date);
                }
            }
            Value::Number(_) if DATES.contains(&key) => {
                if let Some(date) = text(value).as_deref().and_then(Date::parse) {
                    self.dates.insert(key.to_owned(), date);
                }
            }
            Value::String(raw) if NAMES.contains(&key) && !raw.trim().is_empty() => {
                self.names.insert(key.to_owned(), vec![Name::literal(raw)]);
            }
            _ => {
                if let Some(text) = text(value).filter(|text| !text.is_empty()) {
                    self.texts.insert(key.to_owned(), text);
                }
            }
        }
    }

    fn read_date(&mut self, key: &str, members: &Map<String, Value>) {
        if let Some(date) = Date::read(members) {
            self.dates.insert(key.to_owned(), date);
        }
    }

    fn alias(&mut self, name: &str, source: &str) {
        if !self.texts.contains_key(name)
            && let Some(text) = self.texts.get(source).cloned()
        {
            self.texts.insert(name.to_owned(), text);
        }
    }

    /// A variable that is text or a number.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// A variable in its short form, if it has one.
    pub(crate) fn short(&self, name: &str) -> Option<&str> {
        match name {
            "title" => self.text("title-short").or_else(|| self.text("title")),
            "container-title" => {
                self.text("container-title-short").or_else(|| self.text("container-title"))
            }
            other => self
                .texts
                .get(&format!("{other}-short"))
                .map(String::as_str)
                .or_else(|| self.text(other)),
        }
    }

    /// Whether the item has a variable of any kind.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.texts.get(name).is_some_and(|text| !text.is_empty())
            || self.names.contains_key(name)
            || self.dates.contains_key(name)
    }

    /// Whether the item's language writes names with the family name first.
    pub(crate) fn has_family_first(&self) -> bool {
        let language = self.text("language").unwrap_or_default().trim_start();
        ["hu", "ja", "vi", "zh"].iter().any(|first| language.starts_with(first))
    }

    /// Whether text is cased by the rules of English: the item names no other language.
    ///
    /// A title of a work with a jurisdiction keeps its case.
    pub(crate) fn is_english(&self, default: bool) -> bool {
        if self.texts.contains_key("jurisdiction") {
            return false;
        }
        match self.text("language").map(str::trim).filter(|language| !language.is_empty()) {
            Some(language) => language.to_ascii_lowercase().starts_with("en"),
            None => default,
        }
    }
}

/// A JSON value as text: strings and numbers.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                format!("{float:.0}")
            }
            _ => number.to_string(),
        }),
        _ => None,
    }
}
