//! `<front>` and `<front-stub>` → title, authors, identifiers, abstracts, and everything else as metadata.

use carrel_pdk::document::{Abstract, Section};
use carrel_pdk::id::{ArxivId, Doi, Pmid};
use carrel_pdk::xml::tree::Node;

use crate::article;
use crate::blocks;
use crate::inline;
use crate::people;
use crate::reader::Reader;
use crate::reference::pmcid;

/// Reads a `<front>`.
pub(crate) fn front(reader: &mut Reader<'_, '_>, node: Node) {
    let tree = reader.tree;
    for child in tree.elements(node) {
        match tree.name(child) {
            "journal-meta" => journal(reader, child),
            "article-meta" => {
                meta(reader, child, true);
            }
            _ => article::section(reader, child, 1, Some(tree.name(child).to_owned())),
        }
    }
}

fn journal(reader: &mut Reader<'_, '_>, node: Node) {
    let tree = reader.tree;
    let mut done: Option<Node> = None;
    for inner in tree.descendants(node) {
        let name = tree.name(inner);
        if name.is_empty() || done.is_some_and(|done| tree.contains(done, inner)) {
            continue;
        }
        let (name, kinds): (&str, &[&str]) = match name {
            "journal-id" => ("journal_id", &["journal-id-type"]),
            "journal-title" => ("journal", &[]),
            "journal-subtitle" => ("journal_subtitle", &[]),
            "abbrev-journal-title" => ("journal_abbreviation", &["abbrev-type"]),
            "issn" => ("issn", &["pub-type", "publication-format"]),
            "isbn" => ("isbn", &["pub-type", "publication-format"]),
            "publisher-name" => ("publisher", &[]),
            "publisher-loc" => ("publisher_place", &[]),
            other if reader.has_text(inner) => (other, &["content-type", "issn-l"]),
            _ => continue,
        };
        let kind = reader.first_attribute(inner, kinds);
        let value = reader.line(inner);
        reader.state(name, kind, value, inner);
        done = Some(inner);
    }
}

/// Reads an `<article-meta>` or `<front-stub>`; if it is not the document's own article, everything
/// becomes metadata. Returns the title.
pub(crate) fn meta(reader: &mut Reader<'_, '_>, node: Node, own: bool) -> Option<String> {
    let tree = reader.tree;
    let known = people::affiliations(reader, node);
    let mut title = None;
    let mut pages = (None, None);
    for child in tree.elements(node) {
        let name = tree.name(child);
        match name {
            "article-id" => identifier(reader, child, own),
            "article-version" | "article-version-alternatives" => reader.state_rest(child),
            "article-categories" => subjects(reader, child),
            "title-group" => title = titles(reader, child),
            "contrib-group" => people::group(reader, child, &known, own),
            "aff" | "aff-alternatives" => {}
            "author-notes" => article::section(reader, child, 1, Some(name.to_owned())),
            "pub-date" => {
                date(reader, child, "published", &["pub-type", "date-type", "publication-format"])
            }
            "pub-date-not-available" => {}
            "fpage" => pages.0 = reader.line(child).map(|text| (text, child)),
            "lpage" => pages.1 = reader.line(child),
            "volume" | "issue" | "issue-title" | "edition" | "isbn" | "conference"
            | "supplement" => {
                let value = reader.line(child);
                reader.state(name, None, value, child);
            }
            "elocation-id" => {
                let value = reader.line(child);
                reader.state("article_number", None, value, child);
            }
            "page-range" => {
                let value = reader.line(child);
                reader.state("page_range", None, value, child);
            }
            "history" | "pub-history" => history(reader, child),
            "permissions" => permissions(reader, child),
            "copyright-statement" | "copyright-year" | "license" | "copyright-holder" => {
                permission(reader, child);
            }
            "self-uri" => {
                let href = reader.attribute(child, "href");
                let text = reader.line(child);
                if let Some(href) = href.as_deref().or(text.as_deref()) {
                    reader.document.link(href, text.as_deref());
                }
                let kind = reader.attribute(child, "content-type");
                reader.state("self_uri", kind, href.or(text), child);
            }
            "related-article" | "related-object" => {
                reader.relation(child);
                let value = reader.line(child);
                reader.state(&format!("{name}_text"), None, value, child);
            }
            "abstract" | "trans-abstract" => summary(reader, child, own),
            "kwd-group" => keywords(reader, child),
            "funding-group" => funding(reader, child),
            "counts" => {
                for count in tree.elements(child) {
                    let value = reader.attribute(count, "count");
                    let kind = reader.attribute(count, "count-type");
                    reader.state(tree.name(count), kind, value, count);
                }
            }
            "custom-meta-group" | "custom-meta-wrap" => {
                for custom in tree.elements(child) {
                    let key = reader.child_line(custom, "meta-name");
                    let value = reader.child_line(custom, "meta-value");
                    match (key, value) {
                        (Some(key), Some(value)) => {
                            reader.state("custom_meta", Some(key), Some(value), custom);
                        }
                        _ => reader.state_rest(custom),
                    }
                }
            }
            "supplementary-material" => article::section(reader, child, 1, Some(name.to_owned())),
            _ => reader.state_rest(child),
        }
    }
    if let (Some((first, from)), last) = pages {
        let value = match last {
            Some(last) if last != first => format!("{first}–{last}"),
            _ => first,
        };
        reader.state("pages", None, Some(value), from);
    }
    // Keeps affiliations that no contributor names.
    for aff in tree.descendants(node).filter(|&aff| tree.name(aff) == "aff") {
        let text = people::affiliation(reader, aff);
        let named = reader
            .document
            .authors
            .iter()
            .any(|author| text.as_ref().is_some_and(|text| author.affiliations.contains(text)));
        let inside = tree.parent(aff).is_some_and(|parent| tree.name(parent) == "contrib");
        if !named && !inside {
            reader.state("affiliation", None, text, aff);
        }
    }
    if own {
        reader.document.title.clone_from(&title);
    }
    title
}

fn identifier(reader: &mut Reader<'_, '_>, node: Node, own: bool) {
    let kind = reader.attribute(node, "pub-id-type").unwrap_or_default();
    let Some(value) = reader.line(node) else { return };
    if own {
        let ids = &mut reader.document.identifiers;
        match kind.as_str() {
            "doi" => {
                ids.doi =
                    ids.doi.take().or(Doi::parse(&value).ok().map(|id| id.as_str().to_owned()))
            }
            "pmid" => {
                ids.pmid = ids.pmid.take().or(Pmid::parse(&value).ok().map(|id| id.to_string()))
            }
            "pmc" | "pmcid" => ids.pmcid = ids.pmcid.take().or(pmcid(&value)),
            "arxiv" => {
                ids.arxiv =
                    ids.arxiv.take().or(ArxivId::parse(&value).ok().map(|id| id.to_string()))
            }
            _ => {}
        }
    }
    reader.state("article_id", Some(kind).filter(|kind| !kind.is_empty()), Some(value), node);
}

fn titles(reader: &mut Reader<'_, '_>, node: Node) -> Option<String> {
    let tree = reader.tree;
    let mut title = None;
    for child in tree.elements(node) {
        let text = match tree.name(child) {
            "fn-group" => {
                article::section(reader, child, 1, Some("fn-group".to_owned()));
                continue;
            }
            "trans-title-group" => {
                reader.state_rest(child);
                continue;
            }
            _ => inline::of_title(reader, child),
        };
        match tree.name(child) {
            "article-title" if title.is_none() => title = text,
            name => {
                let kind = reader.attribute(child, "alt-title-type");
                let name = match name {
                    "alt-title" => "alternative_title",
                    "trans-title" => "translated_title",
                    other => other,
                };
                reader.state(name, kind, text, child);
            }
        }
    }
    title
}

fn subjects(reader: &mut Reader<'_, '_>, node: Node) {
    let tree = reader.tree;
    for inner in tree.descendants(node) {
        if matches!(
            tree.name(inner),
            "subject" | "series-title" | "series-text" | "compound-subject-part"
        ) {
            let group = tree.parent(inner);
            let kind = group.and_then(|group| reader.attribute(group, "subj-group-type"));
            let value = reader.line(inner);
            reader.state(tree.name(inner), kind, value, inner);
        }
    }
}

fn keywords(reader: &mut Reader<'_, '_>, node: Node) {
    let tree = reader.tree;
    let kind = reader.attribute(node, "kwd-group-type");
    for inner in tree.descendants(node) {
        match tree.name(inner) {
            "kwd" | "compound-kwd" => {
                let value = reader.line(inner);
                reader.state("keyword", kind.clone(), value, inner);
            }
            "title" | "label" | "subtitle" => {
                let value = reader.line(inner);
                reader.state("keyword_heading", kind.clone(), value, inner);
            }
            _ => {}
        }
    }
}

fn funding(reader: &mut Reader<'_, '_>, node: Node) {
    let tree = reader.tree;
    for child in tree.elements(node) {
        let name = if tree.name(child) == "award-group" { "funding" } else { tree.name(child) };
        let mut parts = Vec::new();
        for part in tree.elements(child).filter(|_| name == "funding") {
            parts.extend(reader.line(part));
        }
        let value = if parts.is_empty() { reader.line(child) } else { Some(parts.join("; ")) };
        reader.state(name, None, value, child);
    }
}

fn permissions(reader: &mut Reader<'_, '_>, node: Node) {
    let tree = reader.tree;
    for child in tree.elements(node) {
        permission(reader, child);
    }
}

fn permission(reader: &mut Reader<'_, '_>, node: Node) {
    let tree = reader.tree;
    if tree.name(node) != "license" {
        let name = match tree.name(node) {
            "copyright-statement" => "copyright",
            "license_ref" => "licence_url",
            other => other,
        };
        let value = reader.line(node);
        reader.state(name, None, value, node);
        return;
    }
    let kind = reader.attribute(node, "license-type");
    let reference = tree.find(node, "license_ref");
    let linked = tree.find(node, "ext-link").and_then(|link| reader.attribute(link, "href"));
    let url = reader
        .attribute(node, "href")
        .or_else(|| reference.and_then(|reference| reader.line(reference)))
        .or(linked);
    reader.state("licence_url", kind.clone(), url, node);
    let text = inline::without(reader, node, &["license_ref"]).map(|text| text.replace('\n', " "));
    reader.state("licence", kind, text, node);
}

fn history(reader: &mut Reader<'_, '_>, node: Node) {
    let tree = reader.tree;
    for child in tree.elements(node) {
        if tree.name(child) == "date" {
            let kind = reader.first_attribute(child, &["date-type", "pub-type"]);
            date(reader, child, kind.as_deref().unwrap_or("date"), &[]);
        } else {
            reader.state_rest(child);
        }
    }
}

/// Adds a date: YYYY, YYYY-MM or YYYY-MM-DD if it is numeric, else as written.
fn date(reader: &mut Reader<'_, '_>, node: Node, name: &str, kinds: &[&str]) {
    let mut value = reader.attribute(node, "iso-8601-date");
    if value.is_none() {
        let number = |text: Option<String>, width: usize| {
            let text = text?;
            let right = text.len() <= width && text.bytes().all(|byte| byte.is_ascii_digit());
            right.then(|| format!("{text:0>width$}"))
        };
        let year = number(reader.child_line(node, "year"), 4);
        let month = number(reader.child_line(node, "month"), 2);
        let day = number(reader.child_line(node, "day"), 2);
        let has = |part: &str| reader.tree.child(node, part).is_some();
        value = match (year, month, day) {
            (Some(year), Some(month), Some(day)) => Some(format!("{year}-{month}-{day}")),
            (Some(year), Some(month), None) if !has("day") => Some(format!("{year}-{month}")),
            (Some(year), None, None) if !has("month") && !has("season") => Some(year),
            _ => reader.line(node),
        };
    }
    let kind = reader.first_attribute(node, kinds);
    reader.state(name, kind, value, node);
}

fn summary(reader: &mut Reader<'_, '_>, node: Node, own: bool) {
    let kind = reader.attribute(node, "abstract-type");
    if !own {
        article::section(reader, node, 2, Some("abstract".to_owned()));
        return;
    }
    let before = std::mem::take(&mut reader.document.sections);
    article::section(reader, node, 1, None);
    let sections = std::mem::replace(&mut reader.document.sections, before);
    if sections.is_empty() {
        return;
    }
    let language = reader.attribute(node, "lang");
    let translated = reader.tree.name(node) == "trans-abstract";
    let plain = kind.is_none() && !translated;
    let summary = Abstract { kind, language, sections };
    // The main abstract comes first, regardless of its position.
    let abstracts = &mut reader.document.abstracts;
    let first = abstracts.first().is_some_and(|first| first.kind.is_some());
    if plain && first {
        abstracts.insert(0, summary);
    } else {
        abstracts.push(summary);
    }
}

impl Reader<'_, '_> {
    /// Adds a related work: a correction, a retraction, a commentary.
    pub(crate) fn relation(&mut self, node: Node) {
        let name = self.tree.name(node);
        let kind = self.first_attribute(
            node,
            &["related-article-type", "content-type", "link-type", "object-type", "document-type"],
        );
        let target = self.first_attribute(node, &["href", "object-id", "document-id", "id"]);
        let target = target.or_else(|| self.tree.text(node));
        self.state(name, kind, target, node);
    }
}

/// The notes that follow no paragraph, as a separate section.
pub(crate) fn leftover_notes(reader: &mut Reader<'_, '_>) {
    let mut found = Vec::new();
    blocks::notes(reader, &mut found, 1);
    reader.add(Section {
        level: 1,
        kind: Some("notes".to_owned()),
        blocks: found,
        ..Section::default()
    });
}
