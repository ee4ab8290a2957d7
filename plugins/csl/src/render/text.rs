//! `cs:text`.

use super::{Context, RenderTarget, Rendered, has_date, pages};
use crate::output::{Mark, Node, case, decorate, markup};
use crate::style::elements::{Case, Text, TextSource};

impl<'a> Context<'a> {
    pub(super) fn text(&mut self, text: &'a Text) -> Rendered {
        match &text.source {
            TextSource::Value(value) => Rendered::constant(self.finish(markup::value(value), text)),
            TextSource::Term { name, form, plural } => {
                let term = self.locale.term(name, *form, *plural).unwrap_or_default();
                let mut nodes = vec![Node::marked(Mark::Term, vec![Node::text(term)])];
                if name == "no date" {
                    // It takes the place of a date, and its year suffix.
                    self.append_suffix(&mut nodes, "-");
                    return Rendered::variable(self.finish(nodes, text));
                }
                Rendered::constant(self.finish(nodes, text))
            }
            TextSource::Macro(name) => {
                let style = self.style;
                let Some(elements) = style.macros.get(name) else { return Rendered::default() };
                // A macro that calls itself gives nothing there.
                if self.macros.contains(&name.as_str()) {
                    return Rendered::default();
                }
                self.macros.push(name);
                let outer = self.dates_only;
                self.dates_only |= self.target == RenderTarget::SortKey && has_date(elements);
                let inner = self.elements(elements);
                let dates = std::mem::replace(&mut self.dates_only, outer);
                self.macros.pop();
                if inner.called && !inner.filled {
                    return Rendered { nodes: Vec::new(), called: true, filled: false };
                }
                let node = if dates {
                    Some(Node::plain(inner.nodes))
                } else {
                    self.finish(inner.nodes, text)
                };
                let node = node.filter(|node| !node.is_empty());
                // As for a group, what is shown counts as a value.
                let shown = node.is_some();
                let (called, filled) = (inner.called || shown, inner.filled || shown);
                Rendered { nodes: node.into_iter().collect(), called, filled }
            }
            TextSource::Variable { name, short } => {
                let nodes = self.variable(name, *short);
                Rendered::variable(nodes.and_then(|nodes| self.finish(nodes, text)))
            }
        }
    }

    fn finish(&self, mut nodes: Vec<Node>, text: &Text) -> Option<Node> {
        if let Some(case) = text.common.case {
            let term = matches!(text.source, TextSource::Term { .. });
            if let TextSource::Variable { name, .. } = &text.source
                && case == Case::CapitalizeFirst
                && crate::item::NUMBERS.contains(&name.as_str())
            {
                // Of several numbers, each begins with a capital: "Season 3, Episode 4".
                for node in &mut nodes {
                    node.each_text(&mut |text| *text = capitalized_parts(text));
                }
            }
            case::apply(&mut nodes, case, term || self.english());
        }
        decorate(nodes, &text.common)
    }

    /// Whether titles have capitals by the rules of English.
    pub(super) fn english(&self) -> bool {
        let style = self.style.default_locale.as_deref().unwrap_or("en-US");
        self.item.is_english(style.to_ascii_lowercase().starts_with("en"))
    }

    fn variable(&mut self, name: &str, short: bool) -> Option<Vec<Node>> {
        if self.suppressed.iter().any(|variable| variable == name) {
            return None;
        }
        match name {
            "citation-number" => {
                let number = self.decided.number;
                let number = (number > 0).then(|| match self.target {
                    RenderTarget::SortKey => format!("{number:08}"),
                    _ => number.to_string(),
                })?;
                return Some(vec![Node::marked(Mark::CitationNumber, vec![Node::text(number)])]);
            }
            "year-suffix" => {
                let suffix = self.decided.year_suffix.clone()?;
                self.suffixed = true;
                return Some(vec![Node::marked(Mark::YearSuffix, vec![Node::text(suffix)])]);
            }
            "citation-label" => {
                let label = format!(
                    "{}{}",
                    self.decided.label,
                    self.decided.year_suffix.as_deref().unwrap_or_default()
                );
                return (!label.is_empty()).then(|| vec![Node::text(label)]);
            }
            "first-reference-note-number" => {
                let note = self.cite.first_note?;
                return Some(vec![Node::text(note.to_string())]);
            }
            "locator" => {
                let locator = self.cite.locator.as_deref()?;
                let text = pages::locator(locator, self);
                return Some(vec![Node::marked(Mark::Locator, markup::value(&text))]);
            }
            _ => {}
        }
        let item = self.item;
        let value = if short { item.short(name) } else { item.text(name) };
        let value = value.filter(|value| !value.is_empty())?;
        self.record(name);
        match name {
            "page" | "page-first" => Some(markup::value(&pages::range(value, self))),
            "DOI" | "URL" | "PMID" | "PMCID" => Some(vec![Node::text(value)]),
            _ if crate::item::NUMBERS.contains(&name) => {
                Some(markup::value(&super::number::plain(name, value, self.locale)))
            }
            _ => Some(markup::value(value)),
        }
    }
}

/// A text in which each part behind a comma begins with a capital.
fn capitalized_parts(text: &str) -> String {
    let parts: Vec<String> = text
        .split(", ")
        .enumerate()
        .map(|(at, part)| if at == 0 { part.to_owned() } else { case::capitalized(part) })
        .collect();
    parts.join(", ")
}
