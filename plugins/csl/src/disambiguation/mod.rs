//! Tells citations of different items apart: more names, more of given names, the condition
//! `disambiguate`, and year suffixes.

mod givens;

use std::collections::HashMap;

use crate::processor::Processor;
use crate::render::{Decided, Given};
use crate::style::options::GivenRule;

/// The most names that are added one by one.
const MOST_NAMES: usize = 50;

/// The most conditions that are made to hold one after another.
const MOST_CONDITIONS: usize = 4;

/// Decides for all items, in the order of year suffixes.
pub(crate) fn decide(processor: &mut Processor<'_>, order: &[usize]) {
    let options = processor.style.citation.options.clone();
    if options.add_givenname && options.givenname_rule != GivenRule::ByCite {
        givens::expand_everywhere(processor, order, options.givenname_rule);
    }
    let by_cite = options.add_givenname && options.givenname_rule == GivenRule::ByCite;
    if !(options.add_names || by_cite || options.add_year_suffix || processor.tests_ambiguity()) {
        return;
    }
    for group in groups(processor, order) {
        settle(processor, group, options.add_names, by_cite);
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
fn groups(processor: &Processor<'_>, items: &[usize]) -> Vec<Vec<usize>> {
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

/// The parts of a group after a change, single items included.
fn split(processor: &Processor<'_>, group: &[usize]) -> Vec<Vec<usize>> {
    let mut by_text: HashMap<String, usize> = HashMap::new();
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for &item in group {
        let text = processor.bare_citation(item);
        let at = *by_text.entry(text).or_insert_with(|| {
            parts.push(Vec::new());
            parts.len() - 1
        });
        parts[at].push(item);
    }
    parts
}

/// Adds names and given names to a group of ambiguous citations, as far as they tell them apart.
fn settle(processor: &mut Processor<'_>, group: Vec<usize>, names: bool, givens: bool) {
    let mut rest = vec![group];
    if givens {
        rest = rest.into_iter().flat_map(|group| add_givens(processor, group)).collect();
    }
    if names {
        rest = rest
            .into_iter()
            .filter(|group| group.len() > 1)
            .flat_map(|group| add_names(processor, group, givens))
            .collect();
    }
    drop(rest);
}

fn add_names(processor: &mut Processor<'_>, group: Vec<usize>, givens: bool) -> Vec<Vec<usize>> {
    if group.len() < 2 {
        return vec![group];
    }
    let before: Vec<Decided> = group.iter().map(|&item| processor.decided[item].clone()).collect();
    let most = processor.hidden_names(&group).min(MOST_NAMES);
    for _ in 0..most {
        for &item in &group {
            let shown: Vec<usize> =
                processor.shown_lists(item).into_iter().map(|(_, shown)| shown + 1).collect();
            processor.decided[item].least_names = shown;
        }
        let parts = split(processor, &group);
        if parts.len() > 1 {
            return parts
                .into_iter()
                .flat_map(|part| add_names(processor, part, givens))
                .collect();
        }
        if givens {
            let parts = add_givens(processor, group.clone());
            if parts.len() > 1 {
                return parts
                    .into_iter()
                    .flat_map(|part| add_names(processor, part, givens))
                    .collect();
            }
        }
    }
    for (&item, decided) in group.iter().zip(before) {
        processor.decided[item] = decided;
    }
    vec![group]
}

/// Expands given names from the first name on, where that tells items apart.
fn add_givens(processor: &mut Processor<'_>, group: Vec<usize>) -> Vec<Vec<usize>> {
    if group.len() < 2 {
        return vec![group];
    }
    let places = processor.shown_names(&group);
    for (list, count) in places.into_iter().enumerate() {
        for name in 0..count.min(MOST_NAMES) {
            for level in [Given::Initials, Given::Full] {
                let before: Vec<Decided> =
                    group.iter().map(|&item| processor.decided[item].clone()).collect();
                if before.iter().all(|decided| level_of(decided, list, name) >= level) {
                    continue;
                }
                for &item in &group {
                    raise(&mut processor.decided[item], list, name, level);
                }
                let parts = split(processor, &group);
                if parts.len() > 1 {
                    return parts
                        .into_iter()
                        .flat_map(|part| add_givens(processor, part))
                        .collect();
                }
                for (&item, decided) in group.iter().zip(before) {
                    processor.decided[item] = decided;
                }
            }
        }
    }
    vec![group]
}

fn level_of(decided: &Decided, list: usize, name: usize) -> Given {
    decided.givens.get(list).and_then(|list| list.get(name)).copied().unwrap_or_default()
}

/// Shows at least that much of a given name.
fn raise(decided: &mut Decided, list: usize, name: usize, level: Given) {
    if decided.givens.len() <= list {
        decided.givens.resize(list + 1, Vec::new());
    }
    let levels = &mut decided.givens[list];
    if levels.len() <= name {
        levels.resize(name + 1, Given::Style);
    }
    levels[name] = levels[name].max(level);
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
