//! The order of items: the keys of `cs:sort`.

pub(crate) mod collation;

use std::cmp::Ordering;

use crate::item::date::{Date, Day};
use crate::item::{DATES, Item};
use crate::locale::Locale;
use crate::output::plain;
use crate::render::{Cite, Context, Decided, RenderTarget, has_date, render_for_key};
use crate::style::options::NameOptions;
use crate::style::{KeySource, SortKey, Style};
use collation::{Alphabet, CollationKey};

/// The value of a key.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub(crate) enum KeyValue {
    /// Behind all others, in both directions.
    Empty,
    Number(f64),
    Text(CollationKey),
}

/// The values of all keys of an item.
pub(crate) fn keys(
    style: &Style,
    locale: &Locale,
    names: &NameOptions,
    sort: &[SortKey],
    item: &Item,
    decided: &Decided,
    cite: &Cite,
) -> Vec<KeyValue> {
    let alphabet = locale.alphabet();
    // Names that tell citations apart do not count.
    let decided = &Decided { least_names: Vec::new(), givens: Vec::new(), ..decided.clone() };
    sort.iter()
        .map(|key| match &key.what {
            KeySource::Variable(name) => {
                let options = key.names.within(names);
                variable(style, item, decided, name, &options, alphabet)
            }
            KeySource::Macro(name) => {
                let options = key.names.within(names);
                let Some(elements) = style.macros.get(name) else { return KeyValue::Empty };
                let mut context = Context::new(
                    style,
                    locale,
                    item,
                    cite,
                    decided,
                    &options,
                    RenderTarget::SortKey,
                );
                context.forced = key.names.clone();
                context.dates_only = has_date(elements);
                text(&plain(&context.elements(elements).nodes), alphabet)
            }
        })
        .collect()
}

fn variable(
    style: &Style,
    item: &Item,
    decided: &Decided,
    name: &str,
    options: &NameOptions,
    alphabet: Alphabet,
) -> KeyValue {
    if name == "citation-number" {
        return KeyValue::Number(decided.number as f64);
    }
    if let Some(people) = item.names.get(name) {
        let shown = match (options.et_al_min, options.et_al_use_first) {
            (Some(min), Some(first)) if people.len() >= min => first,
            _ => people.len(),
        };
        let names: Vec<String> =
            people.iter().take(shown).map(|person| render_for_key(person, style.demote)).collect();
        return text(&names.join(", "), alphabet);
    }
    if DATES.contains(&name) {
        return item.dates.get(name).map_or(KeyValue::Empty, |value| text(&date(value), alphabet));
    }
    let Some(value) = item.text(name) else { return KeyValue::Empty };
    if crate::item::NUMBERS.contains(&name) {
        let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
        if let Ok(number) = digits.parse::<f64>() {
            return KeyValue::Number(number);
        }
    }
    text(&plain(&crate::output::markup::value(value)), alphabet)
}

fn text(value: &str, alphabet: Alphabet) -> KeyValue {
    if value.trim().is_empty() {
        return KeyValue::Empty;
    }
    KeyValue::Text(CollationKey::new(value, alphabet))
}

/// A date in digits whose order is that of time. Of the end of a range of years only its presence counts.
pub(crate) fn date(value: &Date) -> String {
    let Some(start) = value.start else { return String::new() };
    let mut out = day(Some(start.year), start.month, start.day);
    if let Some(end) = value.end {
        let end = if start.month.is_some() { end } else { Day::default() };
        out.push_str(&format!(" {}", day(Some(end.year), end.month, end.day)));
    }
    out
}

/// A day in digits; years before the common era come first.
pub(crate) fn day(year: Option<i64>, month: Option<u32>, day: Option<u32>) -> String {
    let year = 10_000_000 + year.unwrap_or(0).clamp(-9_000_000, 9_000_000);
    format!("{year:08}{:02}{:02}", month.unwrap_or(0), day.unwrap_or(0))
}

/// Compares the keys of two items.
pub(crate) fn compare(sort: &[SortKey], left: &[KeyValue], right: &[KeyValue]) -> Ordering {
    for (key, (left, right)) in sort.iter().zip(left.iter().zip(right)) {
        let order = match (left, right) {
            (KeyValue::Empty, KeyValue::Empty) => Ordering::Equal,
            (KeyValue::Empty, _) => Ordering::Greater,
            (_, KeyValue::Empty) => Ordering::Less,
            _ => {
                let order = left.partial_cmp(right).unwrap_or(Ordering::Equal);
                if key.descending { order.reverse() } else { order }
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}
