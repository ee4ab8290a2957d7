//! Reads a package's properties (`docProps`), and identifiers in any of them.

use carrel_pdk::document::{Document, Metadatum, Person};
use carrel_pdk::id::{ArxivId, Doi, Pmcid, Pmid};
use carrel_pdk::text::collapse;
use carrel_pdk::xml::tree::Tree;

use crate::package::{Package, Relations, target};

/// Adds a statement, unless it is blank or a duplicate.
pub(crate) fn state(
    document: &mut Document,
    name: &str,
    kind: Option<&str>,
    value: &str,
    from: &str,
) {
    let value = collapse(value).into_owned();
    if value.is_empty() || name.is_empty() {
        return;
    }
    let kind = kind.map(str::to_owned).filter(|kind| !kind.is_empty());
    let same = |entry: &Metadatum| entry.name == name && entry.kind == kind && entry.value == value;
    if !document.metadata.iter().any(same) {
        let (name, from) = (name.to_owned(), from.to_owned());
        document.metadata.push(Metadatum { name, kind, value, language: None, from });
    }
}

/// Takes an identifier of the document itself, if it is well formed.
pub(crate) fn identify(document: &mut Document, text: &str) {
    let text = text.trim();
    let bare = text.strip_prefix("urn:").unwrap_or(text);
    let lower = bare.to_ascii_lowercase();
    if let Some(isbn) = isbn(bare) {
        if !document.identifiers.isbn.contains(&isbn) {
            document.identifiers.isbn.push(isbn);
        }
    } else if let Ok(doi) = Doi::parse(bare) {
        document.identifiers.doi.get_or_insert(doi.as_str().to_owned());
    } else if lower.contains("arxiv") {
        if let Ok(id) = ArxivId::parse(bare) {
            document.identifiers.arxiv.get_or_insert(id.to_string());
        }
    } else if lower.starts_with("pmc") {
        if let Ok(id) = Pmcid::parse(bare) {
            document.identifiers.pmcid.get_or_insert(id.to_string());
        }
    } else if lower.starts_with("pmid")
        && let Ok(id) = Pmid::parse(bare)
    {
        document.identifiers.pmid.get_or_insert(id.to_string());
    }
}

/// The digits of an ISBN whose check digit is right.
pub(crate) fn isbn(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let rest = lower.strip_prefix("isbn").unwrap_or(&lower);
    let rest = rest.trim_start_matches(|character: char| ":- ".contains(character));
    let rest = rest.strip_prefix("13:").or_else(|| rest.strip_prefix("10:")).unwrap_or(rest).trim();
    if !rest.chars().all(|character| character.is_ascii_digit() || "- x".contains(character)) {
        return None;
    }
    let digits: Vec<u32> = rest
        .chars()
        .filter_map(|character| if character == 'x' { Some(10) } else { character.to_digit(10) })
        .collect();
    let right = match digits.len() {
        13 => {
            let sum: u32 =
                digits.iter().enumerate().map(|(at, d)| d * if at % 2 == 0 { 1 } else { 3 }).sum();
            !digits.contains(&10) && sum.is_multiple_of(10) && matches!(digits[..3], [9, 7, 8 | 9])
        }
        10 => {
            let sum: u32 = digits.iter().zip((1..=10).rev()).map(|(d, weight)| d * weight).sum();
            !digits[..9].contains(&10) && sum.is_multiple_of(11)
        }
        _ => false,
    };
    let write =
        |digit: &u32| if *digit == 10 { 'X' } else { char::from_digit(*digit, 10).unwrap_or('0') };
    right.then(|| digits.iter().map(write).collect())
}

/// A name in one piece.
pub(crate) fn person(name: &str) -> Person {
    Person { literal: Some(collapse(name).into_owned()), ..Person::default() }
}

/// Reads the core, extended and custom properties of a package.
pub(crate) fn read(package: &Package<'_>, relations: &Relations, document: &mut Document) {
    let mut parts: Vec<(&str, String)> = Vec::new();
    for (kind, usual) in [
        ("core-properties", "docProps/core.xml"),
        ("extended-properties", "docProps/app.xml"),
        ("custom-properties", "docProps/custom.xml"),
    ] {
        let part = target(relations, kind).unwrap_or(usual);
        parts.push((kind, part.to_owned()));
    }
    for (kind, part) in parts {
        let text = match package.text(&part) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(error) => {
                document.warn("damaged_part", error.message, Some(part));
                continue;
            }
        };
        match Tree::read(&text, "properties") {
            Ok(tree) => each(&tree, kind, &part, document),
            Err(error) => document.warn("damaged_part", error.message, Some(part)),
        }
    }
}

fn each(tree: &Tree<'_>, kind: &str, part: &str, document: &mut Document) {
    for node in tree.elements(tree.root()) {
        let Some(value) = tree.text(node) else { continue };
        let name = tree.name(node);
        let from = format!("{part} {name}");
        if kind == "custom-properties" {
            let name = tree.attribute(node, "name").unwrap_or_default();
            state(document, "property", Some(&name), &value, &from);
            if name.eq_ignore_ascii_case("doi") {
                identify(document, &value);
            }
            continue;
        }
        if kind == "extended-properties" {
            const KEPT: &[&str] =
                &["Company", "Manager", "Application", "Pages", "Words", "Slides"];
            if KEPT.contains(&name) {
                state(document, &name.to_lowercase(), None, &value, &from);
            }
            continue;
        }
        match name {
            "creator" => {
                state(document, "creator", None, &value, &from);
                let names = value.split(';').map(str::trim).filter(|name| !name.is_empty());
                document.authors.extend(names.map(person));
            }
            "title" => {
                state(document, "title", None, &value, &from);
                document.title.get_or_insert_with(|| collapse(&value).into_owned());
            }
            "language" => {
                state(document, "language", None, &value, &from);
                document.language.get_or_insert(value);
            }
            "identifier" => {
                state(document, "identifier", None, &value, &from);
                identify(document, &value);
            }
            "keywords" => state(document, "keyword", None, &value, &from),
            "lastModifiedBy" => state(document, "last_modified_by", None, &value, &from),
            "contentStatus" => state(document, "content_status", None, &value, &from),
            "lastPrinted" => state(document, "last_printed", None, &value, &from),
            other => state(document, &other.to_lowercase(), None, &value, &from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_isbn_has_the_right_check_digit() {
        assert_eq!(isbn("ISBN 978-3-16-148410-0").as_deref(), Some("9783161484100"));
        assert_eq!(isbn("isbn:0-306-40615-2").as_deref(), Some("0306406152"));
        assert_eq!(isbn("978-3-16-148410-1"), None);
        assert_eq!(isbn("1234567890"), None);
    }
}
