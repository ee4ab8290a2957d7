//! The bibliography: its entries, the substitute of repeated authors, and its layout.

use crate::output::{Mark, Node, Span, case, decorate, markup, plain};
use crate::processor::Processor;
use crate::render::{Cite, RenderTarget};
use crate::style::elements::{Common, Display};
use crate::style::options::SubstituteRule;

/// An entry.
pub(crate) struct Entry {
    pub(crate) item: usize,
    pub(crate) nodes: Vec<Node>,
    /// The first field of a second-field-align.
    pub(crate) label: Option<Vec<Node>>,
}

impl Processor {
    /// Renders the entries of items, in the given order.
    pub(crate) fn entries(&self, order: &[usize]) -> Vec<Entry> {
        let mut before: Option<Vec<String>> = None;
        order.iter().filter_map(|&item| self.entry(item, &mut before)).collect()
    }

    fn entry(&self, item: usize, before: &mut Option<Vec<String>>) -> Option<Entry> {
        let layout = self.style.bibliography.as_ref()?;
        let cite = Cite::default();
        let mut context =
            self.context(item, &cite, &self.decided[item], RenderTarget::Bibliography);
        let mut fields: Vec<Vec<Node>> = Vec::new();
        for element in &layout.elements {
            let nodes = context.element(element).nodes;
            if !nodes.iter().all(Node::is_empty) {
                fields.push(nodes);
            }
        }
        if let Some(substitute) = &layout.options.subsequent_author_substitute {
            let names = fields.iter_mut().find_map(|nodes| find_names(nodes));
            let own = names.as_ref().and_then(|span| match &span.mark {
                Some(Mark::Names(names)) => Some(names.clone()),
                _ => None,
            });
            if let (Some(span), Some(old), Some(own)) = (names, before.as_ref(), own.as_ref()) {
                substitute_names(span, old, own, substitute, layout.options.substitute_rule);
            }
            *before = own;
        }
        let aligned = layout.options.second_field_align.is_some() && fields.len() > 1;
        let numbered = fields.len() == 1 && layout.elements.len() > 1 && self.is_numbered();
        let mut label = None;
        let mut nodes = Vec::new();
        let mut fields = fields.into_iter();
        if aligned {
            let first = fields.next().unwrap_or_default();
            label = Some(first.clone());
            nodes.extend(displayed(first, Display::LeftMargin));
        }
        let mut rest: Vec<Node> = fields.flatten().collect();
        case::capitalize_leading_term(&mut rest);
        if numbered && starts_with_number(&rest) {
            rest.push(Node::text("[CSL STYLE ERROR: reference with no printed form.]"));
        }
        if rest.is_empty() && label.is_none() && !self.is_numbered() {
            return None;
        }
        if rest.is_empty() {
            rest.push(Node::text("[CSL STYLE ERROR: reference with no printed form.]"));
        }
        if !layout.prefix.is_empty() {
            rest.splice(0..0, markup::affix(&layout.prefix));
        }
        if !layout.suffix.is_empty() {
            let block = rest.last_mut().and_then(|node| match node {
                Node::Span(span) if span.display.is_some() => Some(&mut span.children),
                _ => None,
            });
            match block {
                Some(children) => children.extend(markup::affix(&layout.suffix)),
                None => rest.extend(markup::affix(&layout.suffix)),
            }
        }
        if aligned {
            nodes.extend(displayed(rest, Display::RightInline));
        } else {
            nodes.extend(rest);
        }
        let nodes = vec![Node::Span(Box::new(Span {
            formatting: layout.formatting,
            children: nodes,
            ..Span::default()
        }))];
        Some(Entry { item, nodes, label })
    }
}

/// Whether nodes show nothing but the number of the citation.
fn starts_with_number(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Span(span) => {
            span.mark == Some(Mark::CitationNumber) || starts_with_number(&span.children)
        }
        Node::Text(_) => false,
    })
}

fn displayed(nodes: Vec<Node>, display: Display) -> Option<Node> {
    decorate(nodes, &Common { display: Some(display), ..Common::default() })
}

fn find_names(nodes: &mut [Node]) -> Option<&mut Span> {
    for node in nodes {
        if let Node::Span(span) = node {
            if matches!(span.mark, Some(Mark::Names(_))) {
                return Some(span);
            }
            if let Some(found) = find_names(&mut span.children) {
                return Some(found);
            }
        }
    }
    None
}

fn substitute_names(
    span: &mut Span,
    old: &[String],
    own: &[String],
    substitute: &str,
    rule: SubstituteRule,
) {
    let same = old.iter().zip(own).take_while(|(old, own)| old == own).count();
    let complete = old == own;
    let count = match rule {
        SubstituteRule::CompleteAll => {
            if complete {
                span.children =
                    if substitute.is_empty() { Vec::new() } else { vec![Node::text(substitute)] };
            }
            return;
        }
        SubstituteRule::CompleteEach if complete => own.len(),
        SubstituteRule::CompleteEach => 0,
        SubstituteRule::PartialEach => same,
        SubstituteRule::PartialFirst => same.min(1),
    };
    let mut left = count;
    replace_each(&mut span.children, substitute, &mut left);
}

fn replace_each(nodes: &mut [Node], substitute: &str, left: &mut usize) {
    for node in nodes {
        if *left == 0 {
            return;
        }
        if let Node::Span(span) = node {
            if span.mark == Some(Mark::Name) {
                span.children = vec![Node::text(substitute)];
                *left -= 1;
            } else {
                replace_each(&mut span.children, substitute, left);
            }
        }
    }
}

/// The text of nodes, for labels.
pub(crate) fn text(nodes: &[Node]) -> String {
    plain(nodes)
}
