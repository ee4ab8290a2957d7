//! Reads locales: files, and the elements of styles.

use carrel_pdk::Error;
use carrel_pdk::xml::tree::Tree;

use super::{Gender, Layer, Ordinal, OrdinalMatch, Term};
use crate::style::elements::Form;
use crate::style::invalid;
use crate::style::options::form;
use crate::style::xml::{Xml, date};

/// Reads a locale file.
///
/// # Errors
///
/// `invalid_document` when it is not a locale in XML.
pub(crate) fn read_file(xml: &str) -> Result<Layer, Error> {
    let tree = Tree::read(xml.trim_start_matches('\u{feff}').trim_start(), "a CSL locale")?;
    let root = Xml::root(&tree);
    if root.name() != "locale" {
        return Err(invalid(format!(
            "expected a CSL locale but found the element {}",
            root.name()
        )));
    }
    let mut layer = read_layer(root);
    // Straight quotation marks stay: they are the language's.
    for ((name, _), term) in &mut layer.terms {
        if name.ends_with("-quote") {
            continue;
        }
        term.single = term.single.replace('\'', "’");
        term.multiple = term.multiple.replace('\'', "’");
    }
    Ok(layer)
}

/// Reads `cs:locale`.
pub(crate) fn read_layer(node: Xml<'_, '_>) -> Layer {
    let mut layer = Layer::default();
    for child in node.children() {
        match child.name() {
            "terms" => {
                for term in child.children().filter(|term| term.name() == "term") {
                    read_term(term, &mut layer);
                }
            }
            "date" => layer.dates.push(date(child)),
            "style-options" => {
                let option = |name: &str| child.get(name).map(|value| value == "true");
                layer.punctuation_in_quote = option("punctuation-in-quote");
                layer.limit_day_ordinals = option("limit-day-ordinals-to-day-1");
            }
            _ => {}
        }
    }
    layer
}

fn gender(text: &str) -> Option<Gender> {
    match text {
        "masculine" => Some(Gender::Masculine),
        "feminine" => Some(Gender::Feminine),
        _ => None,
    }
}

fn read_term(node: Xml<'_, '_>, layer: &mut Layer) {
    let Some(name) = node.get("name") else { return };
    let of = |child: &str| node.child(child).map(|child| child.text());
    let own = || node.text();
    let single = of("single")
        .unwrap_or_else(|| if node.child("multiple").is_some() { String::new() } else { own() });
    let multiple = of("multiple").unwrap_or_else(|| single.clone());
    if name.starts_with("ordinal") || name.starts_with("long-ordinal") {
        let digits = name.rsplit('-').next().unwrap_or_default();
        let number: Option<u64> = digits.parse().ok();
        let matching = match node.get("match").as_deref() {
            Some("last-digit") => OrdinalMatch::LastDigit,
            Some("last-two-digits") => OrdinalMatch::LastTwoDigits,
            Some("whole-number") => OrdinalMatch::WholeNumber,
            _ if number.is_some_and(|number| number < 10) => OrdinalMatch::LastDigit,
            _ => OrdinalMatch::LastTwoDigits,
        };
        let gender = node.get("gender-form").and_then(|text| gender(&text));
        layer.ordinals.push(Ordinal { name, gender, matching, text: single });
        return;
    }
    let form = node.get("form").map_or(Form::Long, |text| form(&text));
    let gender = node.get("gender").and_then(|text| gender(&text));
    layer.terms.insert((name, form), Term { single, multiple, gender });
}
