//! Tells citations of different items apart: more names, more of given names, the condition
//! `disambiguate`, and year suffixes.

mod givens;
mod names;

use std::collections::HashMap;

use crate::processor::Processor;
use crate::style::options::GivenRule;

/// The most conditions that are made to hold one after another.
const MOST_CONDITIONS: usize = 4;

/// Decides for all items, in the order of year suffixes.
pub(crate) fn decide(processor: &mut Processor, order: &[usize]) {
    let options = processor.style.citation.options.clone();
    if options.add_givenname && options.givenname_rule != GivenRule::ByCite {
        givens::expand_everywhere(processor, order, options.givenname_rule);
    }
    let by_cite = options.add_givenname && options.givenname_rule == GivenRule::ByCite;
    if !(options.add_names || by_cite || options.add_year_suffix || processor.tests_ambiguity()) {
        return;
    }
    for group in groups(processor, order) {
        names::settle(processor, group, options.add_names, by_cite);
    }
    if processor.tests_ambiguity() {
        for _ in 0..MOST_CONDITIONS {
            let groups = groups(processor, order);
            if groups.is_empty() {
                break;
            }
            for item in groups.into_iter().flatten() {
                processor.decided[item].conditions += 1;
            }
        }
    }
    if options.add_year_suffix {
        for group in groups(processor, order) {
            for (index, &item) in group.iter().enumerate() {
                processor.decided[item].year_suffix = Some(suffix(index));
            }
        }
    }
}

/// The items whose citations read alike, in the given order; groups of at least two.
fn groups(processor: &Processor, items: &[usize]) -> Vec<Vec<usize>> {
    let mut by_text: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &item in items {
        let text = processor.bare_citation(item);
        if text.trim().is_empty() {
            continue;
        }
        let at = *by_text.entry(text).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[at].push(item);
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// The year suffix at an index: a to z, aa, ab.
pub(crate) fn suffix(index: usize) -> String {
    let mut index = index + 1;
    let mut out = Vec::new();
    while index > 0 {
        index -= 1;
        out.push(char::from(b'a' + u8::try_from(index % 26).unwrap_or_default()));
        index /= 26;
    }
    out.iter().rev().collect()
}
