//! Citations: clusters of cites, their order, and how they collapse.

mod collapse;
pub(crate) mod position;

use crate::output::{Mark, Node, Span, case, join, markup};
use crate::processor::Processor;
use crate::render::{Cite, RenderTarget, Rendered};
use crate::sort;
use crate::style::Style;
use crate::style::elements::{Common, Element, Names, Text, TextSource};
use crate::style::options::{And, NameForm, NameOptions};

/// One item of a citation.
#[derive(Debug, Clone, Default)]
pub(crate) struct CiteItem {
    /// The index of the item.
    pub(crate) item: usize,
    pub(crate) cite: Cite,
    pub(crate) prefix: String,
    pub(crate) suffix: String,
}

/// A cite that is rendered.
pub(crate) struct RenderedCite<'c> {
    pub(crate) source: &'c CiteItem,
    pub(crate) nodes: Vec<Node>,
    /// The names that it begins with.
    pub(crate) names: Option<String>,
}

impl Processor {
    /// Renders a citation's cites in their order.
    pub(crate) fn citation(&self, cites: &[CiteItem]) -> Vec<Node> {
        let layout = &self.style.citation;
        let mut order: Vec<(&CiteItem, Vec<sort::KeyValue>)> = cites
            .iter()
            .map(|cite| {
                let (item, decided) = (&self.items[cite.item], &self.decided[cite.item]);
                let keys = sort::keys(
                    &self.style,
                    &self.locale,
                    &layout.names,
                    &layout.sort,
                    item,
                    decided,
                    &cite.cite,
                );
                (cite, keys)
            })
            .collect();
        if !layout.sort.is_empty() {
            order.sort_by(|left, right| {
                let number = |cite: &CiteItem| self.decided[cite.item].number;
                sort::compare(&layout.sort, &left.1, &right.1)
                    .then_with(|| number(left.0).cmp(&number(right.0)))
            });
        }
        let rendered: Vec<RenderedCite<'_>> = order
            .into_iter()
            .map(|(source, _)| {
                let nodes = self.cite(source, false);
                let names = collapse::names_of(&nodes);
                RenderedCite { source, nodes, names }
            })
            .filter(|cite| !cite.nodes.iter().all(Node::is_empty))
            .collect();
        if cites.iter().all(|cite| cite.cite.author_only) {
            let delimiter = if layout.delimiter.ends_with(' ') { &layout.delimiter } else { ", " };
            return join(
                rendered.into_iter().map(|cite| Node::plain(cite.nodes)).collect(),
                delimiter,
            );
        }
        let nodes = collapse::joined(self, rendered);
        if nodes.iter().all(Node::is_empty) {
            return Vec::new();
        }
        let mut children = Vec::new();
        if !layout.prefix.is_empty() {
            children.extend(markup::affix(&layout.prefix));
        }
        children.extend(nodes);
        if !layout.suffix.is_empty() {
            children.extend(markup::affix(&layout.suffix));
        }
        vec![Node::Span(Box::new(Span {
            formatting: layout.formatting,
            children,
            ..Span::default()
        }))]
    }

    /// Renders one cite with its affixes; `without_names` leaves its first names out.
    pub(crate) fn cite(&self, source: &CiteItem, without_names: bool) -> Vec<Node> {
        let mut cite = source.cite.clone();
        cite.suppress_author |= without_names;
        let rendered = self.render_cite(source.item, &cite);
        let mut nodes = rendered.nodes;
        if source.cite.author_only {
            nodes = match first_names(&nodes) {
                Some(names) => vec![names],
                None => self.author(source.item),
            };
        }
        if nodes.iter().all(Node::is_empty) {
            return Vec::new();
        }
        let sentence = source.prefix.trim_end();
        let note = self.style.citation.prefix.is_empty();
        if note && (sentence.is_empty() || sentence.ends_with(['.', '!', '?'])) {
            case::capitalize_leading_term(&mut nodes);
        }
        let mut out = Vec::new();
        if !source.prefix.is_empty() {
            let mut prefix = source.prefix.clone();
            if prefix.chars().next_back().is_some_and(|c| c.is_alphanumeric() || ".,;:".contains(c))
            {
                prefix.push(' ');
            }
            out.extend(markup::value(&prefix));
        }
        out.extend(nodes);
        if !source.suffix.is_empty() {
            let mut suffix = source.suffix.clone();
            if suffix.chars().next().is_some_and(|c| c.is_alphanumeric() || "([".contains(c)) {
                suffix.insert(0, ' ');
            }
            out.extend(markup::value(&suffix));
        }
        out
    }

    /// Renders the author of an item for running text, where the style's citations have no names.
    fn author(&self, item: usize) -> Vec<Node> {
        let cite = Cite::default();
        let mut context = self.context(item, &cite, &self.decided[item], RenderTarget::Citation);
        context.element(&self.author_form).nodes
    }

    /// Renders an item by the citation's layout, without the layout's affixes.
    pub(crate) fn render_cite(&self, item: usize, cite: &Cite) -> Rendered {
        let mut context = self.context(item, cite, &self.decided[item], RenderTarget::Citation);
        context.elements(&self.style.citation.elements)
    }
}

/// What shows the author of an item in running text: short names, or a title in their place.
pub(crate) fn author_form(style: &Style) -> Element {
    let names = |variable: &str, options: NameOptions, substitute: Vec<Element>| {
        Element::Names(Box::new(Names {
            variables: vec![variable.to_owned()],
            options,
            substitute,
            ..Names::default()
        }))
    };
    let title = Element::Text(Box::new(Text {
        common: Common::default(),
        source: TextSource::Variable { name: "title".to_owned(), short: true },
    }));
    let substitutes =
        ["editor", "translator"].map(|name| names(name, NameOptions::default(), Vec::new()));
    let truncated = style.citation.names.et_al_min.is_none();
    let options = NameOptions {
        and: Some(And::Text),
        form: Some(NameForm::Short),
        et_al_min: truncated.then_some(3),
        et_al_use_first: truncated.then_some(1),
        ..NameOptions::default()
    };
    names("author", options, substitutes.into_iter().chain([title]).collect())
}

/// The first names of a cite.
fn first_names(nodes: &[Node]) -> Option<Node> {
    nodes.iter().find_map(|node| match node {
        Node::Span(span) if matches!(span.mark, Some(Mark::Names(_))) => Some(node.clone()),
        Node::Span(span) => first_names(&span.children),
        Node::Text(_) => None,
    })
}
