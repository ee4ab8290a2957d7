//! Citations: `<ref>` of JATS, `<biblStruct>` and `<bibl>` of TEI.

use carrel_pdk::document::Reference;
use carrel_pdk::id::{ArxivId, Doi, Pmcid, Pmid};
use carrel_pdk::xml::tree::Node;

use crate::inline;
use crate::people;
use crate::reader::Reader;

/// Reads a `<ref>`: a reference for each citation in it.
pub(crate) fn of_ref(reader: &mut Reader<'_, '_>, node: Node) -> Vec<Reference> {
    let tree = reader.tree;
    let id = reader.attribute(node, "id");
    let label = reader.child_line(node, "label");
    let mut found: Vec<Reference> = Vec::new();
    for child in tree.elements(node) {
        match tree.name(child) {
            "label" => {}
            name if name.contains("citation") || name == "product" => {
                let mut reference = citation(reader, child, name == "citation-alternatives");
                reference.id.clone_from(&id);
                reference.label.clone_from(&label);
                if let Some(own) = reader.child_line(child, "label") {
                    reference.label = Some(own);
                }
                found.push(reference);
            }
            _ => {
                let text = inline::of(reader, child).map(|text| text.replace('\n', " "));
                match (found.last_mut(), text) {
                    (Some(last), Some(text)) => {
                        last.text.push(' ');
                        last.text.push_str(&text);
                    }
                    (None, Some(text)) => {
                        let (id, label) = (id.clone(), label.clone());
                        found.push(Reference { id, label, text, ..Reference::default() });
                    }
                    (_, None) => {}
                }
            }
        }
    }
    if found.is_empty() && reader.has_text(node) {
        let text = reader.line(node).unwrap_or_default();
        found.push(Reference { id, text, ..Reference::default() });
    }
    found.retain(|reference| !reference.text.is_empty());
    found
}

fn citation(reader: &mut Reader<'_, '_>, node: Node, alternatives: bool) -> Reference {
    let tree = reader.tree;
    if alternatives {
        let form = |name: &str| tree.child(node, name);
        let mixed = form("mixed-citation");
        let element = form("element-citation").or(mixed).or_else(|| tree.elements(node).next());
        let Some(element) = element else { return Reference::default() };
        let mut reference = citation(reader, element, false);
        if let Some(mixed) = mixed {
            reference.text = text_of(reader, mixed);
        }
        return reference;
    }
    let mut reference = Reference { text: text_of(reader, node), ..Reference::default() };
    reference.kind =
        reader.first_attribute(node, &["publication-type", "citation-type", "product-type"]);
    fields(reader, node, &mut reference);
    if reference.title.is_none() {
        // A book has a source and no other title.
        let title = reference.container_title.take();
        reference.title = title;
    }
    reference
}

/// The whole text: unchanged if it has words between its parts, else the parts in order.
fn text_of(reader: &mut Reader<'_, '_>, node: Node) -> String {
    let tree = reader.tree;
    // A comma between names does not count as words.
    let written = tree.name(node) == "mixed-citation" || reader.has_text(node);
    if written {
        let text = inline::without(reader, node, &["label"]).unwrap_or_default();
        return text.replace('\n', " ");
    }
    let mut out = String::new();
    let mut before = "";
    for child in tree.elements(node) {
        let name = tree.name(child);
        let text = match name {
            "label" => None,
            "person-group" => people_of(reader, child),
            "name" | "string-name" | "collab" => people::name_in_reference(reader, child),
            "pub-id" => {
                let id = reader.line(child);
                let kind = reader.attribute(child, "pub-id-type");
                id.map(|id| kind.map_or(id.clone(), |kind| format!("{kind}:{id}")))
            }
            "etal" => Some("et al.".to_owned()),
            _ => reader.line(child),
        };
        let Some(text) = text else { continue };
        let between = match (before, name) {
            ("", _) => "",
            ("volume", "issue") => "(",
            ("volume" | "issue", "fpage" | "elocation-id" | "page-range") => ":",
            ("fpage", "lpage") => "–",
            ("name" | "string-name" | "collab", "name" | "string-name" | "collab" | "etal") => ", ",
            _ if out.ends_with(['.', '?', '!']) => " ",
            _ => ". ",
        };
        out.push_str(between);
        out.push_str(&text);
        out.push_str(if between == "(" { ")" } else { "" });
        before = name;
    }
    out
}

fn people_of(reader: &mut Reader<'_, '_>, group: Node) -> Option<String> {
    let tree = reader.tree;
    let mut names = Vec::new();
    for child in tree.elements(group) {
        names.extend(match tree.name(child) {
            "etal" => Some(reader.line(child).unwrap_or_else(|| "et al.".to_owned())),
            _ => people::name_in_reference(reader, child),
        });
    }
    Some(names.join(", ")).filter(|names| !names.is_empty())
}

fn fields(reader: &mut Reader<'_, '_>, node: Node, reference: &mut Reference) {
    let tree = reader.tree;
    let mut first_page = None;
    let mut last_page = None;
    let mut done: Option<Node> = None;
    for inner in tree.descendants(node) {
        if tree.name(inner).is_empty() || done.is_some_and(|done| tree.contains(done, inner)) {
            continue;
        }
        let mut set = |field: &mut Option<String>, reader: &mut Reader<'_, '_>| {
            if field.is_none() {
                *field = reader.line(inner);
            }
            done = Some(inner);
        };
        match tree.name(inner) {
            "name" | "string-name" | "collab" => {
                let group = tree.parent(inner);
                let role = group.and_then(|group| reader.attribute(group, "person-group-type"));
                if role.is_none_or(|role| !role.contains("editor") && !role.contains("translator"))
                {
                    reference.authors.extend(people::name_in_reference(reader, inner));
                }
                done = Some(inner);
            }
            "article-title" | "chapter-title" | "data-title" | "part-title" => {
                set(&mut reference.title, reader);
            }
            "source" => set(&mut reference.container_title, reader),
            "year" => set(&mut reference.year, reader),
            "volume" => set(&mut reference.volume, reader),
            "issue" => set(&mut reference.issue, reader),
            "publisher-name" => set(&mut reference.publisher, reader),
            "fpage" => set(&mut first_page, reader),
            "lpage" => set(&mut last_page, reader),
            "elocation-id" | "page-range" => set(&mut reference.pages, reader),
            "isbn" => set(&mut reference.isbn, reader),
            "pub-id" | "object-id" | "ext-link" | "uri" => {
                let kind = reader.first_attribute(inner, &["pub-id-type", "ext-link-type"]);
                let value = reader.attribute(inner, "href").or_else(|| reader.line(inner));
                if let Some(value) = value {
                    identify(reference, kind.as_deref().unwrap_or_default(), &value);
                }
            }
            _ => {}
        }
    }
    if reference.pages.is_none() {
        reference.pages = match (first_page, last_page) {
            (Some(first), Some(last)) if first != last => Some(format!("{first}–{last}")),
            (first, last) => first.or(last),
        };
    }
}

/// Stores an identifier by its kind, or by its form.
pub(crate) fn identify(reference: &mut Reference, kind: &str, value: &str) {
    let kind = kind.to_ascii_lowercase();
    let is_url = value.starts_with("http://") || value.starts_with("https://");
    let field = match kind.as_str() {
        "pmid" => Pmid::parse(value).ok().map(|id| (&mut reference.pmid, id.to_string())),
        "pmc" | "pmcid" => pmcid(value).map(|id| (&mut reference.pmcid, id)),
        "arxiv" => ArxivId::parse(value).ok().map(|id| (&mut reference.arxiv, id.to_string())),
        "isbn" => Some((&mut reference.isbn, value.to_owned())),
        _ => {
            let is_doi = kind == "doi" || value.contains("doi.org/");
            let doi = Doi::parse(value).ok().filter(|_| is_doi);
            match doi {
                Some(doi) => Some((&mut reference.doi, doi.as_str().to_owned())),
                None => is_url.then(|| (&mut reference.url, value.to_owned())),
            }
        }
    };
    if let Some((field, id)) = field {
        field.get_or_insert(id);
    }
}

/// A PubMed Central identifier, which archives write with and without its letters.
pub(crate) fn pmcid(value: &str) -> Option<String> {
    let id = Pmcid::parse(value).or_else(|_| Pmcid::parse(&format!("PMC{}", value.trim())));
    id.ok().map(|id| id.to_string())
}

/// Reads a `<biblStruct>` or `<bibl>`.
pub(crate) fn of_bibl(reader: &mut Reader<'_, '_>, node: Node) -> Option<Reference> {
    let tree = reader.tree;
    let mut reference = Reference {
        id: reader.attribute(node, "id"),
        kind: reader.attribute(node, "type"),
        label: reader.attribute(node, "n"),
        ..Reference::default()
    };
    let mut raw = None;
    let mut first_page = None;
    let mut done: Option<Node> = None;
    for inner in tree.descendants(node) {
        if tree.name(inner).is_empty() || done.is_some_and(|done| tree.contains(done, inner)) {
            continue;
        }
        let name = tree.name(inner);
        match name {
            "title" => {
                let value = reader.line(inner);
                let is_part = reader.attribute(inner, "level").as_deref() == Some("a")
                    || tree.parent(inner).is_some_and(|parent| tree.name(parent) == "analytic");
                let field =
                    if is_part { &mut reference.title } else { &mut reference.container_title };
                if field.is_none() {
                    *field = value;
                }
                done = Some(inner);
            }
            "author" => {
                reference.authors.extend(people::name_in_reference(reader, inner));
                done = Some(inner);
            }
            "date" => {
                let when = reader.attribute(inner, "when");
                let value = when.or_else(|| reader.line(inner));
                let year = value.map(|value| value.chars().take_while(|&c| c != '-').collect());
                reference.year = reference.year.take().or(year);
            }
            "biblScope" => {
                let value = reader.line(inner);
                let (from, to) = (reader.attribute(inner, "from"), reader.attribute(inner, "to"));
                match reader.first_attribute(inner, &["unit", "type"]).as_deref() {
                    Some("volume" | "vol") => reference.volume = value,
                    Some("issue") => reference.issue = value,
                    Some("page" | "pp" | "fpage") => {
                        first_page = match (value, from, to) {
                            (Some(value), ..) => Some(value),
                            (None, Some(from), Some(to)) if from != to => {
                                Some(format!("{from}–{to}"))
                            }
                            (None, from, to) => from.or(to),
                        };
                    }
                    _ => {}
                }
            }
            "publisher" => reference.publisher = reader.line(inner),
            "idno" | "ptr" => {
                let kind = reader.attribute(inner, "type").unwrap_or_default();
                let value = reader.line(inner).or_else(|| reader.attribute(inner, "target"));
                if let Some(value) = value {
                    identify(&mut reference, &kind, &value);
                }
            }
            "note" if reader.attribute(inner, "type").as_deref() == Some("raw_reference") => {
                raw = reader.line(inner);
                done = Some(inner);
            }
            _ => {}
        }
    }
    reference.pages = first_page;
    if reference.title.is_none() {
        let title = reference.container_title.take();
        reference.title = title;
    }
    let written = if reader.has_text(node) { reader.line(node) } else { None };
    reference.text = raw.or(written).unwrap_or_else(|| composed(reader, node));
    Some(reference).filter(|reference| !reference.text.is_empty())
}

/// The parts of a `<biblStruct>` in their order, each once.
fn composed(reader: &mut Reader<'_, '_>, node: Node) -> String {
    let tree = reader.tree;
    let mut parts: Vec<String> = Vec::new();
    let mut done: Option<Node> = None;
    for inner in tree.descendants(node) {
        let name = tree.name(inner);
        if name.is_empty() || done.is_some_and(|done| tree.contains(done, inner)) {
            continue;
        }
        let text = match name {
            "author" | "editor" => people::name_in_reference(reader, inner),
            "biblScope" | "date" => {
                let range = [reader.attribute(inner, "from"), reader.attribute(inner, "to")];
                let range: Vec<String> = range.into_iter().flatten().collect();
                let attributes = Some(range.join("–")).filter(|range| !range.is_empty());
                reader.line(inner).or(attributes).or_else(|| reader.attribute(inner, "when"))
            }
            _ if reader.has_text(inner) => reader.line(inner),
            _ => continue,
        };
        done = Some(inner);
        parts.extend(text.filter(|text| !parts.contains(text)));
    }
    parts.join(". ")
}
