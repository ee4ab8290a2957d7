//! A style: its options, locales, macros and layouts, by the terms of the CSL specification.

pub(crate) mod elements;
pub(crate) mod options;
mod read;
/// What reading locales needs of reading styles.
pub(crate) mod xml {
    pub(crate) use super::read::{Xml, date};
}

use std::collections::HashMap;

use carrel_pdk::{Error, Position};

use crate::locale::Layer;
use elements::{Element, Formatting};
use options::{BibliographyOptions, CitationOptions, NameOptions};

/// A style, read.
#[derive(Debug, Default)]
pub(crate) struct Style {
    /// The address of the independent style, if this one is dependent: then it has nothing else.
    pub(crate) parent: Option<String>,
    pub(crate) default_locale: Option<String>,
    pub(crate) demote: Demote,
    pub(crate) initialize_with_hyphen: bool,
    pub(crate) page_range_format: Option<PageRange>,
    /// The style's own `cs:locale` elements, with their languages.
    pub(crate) locales: Vec<(Option<String>, Layer)>,
    pub(crate) macros: HashMap<String, Vec<Element>>,
    pub(crate) citation: Layout<CitationOptions>,
    pub(crate) bibliography: Option<Layout<BibliographyOptions>>,
    /// Whether a layout renders the variable `year-suffix` itself.
    pub(crate) explicit_year_suffix: bool,
    /// The style renders `citation-label`.
    pub(crate) uses_label: bool,
}

/// When the non-dropping particle of an inverted name comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Demote {
    Never,
    SortOnly,
    #[default]
    DisplayAndSort,
}

/// How the second number of a page range is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageRange {
    Chicago15,
    Chicago16,
    Expanded,
    Minimal,
    MinimalTwo,
}

/// `cs:citation` or `cs:bibliography`.
#[derive(Debug, Default)]
pub(crate) struct Layout<Options> {
    pub(crate) names: NameOptions,
    pub(crate) options: Options,
    pub(crate) sort: Vec<SortKey>,
    pub(crate) elements: Vec<Element>,
    pub(crate) prefix: String,
    pub(crate) suffix: String,
    pub(crate) delimiter: String,
    pub(crate) formatting: Formatting,
}

/// A key of `cs:sort`.
#[derive(Debug, Clone)]
pub(crate) struct SortKey {
    pub(crate) what: KeySource,
    pub(crate) descending: bool,
    pub(crate) names: NameOptions,
}

/// What a key compares.
#[derive(Debug, Clone)]
pub(crate) enum KeySource {
    Variable(String),
    Macro(String),
}

impl Style {
    /// Reads a style.
    ///
    /// # Errors
    ///
    /// `invalid_document` when it is no independent style in XML.
    pub(crate) fn read(xml: &str) -> Result<Self, Error> {
        read::style(xml)
    }

    /// What is written behind initials in citations.
    pub(crate) fn citation_initialize_with(&self) -> Option<String> {
        let own = self.citation.names.initialize_with.clone();
        own.or_else(|| {
            let all = self.macros.values().chain(std::iter::once(&self.citation.elements));
            all.flat_map(|elements| elements.iter()).find_map(|e| initialize_with(e, 0))
        })
    }
}

/// An error about the style, at its own position.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    let mut error = Error::invalid_document(message, 0, "style");
    error.position = Some(Position { offset: 0, path: "style".to_owned() });
    error
}

fn initialize_with(element: &Element, depth: usize) -> Option<String> {
    if depth > 64 {
        return None;
    }
    let inner = |elements: &[Element]| elements.iter().find_map(|e| initialize_with(e, depth + 1));
    match element {
        Element::Names(names) => names.options.initialize_with.clone(),
        Element::Group(group) => inner(&group.elements),
        Element::Choose(branches) => branches.iter().find_map(|branch| inner(&branch.elements)),
        _ => None,
    }
}
