//! `<article>` → document: reads the parts of an article in order.

use carrel_pdk::document::{Document, Section};
use carrel_pdk::text::excerpt;
use carrel_pdk::xml::tree::{Node, Tree};
use carrel_pdk::{Error, text};

use crate::blocks::{self, Run};
use crate::front;
use crate::inline;
use crate::reader::{DEEPEST, Reader};
use crate::reference;

const EXPECTED: &str = "an article in JATS";

/// Reads an article.
///
/// # Errors
///
/// As [`read`](crate::read).
pub(crate) fn parse(document: &str) -> Result<Document, Error> {
    let tree = Tree::read(document, EXPECTED)?;
    let articles = articles(&tree, tree.root())?;
    let mut reader = Reader::new(&tree);
    for (number, &article) in articles.iter().enumerate() {
        if number == 0 {
            read(&mut reader, article);
        } else {
            reader.warn(
                article,
                "another_article",
                "only the first article of the document is read",
            );
        }
    }
    let mut document = reader.document;
    document.finish();
    Ok(document)
}

/// The articles: the root, or those in an envelope of PMC or OAI-PMH.
fn articles(tree: &Tree<'_>, root: Node) -> Result<Vec<Node>, Error> {
    let name = tree.name(root);
    let found: Vec<Node> = match name {
        "article" => vec![root],
        "pmc-articleset" | "OAI-PMH" => {
            // Articles are not nested, so siblings are all of them.
            let mut found: Vec<Node> = Vec::new();
            for node in tree.descendants(root).filter(|&node| tree.name(node) == "article") {
                if found.last().is_none_or(|&last| !tree.contains(last, node)) {
                    found.push(node);
                }
            }
            found
        }
        _ => Vec::new(),
    };
    if found.is_empty() {
        let hint = match name {
            "PubmedArticleSet" => "; format efetch of plugin eutils reads PubMed's records",
            "TEI" | "tei" | "teiCorpus" => "; format tei reads TEI",
            _ => "",
        };
        let message =
            format!("expected {EXPECTED} but found <{}>{hint}", text::trim(&excerpt(name)));
        return Err(Error::invalid_document(message, tree.offset(root) as u64, name));
    }
    Ok(found)
}

fn read(reader: &mut Reader<'_, '_>, article: Node) {
    let tree = reader.tree;
    reader.document.kind = reader.attribute(article, "article-type");
    reader.document.language = reader.attribute(article, "lang");
    // Notes on authors precede the text in the document and follow it in the result.
    let mut before = Vec::new();
    for child in tree.elements(article) {
        match tree.name(child) {
            "front" => {
                front::front(reader, child);
                before.append(&mut reader.document.sections);
            }
            "front-stub" => {
                front::meta(reader, child, true);
                before.append(&mut reader.document.sections);
            }
            "body" => section(reader, child, 1, None),
            "back" => back(reader, child, 1),
            "floats-group" | "floats-wrap" => {
                section(reader, child, 1, Some("floats-group".to_owned()))
            }
            "sub-article" | "response" => sub_article(reader, child, 1),
            _ => {
                // Links of the article as a whole.
                let href = reader.attribute(child, "href");
                if let Some(href) = &href {
                    reader.document.link(href, None);
                }
                reader.state(tree.name(child), None, href, child);
                reader.state_rest(child);
            }
        }
    }
    reader.document.sections.append(&mut before);
    front::leftover_notes(reader);
}

/// Reads a letter, a reply, a translation: an article inside another.
fn sub_article(reader: &mut Reader<'_, '_>, node: Node, level: u32) {
    let tree = reader.tree;
    let kind = reader.first_attribute(node, &["article-type", "response-type"]);
    let language = reader.attribute(node, "lang");
    // The heading first, then the sections of its metadata.
    let start = reader.document.sections.len();
    let mut heading = None;
    for child in tree.elements(node) {
        match tree.name(child) {
            "front-stub" => heading = front::meta(reader, child, false).or(heading),
            "front" => {
                for meta in tree.elements(child) {
                    heading = front::meta(reader, meta, false).or(heading);
                }
            }
            _ => {}
        }
    }
    let kind = kind.or_else(|| Some(tree.name(node).to_owned()));
    reader
        .document
        .sections
        .insert(start, Section { heading, level, kind, language, ..Section::default() });
    for child in tree.elements(node) {
        match tree.name(child) {
            "front-stub" | "front" => {}
            "body" | "floats-group" => section(reader, child, level + 1, None),
            "back" => back(reader, child, level + 1),
            "sub-article" | "response" if level < DEEPEST => sub_article(reader, child, level + 1),
            _ => section(reader, child, level + 1, Some(tree.name(child).to_owned())),
        }
    }
}

fn back(reader: &mut Reader<'_, '_>, node: Node, level: u32) {
    let tree = reader.tree;
    let mut run = Run::default();
    let mut heading = None;
    for child in tree.children(node) {
        match tree.name(child) {
            "" | "p" => run.child(reader, child, level),
            "title" | "label" => heading = inline::of_title(reader, child).or(heading),
            "ref-list" => reference_list(reader, child, level),
            "app-group" => {
                for app in tree.elements(child) {
                    section(reader, app, level, Some("app".to_owned()));
                }
            }
            name => section(reader, child, level, Some(name.to_owned())),
        }
    }
    let blocks = run.finish(reader, level);
    reader.add(Section { heading, level, blocks, ..Section::default() });
}

/// Whether an element inside a section is a section itself.
fn is_section(reader: &Reader<'_, '_>, node: Node) -> bool {
    let tree = reader.tree;
    matches!(
        tree.name(node),
        "sec" | "app" | "ack" | "glossary" | "bio" | "notes" | "div" | "div1" | "div2" | "div3"
    )
}

/// Reads an element with a title and content, and the sections inside it, which follow.
pub(crate) fn section(reader: &mut Reader<'_, '_>, node: Node, level: u32, kind: Option<String>) {
    let tree = reader.tree;
    let mut current = Section { level, ..Section::default() };
    let own = reader
        .first_attribute(node, &["sec-type", "notes-type", "content-type", "type", "subtype"]);
    current.kind =
        own.filter(|_| !matches!(tree.name(node), "abstract" | "trans-abstract")).or(kind);
    current.language = reader.attribute(node, "lang");
    let mut run = Run::default();
    let mut titled = false;
    // A body is not a section.
    let inner = if tree.name(node) == "body" { level } else { level + 1 };
    for child in tree.children(node) {
        let name = tree.name(child);
        match name {
            "label" if current.label.is_none() => current.label = reader.line(child),
            "title" | "head" if !titled => {
                current.heading = inline::of_title(reader, child);
                if name == "head" && current.label.is_none() {
                    current.label = reader.attribute(child, "n");
                }
                titled = true;
            }
            "sec-meta" | "object-id" => reader.state_rest(child),
            "ref-list" | "listBibl" => {
                end(reader, &mut current, &mut run, level);
                reference_list(reader, child, inner);
            }
            _ if level < DEEPEST && is_section(reader, child) => {
                end(reader, &mut current, &mut run, level);
                let kind = Some(name).filter(|name| *name != "sec" && !name.starts_with("div"));
                section(reader, child, inner, kind.map(str::to_owned));
            }
            _ => run.child(reader, child, level),
        }
    }
    end(reader, &mut current, &mut run, level);
}

/// Adds the section read so far; further blocks continue it.
pub(crate) fn end(reader: &mut Reader<'_, '_>, current: &mut Section, run: &mut Run, level: u32) {
    let next = Section { level, language: current.language.clone(), ..Section::default() };
    let mut section = std::mem::replace(current, next);
    section.blocks = std::mem::take(run).finish(reader, level);
    reader.add(section);
}

/// Reads a list of references: its heading as a section, the references into the document.
pub(crate) fn reference_list(reader: &mut Reader<'_, '_>, node: Node, level: u32) {
    let tree = reader.tree;
    let kind = Some("references".to_owned());
    let mut current = Section { level, kind, ..Section::default() };
    let mut run = Run::default();
    let mut inner = Vec::new();
    for child in tree.children(node) {
        match tree.name(child) {
            "label" => current.label = reader.line(child),
            "title" | "head" => {
                current.heading = inline::of_title(reader, child).or(current.heading)
            }
            "ref" => {
                let mut found = reference::of_ref(reader, child);
                if found.is_empty() {
                    reader.warn(child, "empty_reference", "the reference has no text");
                }
                reader.document.references.append(&mut found);
            }
            "biblStruct" | "bibl" => {
                let found = reference::of_bibl(reader, child);
                reader.document.references.extend(found);
            }
            "ref-list" | "listBibl" if level < DEEPEST => inner.push(child),
            _ => run.child(reader, child, level),
        }
    }
    current.blocks = run.finish(reader, level);
    blocks::notes(reader, &mut current.blocks, level);
    reader.add(current);
    for list in inner {
        reference_list(reader, list, level + 1);
    }
}
