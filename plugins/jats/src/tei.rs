//! `<TEI>` → document: GROBID's articles, its training data, and corpora of them.

use carrel_pdk::document::{Abstract, Document, Section};
use carrel_pdk::id::{ArxivId, Doi, Pmid};
use carrel_pdk::text::excerpt;
use carrel_pdk::xml::tree::{Node, Tree};
use carrel_pdk::{Error, text};

use crate::article::{self, end, reference_list};
use crate::blocks::Run;
use crate::front::leftover_notes;
use crate::inline;
use crate::people;
use crate::reader::{DEEPEST, Reader};
use crate::reference::{self, pmcid};

const EXPECTED: &str = "an article in TEI";

/// Reads an article.
///
/// # Errors
///
/// As [`read`](crate::read).
pub(crate) fn parse(document: &str) -> Result<Document, Error> {
    let tree = Tree::read(document, EXPECTED)?;
    let root = tree.root();
    let name = tree.name(root);
    if !matches!(name, "TEI" | "tei" | "TEI.2" | "teiCorpus") {
        let hint = if name == "article" { "; format jats reads JATS" } else { "" };
        let message =
            format!("expected {EXPECTED} but found <{}>{hint}", text::trim(&excerpt(name)));
        return Err(Error::invalid_document(message, tree.offset(root) as u64, name));
    }
    let mut reader = Reader::new(&tree);
    reader.document.language = reader.attribute(root, "lang");
    corpus(&mut reader, root, 1);
    leftover_notes(&mut reader);
    let mut document = reader.document;
    document.finish();
    Ok(document)
}

fn corpus(reader: &mut Reader<'_, '_>, node: Node, depth: u32) {
    let tree = reader.tree;
    let is_corpus = tree.name(node) == "teiCorpus";
    for child in tree.elements(node) {
        match tree.name(child) {
            "teiHeader" => header(reader, child, !is_corpus),
            "text" => body(reader, child),
            "teiCorpus" | "TEI" | "tei" if depth < DEEPEST => corpus(reader, child, depth + 1),
            _ => reader.state_rest(child),
        }
    }
}

/// Reads a header; that of a corpus is about more than one article.
fn header(reader: &mut Reader<'_, '_>, node: Node, own: bool) {
    let tree = reader.tree;
    let own = own && reader.document.title.is_none() && reader.document.authors.is_empty();
    for child in tree.elements(node) {
        match tree.name(child) {
            "fileDesc" => {
                for part in tree.elements(child) {
                    match tree.name(part) {
                        "titleStmt" => title_statement(reader, part, own),
                        "publicationStmt" => publication(reader, part),
                        "sourceDesc" => source(reader, part, own),
                        _ => reader.state_rest(part),
                    }
                }
            }
            "profileDesc" => profile(reader, child),
            _ => {
                for inner in tree.descendants(child).filter(|&app| tree.name(app) == "application")
                {
                    let name = reader.first_attribute(inner, &["ident"]);
                    let version = reader.attribute(inner, "version");
                    reader.state("application", name, version, inner);
                }
                reader.state_rest(child);
            }
        }
    }
}

fn title_statement(reader: &mut Reader<'_, '_>, node: Node, own: bool) {
    let tree = reader.tree;
    for child in tree.elements(node) {
        match tree.name(child) {
            "title" if own && reader.document.title.is_none() => {
                reader.document.title = inline::of_title(reader, child);
            }
            "author" if own => {
                let person = people::tei_author(reader, child);
                reader.document.authors.extend(person);
            }
            "funder" => {
                let value = reader.line(child);
                reader.state("funding", None, value, child);
            }
            _ => reader.state_rest(child),
        }
    }
}

fn publication(reader: &mut Reader<'_, '_>, node: Node) {
    let tree = reader.tree;
    for child in tree.elements(node) {
        match tree.name(child) {
            "publisher" => {
                let value = reader.line(child);
                reader.state("publisher", None, value, child);
            }
            "date" => date(reader, child),
            "availability" => {
                let kind = reader.attribute(child, "status");
                let licence = tree.find(child, "licence");
                let url = licence.and_then(|licence| reader.attribute(licence, "target"));
                reader.state("licence_url", kind.clone(), url, child);
                let value = reader.line(child);
                reader.state("licence", kind, value, child);
            }
            _ => reader.state_rest(child),
        }
    }
}

fn date(reader: &mut Reader<'_, '_>, node: Node) {
    let kind = reader.attribute(node, "type");
    let value = reader.attribute(node, "when").or_else(|| reader.line(node));
    let (name, kind) = match kind.as_deref() {
        Some("published") => ("published", None),
        _ => ("date", kind),
    };
    reader.state(name, kind, value, node);
}

/// Reads the description of the article that the text is from.
fn source(reader: &mut Reader<'_, '_>, node: Node, own: bool) {
    let tree = reader.tree;
    let main = tree.child(node, "biblStruct").filter(|_| own);
    for child in tree.elements(node) {
        if Some(child) != main {
            reader.state_rest(child);
            continue;
        }
        let mut done: Option<Node> = None;
        for inner in tree.descendants(child) {
            let name = tree.name(inner);
            if name.is_empty() || done.is_some_and(|done| tree.contains(done, inner)) {
                continue;
            }
            let in_part = tree.parent(inner).is_some_and(|parent| tree.name(parent) == "analytic");
            match name {
                "author" if reader.document.authors.is_empty() || in_part => {
                    let person = people::tei_author(reader, inner);
                    // The title statement may already have named them.
                    let known = |person: &_| {
                        reader.document.authors.iter().all(|author| {
                            author.name() != carrel_pdk::document::Person::name(person)
                        })
                    };
                    let person = person.filter(known);
                    reader.document.authors.extend(person);
                }
                "title" if in_part && reader.document.title.is_none() => {
                    reader.document.title = inline::of_title(reader, inner);
                }
                "title" if in_part => {
                    let value = inline::of_title(reader, inner)
                        .filter(|title| Some(title) != reader.document.title.as_ref());
                    reader.state("title", reader.attribute(inner, "type"), value, inner);
                }
                "title" => {
                    let value = reader.line(inner);
                    let kind = reader.attribute(inner, "type");
                    reader.state("journal", kind, value, inner);
                }
                "idno" => identifier(reader, inner),
                "biblScope" => {
                    let range = [reader.attribute(inner, "from"), reader.attribute(inner, "to")];
                    let range: Vec<String> = range.into_iter().flatten().collect();
                    let value = reader.line(inner).or(Some(range.join("–")));
                    let unit = reader.first_attribute(inner, &["unit", "type"]);
                    let name = match unit.as_deref() {
                        Some("page") => "pages",
                        Some(other) => other,
                        None => "scope",
                    };
                    reader.state(name, None, value, inner);
                }
                "date" => date(reader, inner),
                "publisher" => {
                    let value = reader.line(inner);
                    reader.state("publisher", None, value, inner);
                }
                _ if reader.has_text(inner) => reader.state_rest(inner),
                _ => continue,
            }
            done = Some(inner);
        }
    }
}

fn identifier(reader: &mut Reader<'_, '_>, node: Node) {
    let kind = reader.attribute(node, "type");
    let Some(value) = reader.line(node) else { return };
    let ids = &mut reader.document.identifiers;
    match kind.as_deref().unwrap_or_default().to_ascii_lowercase().as_str() {
        "doi" => {
            ids.doi = ids.doi.take().or(Doi::parse(&value).ok().map(|id| id.as_str().to_owned()))
        }
        "pmid" => ids.pmid = ids.pmid.take().or(Pmid::parse(&value).ok().map(|id| id.to_string())),
        "pmc" | "pmcid" => ids.pmcid = ids.pmcid.take().or(pmcid(&value)),
        "arxiv" => {
            ids.arxiv = ids.arxiv.take().or(ArxivId::parse(&value).ok().map(|id| id.to_string()))
        }
        _ => {}
    }
    reader.state("article_id", kind, Some(value), node);
}

fn profile(reader: &mut Reader<'_, '_>, node: Node) {
    let tree = reader.tree;
    for child in tree.elements(node) {
        match tree.name(child) {
            "abstract" => {
                let before = std::mem::take(&mut reader.document.sections);
                text_of(reader, child, 1, None);
                let sections = std::mem::replace(&mut reader.document.sections, before);
                let (kind, language) =
                    (reader.attribute(child, "type"), reader.attribute(child, "lang"));
                if !sections.is_empty() {
                    reader.document.abstracts.push(Abstract { kind, language, sections });
                }
            }
            "textClass" => {
                for inner in tree.descendants(child) {
                    match tree.name(inner) {
                        "term" | "item" => {
                            let value = reader.line(inner);
                            let kind = reader.attribute(inner, "type");
                            reader.state("keyword", kind, value, inner);
                        }
                        "keywords" | "classCode" | "catRef" if reader.has_text(inner) => {
                            let value = reader.line(inner);
                            let kind = reader.attribute(inner, "scheme");
                            reader.state("keyword", kind, value, inner);
                        }
                        "idno" => {
                            let value = reader.line(inner);
                            let kind = reader.attribute(child, "type");
                            reader.state("classification", kind, value, inner);
                        }
                        _ => {}
                    }
                }
            }
            "langUsage" => {
                let language = tree.find(child, "language");
                let language = language.and_then(|language| reader.attribute(language, "ident"));
                reader.document.language = reader.document.language.take().or(language);
                reader.state_rest(child);
            }
            _ => reader.state_rest(child),
        }
    }
}

fn body(reader: &mut Reader<'_, '_>, node: Node) {
    let language = reader.attribute(node, "lang");
    reader.document.language = reader.document.language.take().or(language);
    text_of(reader, node, 1, None);
}

/// The level of a heading: its stated level, or the number of parts of its numbering.
fn stated_level(reader: &Reader<'_, '_>, head: Node) -> Option<u32> {
    let level = reader.attribute(head, "level").and_then(|level| level.parse().ok());
    level
        .or_else(|| {
            let number = reader.attribute(head, "n")?;
            let parts = number.split('.').filter(|part| !part.trim().is_empty()).count();
            u32::try_from(parts).ok()
        })
        .map(|level: u32| level.clamp(1, 9))
}

/// Reads text whose sections are nested or only follow headings.
fn text_of(reader: &mut Reader<'_, '_>, node: Node, level: u32, kind: Option<String>) {
    let tree = reader.tree;
    let own = reader.first_attribute(node, &["type", "subtype"]);
    let language =
        reader.attribute(node, "lang").filter(|tag| Some(tag) != reader.document.language.as_ref());
    let own = own.or(kind);
    let mut current = Section { level, kind: own.clone(), language, ..Section::default() };
    let mut titled = false;
    let mut run = Run::default();
    let mut before = None;
    for child in tree.children(node) {
        let name = tree.name(child);
        match name {
            "head" => {
                if current.heading.is_some() || !run.is_empty() {
                    end(reader, &mut current, &mut run, level);
                }
                titled = true;
                current.level = stated_level(reader, child).unwrap_or(level);
                current.heading = inline::of_title(reader, child);
                current.label = reader.attribute(child, "n").or_else(|| before.take());
            }
            "label" => before = reader.line(child),
            "body" | "front" | "back" | "group" | "text" | "div" | "div1" | "div2" | "div3"
            | "div4"
                if level < DEEPEST =>
            {
                end(reader, &mut current, &mut run, level);
                let outer = matches!(name, "body" | "front" | "back" | "group" | "text");
                let references = tree.child(child, "listBibl").is_some();
                if references && !outer {
                    references_of(reader, child, level);
                } else {
                    // A division without a heading only groups those inside.
                    let front = Some(name).filter(|&name| name == "front").map(str::to_owned);
                    let kind = front.or_else(|| own.clone().filter(|_| !titled));
                    text_of(reader, child, level + u32::from(titled && !outer), kind);
                }
            }
            "listBibl" => {
                end(reader, &mut current, &mut run, level);
                reference_list(reader, child, level);
            }
            "biblStruct" | "bibl" => {
                let found = reference::of_bibl(reader, child);
                reader.document.references.extend(found);
            }
            _ => {
                if let Some(label) = before.take() {
                    current.label = current.label.take().or(Some(label));
                }
                run.child(reader, child, level);
            }
        }
    }
    if current.label.is_none() {
        current.label = before;
    }
    end(reader, &mut current, &mut run, level);
}

/// Reads a division of references; its heading applies to the list inside.
fn references_of(reader: &mut Reader<'_, '_>, node: Node, level: u32) {
    let tree = reader.tree;
    let heading = tree.child(node, "head").and_then(|head| inline::of_title(reader, head));
    let start = reader.document.sections.len();
    for child in tree.elements(node) {
        match tree.name(child) {
            "head" => {}
            "listBibl" => reference_list(reader, child, level),
            name => article::section(reader, child, level, Some(name.to_owned())),
        }
    }
    if let Some(first) = reader.document.sections.get_mut(start) {
        first.heading = first.heading.take().or(heading);
    }
}
