//! Labels such as `Doe99`, of the variable `citation-label`.

use crate::item::Item;

/// The label of an item: letters of its authors and two digits of its year.
pub(crate) fn trigraph(item: &Item) -> String {
    let people =
        ["author", "editor", "translator"].iter().find_map(|variable| item.names.get(*variable));
    let families: Vec<String> = people
        .map(|people| {
            let family = |name: &crate::item::name::Name| {
                name.literal.clone().unwrap_or_else(|| name.family.clone())
            };
            people.iter().map(family).collect()
        })
        .unwrap_or_default();
    let each = match families.len() {
        0 | 1 => 4,
        2 | 3 => 2,
        _ => 1,
    };
    let mut out = String::new();
    for family in families.iter().take(4) {
        let start = family.chars().position(char::is_uppercase).unwrap_or(0);
        out.extend(family.chars().skip(start).filter(|c| c.is_alphabetic()).take(each));
    }
    if out.is_empty() {
        let title = item.text("title").unwrap_or_default();
        out.extend(title.chars().filter(|c| c.is_alphabetic()).take(4));
    }
    if let Some(day) = item.dates.get("issued").and_then(|date| date.start) {
        out.push_str(&format!("{:02}", day.year.rem_euclid(100)));
    }
    out
}
