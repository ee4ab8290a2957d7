//! The list of references, and Word's own sources.

use carrel_pdk::document::Reference;
use carrel_pdk::xml::tree::{Node, Tree};

use super::Reader;
use crate::package::Relations;
use crate::properties;

impl<'p, 'd> Reader<'p, 'd> {
    /// The sources in Word's own bibliography part.
    pub(crate) fn sources(&mut self, relations: &Relations) {
        let mut parts: Vec<String> = relations
            .values()
            .filter(|rel| rel.kind == "customXml" && !rel.external)
            .map(|rel| rel.target.clone())
            .collect();
        parts.sort();
        for part in parts {
            let Ok(Some(text)) = self.package.text(&part) else { continue };
            let Ok(tree) = Tree::read(&text, "custom XML") else { continue };
            if tree.name(tree.root()) != "Sources" || !self.document.references.is_empty() {
                continue;
            }
            for node in tree.elements(tree.root()).filter(|&node| tree.name(node) == "Source") {
                if let Some(reference) = source(&tree, node) {
                    self.document.references.push(reference);
                }
            }
        }
    }
}

/// Whether a heading is that of a list of references.
pub(crate) fn is_reference_heading(heading: &str) -> bool {
    const WORDS: &[&str] = &[
        "references",
        "bibliography",
        "works cited",
        "literature cited",
        "literature",
        "reference list",
        "cited literature",
        "references cited",
        "references and notes",
        "literatur",
        "literaturverzeichnis",
        "quellen",
        "quellenverzeichnis",
        "références",
        "références bibliographiques",
        "bibliographie",
        "referencias",
        "bibliografía",
        "referências",
        "bibliografia",
        "riferimenti",
        "riferimenti bibliografici",
        "literatuur",
        "referenser",
        "litteratur",
        "referencer",
        "referanser",
        "lähteet",
        "piśmiennictwo",
        "literatura",
        "список литературы",
        "литература",
        "参考文献",
        "參考文獻",
        "참고문헌",
        "kaynakça",
        "kaynaklar",
    ];
    let heading =
        heading.trim_start_matches(|symbol: char| symbol.is_ascii_digit() || ". ".contains(symbol));
    WORDS.contains(&heading.trim_end_matches([':', '.', ' ']).to_lowercase().as_str())
}

/// A source of Word's own bibliography.
pub(crate) fn source(tree: &Tree<'_>, node: Node) -> Option<Reference> {
    let text = |name: &str| tree.text(tree.child(node, name)?);
    let mut authors = Vec::new();
    if let Some(list) = tree.child(node, "Author") {
        for person in tree.descendants(list).filter(|&inner| tree.name(inner) == "Person") {
            let part = |name: &str| tree.text(tree.child(person, name)?);
            let name: Vec<String> =
                [part("First"), part("Middle"), part("Last")].into_iter().flatten().collect();
            authors.push(name.join(" "));
        }
        let corporate = tree.descendants(list).filter(|&inner| tree.name(inner) == "Corporate");
        authors.extend(corporate.filter_map(|inner| tree.text(inner)));
    }
    authors.retain(|name| !name.is_empty());
    let container = ["JournalName", "BookTitle", "ConferenceName", "PublicationTitle"];
    let mut reference = Reference {
        id: text("Tag"),
        kind: text("SourceType"),
        title: text("Title"),
        year: text("Year"),
        container_title: container.iter().find_map(|name| text(name)),
        volume: text("Volume"),
        issue: text("Issue"),
        pages: text("Pages"),
        publisher: text("Publisher"),
        url: text("URL"),
        authors,
        ..Reference::default()
    };
    let number = text("StandardNumber").or_else(|| text("DOI")).unwrap_or_default();
    reference.doi = Reference::of_text(number.as_str()).doi;
    reference.isbn = properties::isbn(&number);
    let names = Some(reference.authors.join(", ")).filter(|names| !names.is_empty());
    let parts: Vec<String> = [
        names,
        reference.title.clone(),
        reference.container_title.clone(),
        reference.publisher.clone(),
        reference.volume.clone(),
        reference.issue.clone(),
        reference.pages.clone(),
        reference.year.clone(),
        Some(number).filter(|number| !number.is_empty()),
        reference.url.clone(),
    ]
    .into_iter()
    .flatten()
    .collect();
    reference.text = parts.join(". ");
    (!reference.text.is_empty()).then_some(reference)
}
