//! Joins the cites of a citation: ranges of numbers, and cites of the same authors or years.

use super::RenderedCite;
use crate::output::{Mark, Node, plain};
use crate::processor::Processor;
use crate::style::options::Collapse;

/// The text of the first names of a cite.
pub(super) fn names_of(nodes: &[Node]) -> Option<String> {
    super::first_names(nodes).map(|node| plain(&[node]))
}

/// Joins cites with the delimiters of the layout.
pub(super) fn joined(processor: &Processor, cites: Vec<RenderedCite<'_>>) -> Vec<Node> {
    let options = &processor.style.citation.options;
    match options.collapse {
        Some(Collapse::CitationNumber) => numbers(processor, cites),
        None if options.cite_group_delimiter.is_none() => {
            let delimiter = processor.style.citation.delimiter.clone();
            let mut out = Vec::new();
            for cite in cites {
                let joined = cite.source.prefix.starts_with(',');
                push(&mut out, if joined { "" } else { &delimiter }, cite.nodes);
            }
            out
        }
        collapse => authors(processor, cites, collapse),
    }
}

fn push(out: &mut Vec<Node>, delimiter: &str, nodes: Vec<Node>) {
    if !out.is_empty() && !delimiter.is_empty() {
        out.push(Node::text(delimiter));
    }
    out.push(Node::plain(nodes));
}

fn numbers(processor: &Processor, cites: Vec<RenderedCite<'_>>) -> Vec<Node> {
    let layout = &processor.style.citation;
    let delimiter = layout.delimiter.as_str();
    let after = layout.options.after_collapse_delimiter.as_deref().unwrap_or(delimiter);
    let single = |cite: &RenderedCite<'_>| {
        let source = cite.source;
        (source.prefix.is_empty() && source.suffix.is_empty() && source.cite.locator.is_none())
            .then(|| processor.decided[source.item].number)
    };
    let mut out = Vec::new();
    let mut at = 0;
    let mut collapsed = false;
    while at < cites.len() {
        let mut end = at;
        while end + 1 < cites.len() {
            let follows = single(&cites[end])
                .zip(single(&cites[end + 1]))
                .is_some_and(|(number, next)| next == number + 1);
            if !follows {
                break;
            }
            end += 1;
        }
        let separator = if collapsed { after } else { delimiter };
        if end >= at + 2 {
            push(&mut out, separator, cites[at].nodes.clone());
            out.push(Node::text("–"));
            out.push(Node::plain(cites[end].nodes.clone()));
            collapsed = true;
            at = end + 1;
        } else {
            push(&mut out, separator, cites[at].nodes.clone());
            collapsed = false;
            at += 1;
        }
    }
    out
}

/// Cites of the same names are put together; with a collapse, the names are shown once.
fn authors(
    processor: &Processor,
    cites: Vec<RenderedCite<'_>>,
    collapse: Option<Collapse>,
) -> Vec<Node> {
    let layout = &processor.style.citation;
    let options = &layout.options;
    let mut groups: Vec<Vec<RenderedCite<'_>>> = Vec::new();
    for cite in cites {
        let found = cite.names.as_ref().and_then(|names| {
            groups.iter().position(|group| group[0].names.as_ref() == Some(names))
        });
        match found {
            Some(at) => groups[at].push(cite),
            None => groups.push(vec![cite]),
        }
    }
    let delimiter = layout.delimiter.as_str();
    let default = if collapse == Some(Collapse::Year) { ", " } else { delimiter };
    let within = options.cite_group_delimiter.as_deref().unwrap_or(default);
    let after = options.after_collapse_delimiter.as_deref();
    let suffixes = matches!(collapse, Some(Collapse::YearSuffix | Collapse::YearSuffixRanged));
    let suffix_delimiter = options.year_suffix_delimiter.as_deref().unwrap_or(within);
    let mut out: Vec<Node> = Vec::new();
    let mut collapsed = false;
    for group in groups {
        let separator = if collapsed { after.unwrap_or(delimiter) } else { delimiter };
        collapsed = collapse.is_some() && group.len() > 1;
        let mut year: Option<String> = None;
        let mut nodes: Vec<Node> = Vec::new();
        let mut run: Vec<usize> = Vec::new();
        for (index, cite) in group.iter().enumerate() {
            let bare = collapse.is_some() && index > 0;
            let rendered =
                if bare { processor.cite(cite.source, true) } else { cite.nodes.clone() };
            let own = year_of(&rendered);
            let suffix = processor.decided[cite.source.item].year_suffix.clone();
            let whole = cite.source.cite.locator.is_none()
                && cite.source.prefix.is_empty()
                && cite.source.suffix.is_empty();
            let before = index.checked_sub(1).and_then(|before| group.get(before));
            let same = bare
                && suffixes
                && whole
                && suffix.is_some()
                && own.is_some()
                && own == year
                && before.is_some_and(|previous| {
                    previous.source.cite.locator.is_none() && previous.source.suffix.is_empty()
                });
            year = own;
            if same {
                run.push(cite.source.item);
                continue;
            }
            flush(processor, &mut nodes, &mut run, collapse, suffix_delimiter);
            push(&mut nodes, within, rendered);
            if suffixes && whole {
                run.push(cite.source.item);
            }
        }
        flush(processor, &mut nodes, &mut run, collapse, suffix_delimiter);
        push(&mut out, separator, nodes);
    }
    out
}

/// Writes the suffixes of cites of one year; the first of the run was written with its year.
fn flush(
    processor: &Processor,
    nodes: &mut Vec<Node>,
    run: &mut Vec<usize>,
    collapse: Option<Collapse>,
    delimiter: &str,
) {
    let items = std::mem::take(run);
    let suffix = |item: usize| processor.decided[item].year_suffix.clone().unwrap_or_default();
    let order =
        |text: &str| text.bytes().fold(0_u64, |sum, byte| sum.saturating_mul(26) + u64::from(byte));
    let ranged = collapse == Some(Collapse::YearSuffixRanged);
    let mut at = 0;
    while at < items.len() {
        let mut end = at;
        while ranged
            && end + 1 < items.len()
            && order(&suffix(items[end])) + 1 == order(&suffix(items[end + 1]))
        {
            end += 1;
        }
        if at > 0 {
            nodes.push(Node::text(delimiter));
            nodes.push(Node::text(suffix(items[at])));
        }
        if end >= at + 2 {
            nodes.push(Node::text("–"));
            nodes.push(Node::text(suffix(items[end])));
            at = end + 1;
        } else {
            at += 1;
        }
    }
}

/// The year of a cite without its suffix.
fn year_of(nodes: &[Node]) -> Option<String> {
    nodes.iter().find_map(|node| match node {
        Node::Text(_) => None,
        Node::Span(span) if span.mark == Some(Mark::Year) => {
            let bare: Vec<Node> = span
                .children
                .iter()
                .filter(|child| {
                    !matches!(child, Node::Span(inner) if inner.mark == Some(Mark::YearSuffix))
                })
                .cloned()
                .collect();
            Some(plain(&bare))
        }
        Node::Span(span) => year_of(&span.children),
    })
}
