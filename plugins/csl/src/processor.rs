//! The processor: a style and a locale applied to items.

use std::collections::HashMap;

use crate::citation::author_form;
use crate::citation::position::{self, Cluster};
use crate::disambiguation;
use crate::item::Item;
use crate::item::name::Name;
use crate::locale::{Layer, Locale};
use crate::output::assemble::assemble;
use crate::output::format::{Format, write};
use crate::output::{Node, plain};
use crate::render::{Cite, Context, Decided, Persons, RenderTarget};
use crate::sort;
use crate::style::elements::{Branch, Condition, Element, Position, TextSource};
use crate::style::{KeySource, Style};

/// A style applied to items.
pub(crate) struct Processor {
    pub(crate) style: Style,
    pub(crate) locale: Locale,
    pub(crate) items: Vec<Item>,
    pub(crate) decided: Vec<Decided>,
    /// Persons whose given names tell them apart everywhere.
    pub(crate) persons: Persons,
    /// Shows the author of an item in running text.
    pub(crate) author_form: Element,
    tests_ambiguity: bool,
}

impl Processor {
    /// A processor for a style, in the locale `language` or that of the style.
    pub(crate) fn new(
        style: Style,
        files: &HashMap<String, Layer>,
        language: Option<&str>,
        items: Vec<Item>,
    ) -> Self {
        let language = language.or(style.default_locale.as_deref()).unwrap_or("en-US").to_owned();
        let locale = Locale::new(language.trim(), files, &style.locales);
        let decided = vec![Decided::default(); items.len()];
        let tests = |elements: &[Element]| tests_ambiguity(elements, 0);
        let tests_ambiguity =
            tests(&style.citation.elements) || style.macros.values().any(|m| tests(m));
        let persons = Persons::default();
        let author_form = author_form(&style);
        Self { style, locale, items, decided, persons, author_form, tests_ambiguity }
    }

    /// Numbers the items in the order of the bibliography, and tells their citations apart. Returns
    /// that order.
    pub(crate) fn register(&mut self, order: &[usize]) -> Vec<usize> {
        for (index, &item) in order.iter().enumerate() {
            self.decided[item].number = index + 1;
            if self.style.uses_label {
                self.decided[item].label = {
                    let own = self.items[item].text("citation-label").map(str::to_owned);
                    own.unwrap_or_else(|| crate::label::trigraph(&self.items[item]))
                };
            }
        }
        let sorted = self.sorted(order);
        if !self.sorts_by_number() {
            for (index, &item) in sorted.iter().enumerate() {
                self.decided[item].number = index + 1;
            }
        }
        disambiguation::decide(self, &sorted);
        if self.decided.iter().any(|decided| decided.year_suffix.is_some()) {
            return self.sorted(&sorted);
        }
        sorted
    }

    /// Whether the bibliography is ordered by the numbers, descending.
    fn sorts_by_number(&self) -> bool {
        let Some([key]) = self.style.bibliography.as_ref().map(|layout| layout.sort.as_slice())
        else {
            return false;
        };
        key.descending
            && match &key.what {
                KeySource::Variable(name) => name == "citation-number",
                KeySource::Macro(name) => {
                    self.style.macros.get(name).is_some_and(|elements| is_number(elements))
                }
            }
    }

    fn sorted(&self, order: &[usize]) -> Vec<usize> {
        let mut sorted = order.to_vec();
        let Some(layout) = &self.style.bibliography else { return sorted };
        if layout.sort.is_empty() {
            return sorted;
        }
        let cite = Cite::default();
        let keys: HashMap<usize, Vec<sort::KeyValue>> = order
            .iter()
            .map(|&item| {
                let keys = sort::keys(
                    &self.style,
                    &self.locale,
                    &layout.names,
                    &layout.sort,
                    &self.items[item],
                    &self.decided[item],
                    &cite,
                );
                (item, keys)
            })
            .collect();
        sorted.sort_by(|left, right| match (keys.get(left), keys.get(right)) {
            (Some(left), Some(right)) => sort::compare(&layout.sort, left, right),
            _ => std::cmp::Ordering::Equal,
        });
        sorted
    }

    /// Sets the positions of cites in a document.
    pub(crate) fn assign_positions(&self, clusters: &mut [Cluster]) {
        position::assign(clusters, self.style.citation.options.near_note_distance);
    }

    /// Writes nodes in a format.
    pub(crate) fn write(&self, nodes: &[Node], format: Format) -> String {
        let pieces = assemble(nodes, &self.locale);
        write(&pieces, format, &self.locale)
    }

    /// Whether entries of the bibliography are numbered.
    pub(crate) fn is_numbered(&self) -> bool {
        self.style.bibliography.as_ref().is_some_and(|layout| {
            layout.elements.first().is_some_and(|element| is_number(std::slice::from_ref(element)))
        })
    }

    /// Whether the style asks whether citations are ambiguous.
    pub(crate) fn tests_ambiguity(&self) -> bool {
        self.tests_ambiguity
    }

    /// A citation of an item without locator and year suffix, for comparing.
    pub(crate) fn bare_citation(&self, item: usize) -> String {
        let cite = Cite { position: Some(Position::Subsequent), ..Cite::default() };
        let decided = Decided { year_suffix: None, ..self.decided[item].clone() };
        let mut context = self.context(item, &cite, &decided, RenderTarget::Citation);
        plain(&context.elements(&self.style.citation.elements).nodes)
    }

    /// The lists of names in an item's citation, with the number of names shown of each.
    pub(crate) fn shown_lists(&self, item: usize) -> Vec<(Vec<Name>, usize)> {
        let cite = Cite { position: Some(Position::Subsequent), ..Cite::default() };
        let mut context = self.context(item, &cite, &self.decided[item], RenderTarget::Citation);
        context.elements(&self.style.citation.elements);
        context.shown
    }

    /// The lists of names in an item's entry.
    pub(crate) fn entry_lists(&self, item: usize) -> Vec<(Vec<Name>, usize)> {
        let Some(layout) = &self.style.bibliography else { return Vec::new() };
        let cite = Cite::default();
        let mut context =
            self.context(item, &cite, &self.decided[item], RenderTarget::Bibliography);
        context.elements(&layout.elements);
        context.shown
    }

    /// A context for rendering an item.
    pub(crate) fn context<'c>(
        &'c self,
        item: usize,
        cite: &'c Cite,
        decided: &'c Decided,
        target: RenderTarget,
    ) -> Context<'c> {
        let names = match (&self.style.bibliography, target) {
            (Some(layout), RenderTarget::Bibliography) => &layout.names,
            _ => &self.style.citation.names,
        };
        let item = &self.items[item];
        let mut context =
            Context::new(&self.style, &self.locale, item, cite, decided, names, target);
        context.persons = Some(&self.persons);
        context
    }
}

fn tests_ambiguity(elements: &[Element], depth: usize) -> bool {
    let branch = |branch: &Branch| {
        let own = |test: &Condition| matches!(test, Condition::Disambiguate(_));
        branch.conditions.iter().any(own) || tests_ambiguity(&branch.elements, depth + 1)
    };
    depth < 64
        && elements.iter().any(|element| match element {
            Element::Choose(branches) => branches.iter().any(branch),
            Element::Group(group) => tests_ambiguity(&group.elements, depth + 1),
            Element::Names(names) => tests_ambiguity(&names.substitute, depth + 1),
            _ => false,
        })
}

/// Whether elements show the number of a citation, and nothing else.
fn is_number(elements: &[Element]) -> bool {
    matches!(elements, [Element::Text(text)] if matches!(
        &text.source,
        TextSource::Variable { name, .. } if name == "citation-number"
    )) || matches!(elements, [Element::Number(number)] if number.variable == "citation-number")
}
