//! Formatted text: a tree of spans, its assembly with the rules for punctuation, and its formats.

pub(crate) mod assemble;
pub(crate) mod case;
pub(crate) mod format;
pub(crate) mod markup;

use crate::style::elements::{Common, Display, Formatting};
use crate::style::options::PLAIN;

/// A node of formatted text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Text(String),
    Span(Box<Span>),
}

/// Formatted text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Span {
    pub(crate) formatting: Formatting,
    pub(crate) quotes: Quotes,
    pub(crate) display: Option<Display>,
    pub(crate) mark: Option<Mark>,
    pub(crate) children: Vec<Node>,
}

/// Quotation marks around a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Quotes {
    #[default]
    None,
    /// Outer or inner ones, by the depth.
    Quoted,
    /// These, as they are in a value; if they are the locale's, they are as `Quoted`.
    Given(char, char),
}

/// What a span is, for collapsing, substitution and text case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mark {
    /// A value of several pieces, between which punctuation stays as it is.
    Value,
    /// Text without decoration.
    NoDecoration,
    /// Text that keeps its case.
    NoCase,
    /// A term or a label, which begins with a capital where an entry begins with it.
    Term,
    /// The names of a `cs:names` that are shown, each with all its parts.
    Names(Vec<String>),
    /// One of the names of a `Names`.
    Name,
    /// A year suffix.
    YearSuffix,
    /// A date's year with its suffix.
    Year,
    /// A date of a sort key.
    SortableDate,
    /// The number of a citation.
    CitationNumber,
    /// A locator.
    Locator,
}

impl Node {
    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A span without formatting.
    pub(crate) fn plain(children: Vec<Self>) -> Self {
        Self::Span(Box::new(Span { children, ..Span::default() }))
    }

    /// A span with a mark.
    pub(crate) fn marked(mark: Mark, children: Vec<Self>) -> Self {
        Self::Span(Box::new(Span { mark: Some(mark), children, ..Span::default() }))
    }

    /// A span with formatting.
    pub(crate) fn formatted(formatting: Formatting, children: Vec<Self>) -> Self {
        if formatting == PLAIN {
            return Self::plain(children);
        }
        Self::Span(Box::new(Span { formatting, children, ..Span::default() }))
    }

    /// Whether there is no text inside.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Span(span) => span.children.iter().all(Self::is_empty),
        }
    }

    /// Whether there is nothing but dates of a sort key.
    fn is_sortable_date(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Span(span) => {
                span.mark == Some(Mark::SortableDate)
                    || (!span.children.is_empty()
                        && span.children.iter().all(Self::is_sortable_date))
            }
        }
    }

    /// The text without its formatting.
    pub(crate) fn push_plain(&self, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Span(span) => {
                if let Quotes::Given(open, _) = span.quotes {
                    out.push(open);
                }
                span.children.iter().for_each(|child| child.push_plain(out));
                if let Quotes::Given(_, close) = span.quotes {
                    out.push(close);
                }
            }
        }
    }

    /// Applies a function to every text, in order.
    pub(crate) fn each_text(&mut self, change: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Text(text) => change(text),
            Self::Span(span) => span.children.iter_mut().for_each(|child| child.each_text(change)),
        }
    }
}

/// The text of nodes without their formatting.
pub(crate) fn plain(nodes: &[Node]) -> String {
    let mut out = String::new();
    nodes.iter().for_each(|node| node.push_plain(&mut out));
    out
}

/// Joins nodes of a sort key with a delimiter; dates follow one another without any.
pub(crate) fn join_for_key(nodes: Vec<Node>, delimiter: &str) -> Vec<Node> {
    let mut out: Vec<Node> = Vec::with_capacity(nodes.len() * 2);
    for node in nodes {
        if out.last().is_some_and(|last| !(last.is_sortable_date() && node.is_sortable_date())) {
            out.push(Node::text(delimiter));
        }
        out.push(node);
    }
    out
}

/// Applies an element's attributes to its content: text case was applied before.
pub(crate) fn decorate(mut nodes: Vec<Node>, common: &Common) -> Option<Node> {
    if nodes.iter().all(Node::is_empty) {
        return None;
    }
    if common.strip_periods {
        nodes.iter_mut().for_each(|node| node.each_text(&mut |text| *text = text.replace('.', "")));
    }
    let quotes = if common.quotes { Quotes::Quoted } else { Quotes::None };
    let inner = Span { formatting: common.formatting, quotes, children: nodes, ..Span::default() };
    let mut all = Vec::with_capacity(3);
    if !common.prefix.is_empty() {
        all.extend(markup::affix(&common.prefix));
    }
    all.push(Node::Span(Box::new(inner)));
    if !common.suffix.is_empty() {
        all.extend(markup::affix(&common.suffix));
    }
    let span = Span { display: common.display, children: all, ..Span::default() };
    Some(Node::Span(Box::new(span)))
}

/// Joins nodes with a delimiter.
pub(crate) fn join(nodes: Vec<Node>, delimiter: &str) -> Vec<Node> {
    let mut out = Vec::with_capacity(nodes.len() * 2);
    for node in nodes {
        if !out.is_empty() && !delimiter.is_empty() {
            out.push(Node::text(delimiter));
        }
        out.push(node);
    }
    out
}
