//! The request: a style, locales, items and citations, in JSON.

use std::collections::HashMap;

use carrel_pdk::Error;
use serde_json::{Map, Value};

use crate::citation::CiteItem;
use crate::citation::position::Cluster;
use crate::item::{Item, text};
use crate::locale::{self, Layer};
use crate::output::format::Format;
use crate::render::Cite;
use crate::response::{Needs, Warning};
use crate::style::Style;
use crate::style::elements::Position;

/// A request, read.
pub(crate) struct Request {
    pub(crate) style: Style,
    pub(crate) locales: HashMap<String, Layer>,
    pub(crate) locale: Option<String>,
    pub(crate) format: Format,
    pub(crate) items: Vec<Item>,
    /// The index of each item by its id.
    pub(crate) ids: HashMap<String, usize>,
    pub(crate) citations: Option<Vec<Cluster>>,
    pub(crate) bibliography: bool,
    pub(crate) uncited: Vec<usize>,
    /// Cites say their positions, and items are numbered in their own order.
    pub(crate) given_positions: bool,
    pub(crate) unknown: Vec<String>,
    pub(crate) warnings: Vec<Warning>,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// `invalid_document` when it is not JSON of that shape, or its style or a locale is not CSL.
    pub(crate) fn read(document: &str) -> Result<Self, Error> {
        let json = document.trim_start_matches('\u{feff}');
        if !json.trim_start().starts_with('{') {
            let found = carrel_pdk::text::excerpt(json.trim());
            let found = if found.is_empty() { "nothing".to_owned() } else { found };
            return Err(invalid(format!("expected a request for citations but found {found}")));
        }
        let members: Map<String, Value> = carrel_pdk::json::from_str(json)
            .map_err(|flaw| carrel_pdk::json::position::error(document, json, &flaw))?;
        let Some(style) = members.get("style").and_then(Value::as_str) else {
            return Err(invalid(
                "the request has no style: give the text of a CSL file as `style`",
            ));
        };
        let mut request = Self {
            style: Style::read(style)?,
            locales: HashMap::new(),
            locale: members.get("locale").and_then(Value::as_str).map(str::to_owned),
            format: format(&members)?,
            items: Vec::new(),
            ids: HashMap::new(),
            citations: None,
            bibliography: members.get("bibliography").and_then(Value::as_bool).unwrap_or(true),
            uncited: Vec::new(),
            given_positions: members.get("positions").and_then(Value::as_str) == Some("given"),
            unknown: Vec::new(),
            warnings: Vec::new(),
        };
        request.locale = request.locale.filter(|locale| !locale.trim().is_empty());
        request.read_locales(&members);
        request.read_items(&members);
        if let Some(Value::Array(citations)) = members.get("citations") {
            let clusters =
                citations.iter().map(|citation| request.read_cluster(citation)).collect();
            request.citations = Some(clusters);
        }
        if let Some(Value::Array(uncited)) = members.get("uncited") {
            for id in uncited.iter().filter_map(text) {
                if let Some(index) = request.index(&id) {
                    request.uncited.push(index);
                }
            }
        }
        Ok(request)
    }

    /// What is missing before anything can be rendered: a dependent style's parent, or the text of
    /// the style's own locale.
    pub(crate) fn needs(&self) -> Option<Needs> {
        let default_locale = self.style.default_locale.clone();
        if self.style.parent.is_some() {
            let independent_parent = self.style.parent.clone();
            return Some(Needs { independent_parent, default_locale, ..Needs::default() });
        }
        let requested = default_locale.filter(|_| self.locale.is_none())?;
        let known = [requested.as_str(), locale::primary_dialect(locale::base(&requested))];
        let there = known.iter().any(|name| self.locales.contains_key(*name));
        (!there).then(|| Needs { locales: vec![requested], ..Needs::default() })
    }

    fn read_locales(&mut self, members: &Map<String, Value>) {
        let Some(Value::Object(locales)) = members.get("locales") else {
            self.warn("no_locale", "the request has no locales: terms are missing");
            return;
        };
        for (name, xml) in locales {
            match xml.as_str().map(locale::read_file) {
                Some(Ok(layer)) => {
                    self.locales.insert(name.clone(), layer);
                }
                Some(Err(error)) => {
                    let message = format!("the locale {name} cannot be read: {}", error.message);
                    self.warn("invalid_locale", &message);
                }
                None => self.warn("invalid_locale", &format!("the locale {name} is not a text")),
            }
        }
    }

    fn read_items(&mut self, members: &Map<String, Value>) {
        let Some(Value::Array(items)) = members.get("items") else { return };
        for (number, value) in items.iter().enumerate() {
            match Item::read(value) {
                Some(item) => match self.ids.get(&item.id) {
                    Some(&index) => {
                        let message =
                            format!("two items have the id {}; the last is used", item.id);
                        self.warn("duplicate_id", &message);
                        self.items[index] = item;
                    }
                    None => {
                        self.ids.insert(item.id.clone(), self.items.len());
                        self.items.push(item);
                    }
                },
                None => {
                    let message = format!("item {} has no id and is left out", number + 1);
                    self.warn("no_id", &message);
                }
            }
        }
    }

    fn read_cluster(&mut self, value: &Value) -> Cluster {
        let mut cluster = Cluster {
            note: value.get("note_index").and_then(Value::as_u64).unwrap_or(0),
            ..Cluster::default()
        };
        let Some(Value::Array(cites)) = value.get("items") else { return cluster };
        for cite in cites {
            let id = cite.get("id").and_then(text).or_else(|| text(cite));
            if let Some(item) = id.and_then(|id| self.index(&id)) {
                cluster.cites.push(read_cite(item, cite));
            }
        }
        cluster
    }

    fn index(&mut self, id: &str) -> Option<usize> {
        let found = self.ids.get(id).copied();
        if found.is_none() && !self.unknown.iter().any(|known| known == id) {
            self.unknown.push(id.to_owned());
        }
        found
    }

    fn warn(&mut self, code: &str, message: &str) {
        self.warnings.push(Warning { code: code.to_owned(), message: message.to_owned() });
    }
}

/// Reads one item of a citation.
pub(crate) fn read_cite(item: usize, value: &Value) -> CiteItem {
    let get = |key: &str| value.get(key).and_then(text).filter(|text| !text.is_empty());
    let flag = |key: &str| match value.get(key) {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        _ => false,
    };
    let position = match value.get("position").and_then(Value::as_u64) {
        Some(0) => Some(Position::First),
        Some(1) => Some(Position::Subsequent),
        Some(2) => Some(Position::Ibid),
        Some(3) => Some(Position::IbidWithLocator),
        _ => None,
    };
    CiteItem {
        item,
        cite: Cite {
            locator: get("locator"),
            label: get("label").map(|label| label.replace(' ', "-")),
            position,
            near_note: flag("near-note"),
            first_note: value.get("first-reference-note-number").and_then(Value::as_u64),
            suppress_author: flag("suppress-author"),
            author_only: flag("author-only"),
        },
        prefix: get("prefix").unwrap_or_default(),
        suffix: get("suffix").unwrap_or_default(),
    }
}

fn format(members: &Map<String, Value>) -> Result<Format, Error> {
    match members.get("format") {
        None | Some(Value::Null) => Ok(Format::Text),
        Some(value) => match value.as_str() {
            Some("text") => Ok(Format::Text),
            Some("html") => Ok(Format::Html),
            Some("markdown") => Ok(Format::Markdown),
            Some("latex") => Ok(Format::Latex),
            _ => Err(invalid(format!(
                "unknown format {value}: use \"text\", \"html\", \"markdown\" or \"latex\""
            ))),
        },
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::invalid_document(message, 0, "")
}
