//! Reads papers that LaTeXML generated, as arXiv and ar5iv serve them: every part has a class, so
//! no scoring is needed.

use carrel_pdk::document::{Abstract, Block, Document, Kind, Person, Reference, Section};
use carrel_pdk::id::{ArxivId, Doi};

use crate::blocks::{self, Blocks, Piece};
use crate::dom::{Id, Tree};
use crate::inline::{self, Line};
use crate::math;
use crate::seen::Shown;

/// Classes of parts with their own member in a document, and of boilerplate around the paper.
const ELSEWHERE: &[&str] = &[
    "ltx_page_navbar",
    "ltx_page_header",
    "ltx_page_footer",
    "ltx_page_logo",
    "ltx_TOC",
    "ltx_authors",
    "ltx_title_document",
    "ltx_abstract",
    "ltx_bibliography",
    "ltx_engrafo_authors",
];

/// The paper in a page that LaTeXML generated.
pub(crate) fn find(tree: &Tree) -> Option<Id> {
    tree.descendants(0).find(|&id| tree.has_class(id, "ltx_document"))
}

/// Reads the paper into the document.
pub(crate) fn read(tree: &Tree, root: Id, shown: &Shown, document: &mut Document) {
    let mut gone = shown.gone.clone();
    let (mut abstracts, mut lists, mut title) = (Vec::new(), Vec::new(), None);
    for id in tree.descendants(root) {
        if gone[id] || !ELSEWHERE.iter().any(|class| tree.has_class(id, class)) {
            continue;
        }
        if tree.has_class(id, "ltx_abstract") {
            abstracts.push(id);
        } else if tree.has_class(id, "ltx_bibliography") {
            lists.push(id);
        } else if tree.has_class(id, "ltx_title_document") {
            title = Some(id);
        }
        gone[id..tree.end(id)].fill(true);
    }
    let mut reader = Blocks::new(tree, &shown.gone, document);
    let title = title.and_then(|title| reader.text(title)).map(|title| title.replace('\n', " "));
    for id in abstracts {
        let pieces = reader.pieces(id + 1, tree.end(id), 0);
        let mut sections = blocks::sections(pieces, None);
        let is_plain = |heading: &Option<String>| {
            heading.as_deref().is_some_and(|heading| {
                heading.trim_end_matches('.').eq_ignore_ascii_case("abstract")
            })
        };
        for section in sections.iter_mut().filter(|section| is_plain(&section.heading)) {
            section.heading = None;
        }
        if !sections.is_empty() {
            reader.document.abstracts.push(Abstract { sections, ..Abstract::default() });
        }
    }
    let people = people(&mut reader, root);
    let references: Vec<Reference> =
        lists.iter().flat_map(|&list| references(&mut reader, list)).collect();
    let heading = lists.first().and_then(|&list| {
        let heading =
            tree.descendants(list).find(|&id| tree.has_class(id, "ltx_title_bibliography"))?;
        reader.text(heading)
    });
    let mut reader = Blocks::new(tree, &gone, document);
    let pieces = reader.pieces(root, tree.end(root), 0);
    document.sections = blocks::sections(pieces, None);
    if !references.is_empty() {
        document.sections.push(Section {
            heading,
            level: 1,
            kind: Some("references".to_owned()),
            ..Section::default()
        });
    }
    document.references = references;
    document.title = title.or(document.title.take());
    if document.authors.is_empty() {
        document.authors = people;
    }
    let mark = tree.descendants(0).find(|&id| tree.attribute(id, "id") == Some("watermark-tr"));
    if let Some(mark) = mark {
        let text = tree.all_text(mark);
        let word = text.split_ascii_whitespace().next().unwrap_or_default();
        let id = ArxivId::parse(word.trim_start_matches("arXiv:")).ok();
        document.identifiers.arxiv =
            document.identifiers.arxiv.take().or(id.map(|id| id.to_string()));
    }
}

fn people(reader: &mut Blocks<'_>, root: Id) -> Vec<Person> {
    let tree = reader.tree;
    let names: Vec<Id> =
        tree.descendants(root).filter(|&id| tree.has_class(id, "ltx_personname")).collect();
    let mut people = Vec::new();
    for name in names {
        let creator = tree.parent(name);
        let text = reader.text(name).unwrap_or_default();
        let mut lines = text.lines();
        let Some(first) = lines.next() else { continue };
        let mut affiliations: Vec<String> = lines.map(str::to_owned).collect();
        let elements: Vec<Id> = tree
            .descendants(creator)
            .filter(|&id| {
                tree.has_class(id, "ltx_role_affiliation")
                    || tree.has_class(id, "ltx_role_institutetext")
            })
            .collect();
        affiliations.extend(
            elements
                .into_iter()
                .filter_map(|id| reader.text(id))
                .map(|text| text.replace('\n', ", ")),
        );
        people.push(Person { literal: Some(first.to_owned()), affiliations, ..Person::default() });
    }
    people
}

/// The number of a heading's label: of `Appendix A`, as LaTeXML writes it, what LaTeX prints.
pub(crate) fn number(label: String) -> String {
    let number = ["Appendix", "Chapter"]
        .iter()
        .find_map(|word| label.strip_prefix(word).filter(|rest| rest.starts_with([' ', '\u{a0}'])));
    number.map_or(label.clone(), |number| number.trim().to_owned())
}

fn references(reader: &mut Blocks<'_>, list: Id) -> Vec<Reference> {
    let tree = reader.tree;
    let items: Vec<Id> =
        tree.descendants(list).filter(|&id| tree.has_class(id, "ltx_bibitem")).collect();
    let mut out = Vec::new();
    for item in items {
        let tag = tree.descendants(item).find(|&id| tree.has_class(id, "ltx_tag_bibitem"));
        let label = tag.and_then(|tag| reader.text(tag)).map(|label| label.replace('\n', " "));
        let from = tag.map_or(item + 1, |tag| tree.end(tag));
        let mut line = Line::default();
        inline::read(reader, from, tree.end(item), &mut line);
        reader.notes.clear();
        let Some(text) = line.take() else { continue };
        let mut reference = Reference {
            id: tree.attribute(item, "id").map(str::to_owned).filter(|id| !id.is_empty()),
            label,
            text: text.replace('\n', " "),
            ..Reference::default()
        };
        identify(tree, item, &mut reference);
        out.push(reference);
    }
    out
}

/// Identifiers that a reference links to.
pub(crate) fn identify(tree: &Tree, item: Id, reference: &mut Reference) {
    for id in tree.descendants(item) {
        let Some(href) = tree.attribute(id, "href").filter(|_| tree.name(id) == "a") else {
            continue;
        };
        if href.contains("doi.org/10.") {
            let doi = Doi::parse(href).ok().map(|doi| doi.as_str().to_owned());
            reference.doi = reference.doi.take().or(doi);
        } else if let Some((_, rest)) = href.split_once("arxiv.org/abs/") {
            let arxiv = ArxivId::parse(rest).ok().map(|id| id.to_string());
            reference.arxiv = reference.arxiv.take().or(arxiv);
        } else if href.starts_with("http") {
            reference.url = reference.url.take().or_else(|| Some(href.to_owned()));
        }
    }
}

/// A block that LaTeXML's classes name: an equation, a listing, a theorem.
pub(crate) fn block(reader: &mut Blocks<'_>, id: Id, depth: u32) -> Option<Vec<Piece>> {
    let tree = reader.tree;
    let class = tree.attribute(id, "class").filter(|class| class.contains("ltx_"))?;
    let is = |name: &str| class.split_ascii_whitespace().any(|class| class == name);
    if is("ltx_equation") || is("ltx_equationgroup") || is("ltx_eqn_table") {
        return equations(reader, id);
    }
    if is("ltx_listing") || is("ltx_lstlisting") {
        let lines: Vec<Id> =
            tree.descendants(id).filter(|&node| tree.has_class(node, "ltx_listingline")).collect();
        let mut text = String::new();
        for line in lines {
            for inner in tree.descendants(line) {
                let tagged = tree
                    .ancestors(inner)
                    .take_while(|&outer| outer >= line)
                    .any(|outer| tree.has_class(outer, "ltx_tag"));
                if let Some(part) = tree.text(inner).filter(|_| !tagged) {
                    text.push_str(&part.replace(['\n', '\u{a0}'], " "));
                }
            }
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        let text = text.trim_matches('\n').trim_end();
        return (!text.is_empty()).then(|| vec![Piece::Block(Block::new(Kind::Code, text))]);
    }
    if is("ltx_theorem") || is("ltx_proof") {
        let title = tree.elements(id).find(|&child| tree.has_class(child, "ltx_title"));
        let mut block = Block::empty(Kind::Quote);
        block.role = class
            .split_ascii_whitespace()
            .find_map(|class| class.strip_prefix("ltx_theorem_"))
            .map(str::to_owned);
        block.label =
            title.and_then(|title| reader.text(title)).map(|text| text.replace('\n', " "));
        let from = title.map_or(id + 1, |title| tree.end(title));
        block.blocks = blocks::nested(reader.pieces(from, tree.end(id), depth + 1));
        return (!block.blocks.is_empty()).then(|| vec![Piece::Block(block)]);
    }
    None
}

/// Displayed equations: one for each table row with a formula.
fn equations(reader: &mut Blocks<'_>, id: Id) -> Option<Vec<Piece>> {
    let tree = reader.tree;
    let mut rows: Vec<Id> =
        tree.descendants(id).filter(|&node| tree.has_class(node, "ltx_eqn_row")).collect();
    if rows.is_empty() {
        rows.push(id);
    }
    let mut out = Vec::new();
    for row in rows {
        let mut block = Block::empty(Kind::Equation);
        let mut formulas = Vec::new();
        let mut at = row;
        while at < tree.end(row) {
            if tree.name(at) == "math" {
                formulas.push(math::source(tree, at));
                at = tree.end(at);
            } else {
                at += 1;
            }
        }
        let (tex, text): (Vec<_>, Vec<_>) = formulas.into_iter().unzip();
        if !tex.is_empty() && tex.iter().all(Option::is_some) {
            block.tex = Some(tex.into_iter().flatten().collect::<Vec<_>>().join(" "));
        } else {
            block.text = Some(text.join(" ")).filter(|text| !text.trim().is_empty());
        }
        let tag = tree.descendants(row).find(|&node| tree.has_class(node, "ltx_tag_equation"));
        block.label = tag.map(|tag| tree.all_text(tag)).filter(|label| !label.is_empty());
        if block.tex.is_some() || block.text.is_some() {
            out.push(Piece::Block(block));
        }
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_appendix_has_the_label_that_latex_prints() {
        assert_eq!(number("Appendix A".to_owned()), "A");
        assert_eq!(number("3.1".to_owned()), "3.1");
        assert_eq!(number("Appendix".to_owned()), "Appendix");
    }
}
