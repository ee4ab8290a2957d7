//! Renders the elements of a style for one item.

mod choose;
mod date;
mod label;
mod name;
mod names;
mod number;
mod pages;
mod text;

use std::collections::HashMap;

use crate::item::Item;
use crate::item::name::Name;
use crate::locale::Locale;
use crate::output::{Node, decorate, join, join_for_key};
use crate::style::Style;
use crate::style::elements::{Element, Group, Position, Text, TextSource};
use crate::style::options::NameOptions;

pub(crate) use name::{Given, initialize, render_for_key};

/// The deepest nesting of elements and macros; that of published styles is below 70.
const DEEPEST: usize = 128;

/// The most elements that are rendered for an item. Macros that call others twice each would have no end.
const MOST_ELEMENTS: usize = 50_000;

/// What a citation says about one of its items.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cite {
    pub(crate) locator: Option<String>,
    pub(crate) label: Option<String>,
    pub(crate) position: Option<Position>,
    pub(crate) near_note: bool,
    pub(crate) first_note: Option<u64>,
    pub(crate) suppress_author: bool,
    pub(crate) author_only: bool,
}

/// What the document has decided about an item: its number, and how it is told from others.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Decided {
    pub(crate) number: usize,
    pub(crate) year_suffix: Option<String>,
    pub(crate) label: String,
    /// How many conditions `disambiguate` hold, from the first one on.
    pub(crate) conditions: usize,
    /// The least number of names that are shown, by list.
    pub(crate) least_names: Vec<usize>,
    /// How much of the given name is shown, by list and name.
    pub(crate) givens: Vec<Vec<Given>>,
}

/// How much of the given names of persons is shown everywhere.
#[derive(Debug, Default)]
pub(crate) struct Persons {
    /// Only that of the first name of a list.
    pub(crate) primary: bool,
    pub(crate) levels: HashMap<Name, Given>,
}

/// Where an item is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RenderTarget {
    Citation,
    Bibliography,
    SortKey,
}

/// The state of rendering one item.
pub(crate) struct Context<'a> {
    pub(crate) style: &'a Style,
    pub(crate) locale: &'a Locale,
    pub(crate) item: &'a Item,
    pub(crate) cite: &'a Cite,
    pub(crate) decided: &'a Decided,
    pub(crate) names: &'a NameOptions,
    pub(crate) target: RenderTarget,
    pub(crate) persons: Option<&'a Persons>,
    /// Variables that a `cs:substitute` has rendered.
    pub(crate) suppressed: Vec<String>,
    /// Lists of names that were rendered.
    pub(crate) lists: usize,
    /// The names of each list that was rendered, with the number of those that are shown.
    pub(crate) shown: Vec<(Vec<Name>, usize)>,
    pub(crate) suffixed: bool,
    /// How many conditions `disambiguate` were tested.
    pub(crate) tested: usize,
    depth: usize,
    /// Elements that were rendered.
    rendered: usize,
    /// The macros that are being rendered.
    macros: Vec<&'a str>,
    /// Variables with a value that were rendered, while a `cs:substitute` is.
    recorded: Option<Vec<String>>,
    /// Of a sort key's macro that has dates, only those are rendered.
    pub(crate) dates_only: bool,
    /// The options of a sort key, which prevail over those of elements.
    pub(crate) forced: NameOptions,
    /// The names element whose `cs:substitute` is rendered.
    parents: Vec<&'a crate::style::elements::Names>,
}

/// What an element gave.
#[derive(Debug, Default)]
pub(crate) struct Rendered {
    pub(crate) nodes: Vec<Node>,
    /// It called a variable.
    pub(crate) called: bool,
    /// A variable that it called has a value.
    pub(crate) filled: bool,
}

impl Rendered {
    /// Text that does not depend on a variable.
    fn constant(node: Option<Node>) -> Self {
        Self { nodes: node.into_iter().collect(), called: false, filled: false }
    }

    /// The value of a variable.
    fn variable(node: Option<Node>) -> Self {
        let filled = node.is_some();
        Self { nodes: node.into_iter().collect(), called: true, filled }
    }
}

impl<'a> Context<'a> {
    /// A context for one rendering.
    pub(crate) fn new(
        style: &'a Style,
        locale: &'a Locale,
        item: &'a Item,
        cite: &'a Cite,
        decided: &'a Decided,
        names: &'a NameOptions,
        target: RenderTarget,
    ) -> Self {
        Self {
            style,
            locale,
            item,
            cite,
            decided,
            names,
            target,
            persons: None,
            suppressed: Vec::new(),
            lists: 0,
            shown: Vec::new(),
            suffixed: false,
            tested: 0,
            depth: 0,
            rendered: 0,
            macros: Vec::new(),
            recorded: None,
            dates_only: false,
            forced: NameOptions::default(),
            parents: Vec::new(),
        }
    }

    /// Renders elements one after another.
    pub(crate) fn elements(&mut self, elements: &'a [Element]) -> Rendered {
        let mut all = Rendered::default();
        if self.depth >= DEEPEST {
            return all;
        }
        self.depth += 1;
        for element in elements {
            let rendered = self.element(element);
            all.called |= rendered.called;
            all.filled |= rendered.filled;
            all.nodes.extend(rendered.nodes.into_iter().filter(|node| !node.is_empty()));
        }
        self.depth -= 1;
        all
    }

    /// Renders an element.
    pub(crate) fn element(&mut self, element: &'a Element) -> Rendered {
        self.rendered += 1;
        if self.rendered > MOST_ELEMENTS {
            return Rendered::default();
        }
        match element {
            Element::Text(text) if self.dates_only => self.dates(text),
            Element::Number(_) | Element::Label(_) if self.dates_only => Rendered::default(),
            Element::Text(text) => self.text(text),
            Element::Number(number) => self.number(number),
            Element::Label(label) => self.label(label),
            Element::Date(date) => self.date(date),
            Element::Names(names) => self.names(names),
            Element::Group(group) => self.group(group),
            Element::Choose(branches) => self.choose(branches),
        }
    }

    /// Renders the dates of a macro for a sort key; other text is nothing there.
    fn dates(&mut self, text: &'a Text) -> Rendered {
        match &text.source {
            TextSource::Macro(_) => self.text(text),
            _ => Rendered::default(),
        }
    }

    fn group(&mut self, group: &'a Group) -> Rendered {
        let inner = self.elements(&group.elements);
        if inner.called && !inner.filled {
            return Rendered { nodes: Vec::new(), called: true, filled: false };
        }
        let node = if self.dates_only {
            Some(Node::plain(inner.nodes)).filter(|node| !node.is_empty())
        } else if self.target == RenderTarget::SortKey {
            decorate(join_for_key(inner.nodes, &group.delimiter), &group.common)
        } else {
            decorate(join(inner.nodes, &group.delimiter), &group.common)
        };
        let shown = node.is_some();
        // A group that is shown counts as a variable with a value for the group around it.
        Rendered {
            nodes: node.into_iter().collect(),
            called: inner.called || shown,
            filled: inner.filled || shown,
        }
    }
}

/// Whether elements have a date, besides those of macros that they call.
pub(crate) fn has_date(elements: &[Element]) -> bool {
    elements.iter().any(|element| match element {
        Element::Date(_) => true,
        Element::Group(group) => has_date(&group.elements),
        Element::Names(names) => has_date(&names.substitute),
        Element::Choose(branches) => branches.iter().any(|branch| has_date(&branch.elements)),
        Element::Text(_) | Element::Number(_) | Element::Label(_) => false,
    })
}
