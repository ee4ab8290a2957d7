//! Variables in the lines of a note: "DOI: 10.5555/x", as reference managers without a field for a
//! variable store it.

use super::date::Date;
use super::name::Name;
use super::{DATES, Item, NAMES};

/// Sets the variables that a note names, and returns what is left of the note.
pub(super) fn apply(note: &str, item: &mut Item) -> String {
    let note = braced(note, item);
    let mut remaining: Vec<&str> = Vec::new();
    let mut names: Vec<(String, Vec<Name>)> = Vec::new();
    let lines: Vec<&str> = note.lines().collect();
    let mut at = 0;
    let mut any = false;
    while at < lines.len() {
        let line = lines[at].trim();
        match variable(line) {
            Some((key, value)) => {
                any = true;
                if NAMES.contains(&key) {
                    let name = name(value);
                    match names.iter_mut().find(|(old, _)| old == key) {
                        Some((_, list)) => list.push(name),
                        None => names.push((key.to_owned(), vec![name])),
                    }
                } else if !set(item, key, value) {
                    remaining.push(lines[at]);
                }
            }
            None if at == 0 || line.is_empty() => remaining.push(lines[at]),
            None => break,
        }
        at += 1;
    }
    for (key, list) in names {
        item.names.entry(key).or_insert(list);
    }
    if !any {
        return note.trim().to_owned();
    }
    remaining.extend(&lines[at..]);
    remaining.join("\n").trim().to_owned()
}

/// Sets the variables of the form `{:DOI: 10.5555/x}` and returns the note without them.
fn braced(note: &str, item: &mut Item) -> String {
    let mut out = String::new();
    let mut rest = note;
    while let Some(at) = rest.find("{:") {
        let Some(length) = rest[at..].find('}') else { break };
        let inner = &rest[at + 2..at + length];
        out.push_str(&rest[..at]);
        match variable(inner) {
            Some((key, value)) => {
                set(item, key, value);
            }
            None => out.push_str(&rest[at..=at + length]),
        }
        rest = &rest[at + length + 1..];
    }
    out.push_str(rest);
    out
}

/// The variable and the value of a line.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let lower = key.bytes().all(|b| b.is_ascii_lowercase() || b == b'-' || b == b'_');
    let upper = key.bytes().all(|b| b.is_ascii_uppercase());
    let value = value.trim();
    (!key.is_empty() && (lower || upper) && !value.is_empty()).then_some((key, value))
}

/// Sets a variable; `false` when the item has another value for it.
fn set(item: &mut Item, key: &str, value: &str) -> bool {
    if key == "type" {
        item.kind = value.to_owned();
        return true;
    }
    if DATES.contains(&key) {
        if let Some(date) = Date::parse(value) {
            item.dates.insert(key.to_owned(), date);
        }
        return true;
    }
    if item.texts.contains_key(key) {
        return false;
    }
    item.texts.insert(key.to_owned(), value.to_owned());
    true
}

fn name(value: &str) -> Name {
    let Some((family, given)) = value.split_once("||") else { return Name::literal(value) };
    let mut name = Name {
        family: family.trim().to_owned(),
        given: given.trim().to_owned(),
        ..Name::default()
    };
    super::particles::parse(&mut name);
    name
}
