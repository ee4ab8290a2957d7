//! XHTML of a book's chapters → sections and blocks.

use carrel_pdk::document::{Block, Item, Kind, Reference, Section};
use carrel_pdk::text::Script;
use carrel_pdk::xml::tree::{Node, Piece, Tree};

use crate::DEEPEST;
use crate::outline::{Outline, boxed, lines, one_line};

mod tables;
pub(crate) mod words;

use words::formula;

/// A chapter's results besides its blocks.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) links: Vec<(String, Option<String>)>,
    pub(crate) references: Vec<Reference>,
    pub(crate) warnings: Vec<(&'static str, String)>,
}

/// A chapter being read.
pub(crate) struct Chapter<'t, 'd> {
    tree: &'t Tree<'d>,
    pub(crate) found: Found,
    deep: bool,
}

impl<'t, 'd> Chapter<'t, 'd> {
    pub(crate) fn new(tree: &'t Tree<'d>) -> Self {
        Self { tree, found: Found::default(), deep: false }
    }

    /// Reads the chapter's body.
    pub(crate) fn read(&mut self, outline: &mut Outline) {
        let root = self.tree.root();
        let body = self.tree.find(root, "body").unwrap_or(root);
        self.blocks(body, outline, 0);
    }

    fn kind(&self, node: Node) -> String {
        let words = ["epub:type", "type", "role", "class"]
            .iter()
            .filter_map(|name| self.tree.attribute(node, name.rsplit(':').next().unwrap_or(name)));
        words.map(|word| word.to_lowercase()).collect::<Vec<_>>().join(" ")
    }

    fn is_hidden(&self, node: Node) -> bool {
        self.tree.attribute(node, "hidden").is_some()
            || self.tree.attribute(node, "style").is_some_and(|style| {
                let style: String = style.split_whitespace().collect();
                style.to_lowercase().contains("display:none")
            })
    }

    /// Reads what is inside a node: blocks, and words between them as paragraphs.
    fn blocks(&mut self, node: Node, outline: &mut Outline, depth: u32) {
        let tree = self.tree;
        if depth > DEEPEST {
            if !std::mem::replace(&mut self.deep, true) {
                let message =
                    format!("blocks nested deeper than {DEEPEST} are read as one paragraph");
                self.found.warnings.push(("nested_too_deep", message));
            }
            let text = self.words(node).and_then(|text| lines(&text));
            outline.push(Block { text, ..Block::empty(Kind::Paragraph) });
            return;
        }
        let mut loose = String::new();
        for child in tree.children(node) {
            match tree.piece(child) {
                Piece::Text(text) => loose.push_str(text),
                Piece::Character(character) => loose.push(character),
                Piece::Element(name) if is_block(name) || self.holds_blocks(child) => {
                    self.loose(&mut loose, outline);
                    if !self.is_hidden(child) {
                        self.block(child, name, outline, depth);
                    }
                }
                Piece::Element(_) => self.inline(child, &mut loose),
            }
        }
        self.loose(&mut loose, outline);
    }

    fn loose(&mut self, text: &mut String, outline: &mut Outline) {
        if let Some(text) = lines(&std::mem::take(text)) {
            outline.push(Block::new(Kind::Paragraph, text));
        }
    }

    /// Whether an inline element has blocks inside.
    fn holds_blocks(&self, node: Node) -> bool {
        let mut inner = self.tree.descendants(node);
        inner.any(|inner| matches!(self.tree.piece(inner), Piece::Element(name) if is_block(name) && name != "br"))
    }

    fn block(&mut self, node: Node, name: &str, outline: &mut Outline, depth: u32) {
        let tree = self.tree;
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = name[1..].parse().unwrap_or(1);
                let heading = self.words(node).and_then(|text| one_line(&text));
                if heading.is_some() {
                    outline.section(Section { heading, level, ..Section::default() });
                }
                self.pictures(node, outline);
            }
            "p" => {
                if self.holds_blocks(node) {
                    return self.blocks(node, outline, depth + 1);
                }
                let text = self.words(node).and_then(|text| lines(&text));
                if let Some(text) = text {
                    outline.push(Block::new(Kind::Paragraph, text));
                }
                self.pictures(node, outline);
            }
            "ul" | "ol" | "menu" => self.list(node, name, outline, depth),
            "dl" => self.definitions(node, outline, depth),
            "table" => self.table(node, outline, depth),
            "pre" => {
                let text = tree.verbatim(node);
                if !text.trim().is_empty() {
                    outline.push(Block::new(Kind::Code, text.trim_matches('\n').trim_end()));
                }
            }
            "blockquote" => self.boxed(node, Kind::Quote, None, outline, depth),
            "aside" => {
                let kind = self.kind(node);
                if ["footnote", "endnote", "rearnote", "note"]
                    .iter()
                    .any(|word| kind.contains(word))
                {
                    self.boxed(node, Kind::Footnote, None, outline, depth);
                } else {
                    self.boxed(node, Kind::Quote, Some("aside"), outline, depth);
                }
            }
            "figure" => self.figure(node, outline, depth),
            "img" | "image" | "svg" | "video" | "audio" | "object" => self.picture(node, outline),
            "math" => {
                let (tex, text) = formula(tree, node);
                if tex.is_some() || text.is_some() {
                    let text = text.filter(|_| tex.is_none());
                    outline.push(Block { tex, text, ..Block::empty(Kind::Equation) });
                }
            }
            "hr" | "br" | "script" | "style" | "head" | "template" => {}
            "nav" if self.kind(node).contains("toc") => {
                // The table of contents repeats the headings.
            }
            _ => {
                let kind = self.kind(node);
                if name == "div" && kind.contains("footnote") && !self.holds_footnotes(node) {
                    self.boxed(node, Kind::Footnote, None, outline, depth);
                } else {
                    self.blocks(node, outline, depth + 1);
                }
            }
        }
    }

    fn holds_footnotes(&self, node: Node) -> bool {
        self.tree.descendants(node).any(|inner| {
            !self.tree.name(inner).is_empty() && self.kind(inner).contains("footnote")
                || matches!(
                    self.tree.name(inner),
                    "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ol" | "ul"
                )
        })
    }

    fn boxed(
        &mut self,
        node: Node,
        kind: Kind,
        role: Option<&str>,
        outline: &mut Outline,
        depth: u32,
    ) {
        let mut inside = Outline::default();
        self.blocks(node, &mut inside, depth + 1);
        if let Some(block) = boxed(kind, role, inside.into_blocks()) {
            outline.push(block);
        }
    }

    fn list(&mut self, node: Node, name: &str, outline: &mut Outline, depth: u32) {
        let tree = self.tree;
        let kind = self.kind(node);
        let bibliography = kind.contains("bibliography") || kind.contains("biblio");
        let mut items = Vec::new();
        for child in tree.elements(node) {
            if self.is_hidden(child) {
                continue;
            }
            let mut inside = Outline::default();
            if matches!(tree.name(child), "ul" | "ol") {
                let name = tree.name(child);
                self.list(child, name, &mut inside, depth + 1);
            } else {
                self.blocks(child, &mut inside, depth + 1);
            }
            let blocks = inside.into_blocks();
            let entry = self.kind(child);
            if bibliography || entry.contains("biblioentry") {
                let mut text = String::new();
                crate::docx::tables::flatten(blocks, &mut text, &mut Vec::new());
                if let Some(text) = one_line(&text) {
                    self.found.references.push(Reference::of_text(text));
                }
                continue;
            }
            if let Some(item) = item(blocks) {
                items.push(item);
            }
        }
        if !items.is_empty() {
            outline.push(Block { ordered: name == "ol", items, ..Block::empty(Kind::List) });
        }
    }

    fn definitions(&mut self, node: Node, outline: &mut Outline, depth: u32) {
        let tree = self.tree;
        let mut items: Vec<Item> = Vec::new();
        let mut parts = Vec::new();
        for child in tree.elements(node) {
            if tree.name(child) == "div" {
                parts.extend(tree.elements(child));
            } else {
                parts.push(child);
            }
        }
        for part in parts {
            if tree.name(part) == "dt" {
                let label = self.words(part).and_then(|text| one_line(&text));
                items.push(Item { label, ..Item::default() });
                continue;
            }
            let mut inside = Outline::default();
            self.blocks(part, &mut inside, depth + 1);
            let Some(found) = item(inside.into_blocks()) else { continue };
            match items.last_mut() {
                Some(last) if last.text.is_none() && last.blocks.is_empty() => {
                    (last.text, last.blocks) = (found.text, found.blocks);
                }
                Some(last) => {
                    last.blocks.extend(found.text.map(|text| Block::new(Kind::Paragraph, text)));
                    last.blocks.extend(found.blocks);
                }
                None => items.push(found),
            }
        }
        items.retain(|item| *item != Item::default());
        if !items.is_empty() {
            let role = Some("def-list".to_owned());
            outline.push(Block { role, items, ..Block::empty(Kind::List) });
        }
    }
}

enum Close {
    Script(Script, usize),
    Link(String, usize),
}

/// An item of its blocks.
fn item(mut blocks: Vec<Block>) -> Option<Item> {
    let first = blocks.first()?;
    let plain = first.kind == Kind::Paragraph && first.blocks.is_empty();
    let text = if plain { blocks.remove(0).text } else { None };
    Some(Item { label: None, text, blocks })
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "p" | "div"
            | "section"
            | "article"
            | "main"
            | "header"
            | "footer"
            | "nav"
            | "aside"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "ul"
            | "ol"
            | "menu"
            | "li"
            | "dl"
            | "dt"
            | "dd"
            | "table"
            | "tr"
            | "td"
            | "th"
            | "pre"
            | "blockquote"
            | "figure"
            | "figcaption"
            | "hr"
            | "address"
            | "details"
            | "summary"
            | "form"
            | "fieldset"
            | "center"
            | "body"
    )
}

/// The text of a page that is not well formed: tags removed, a paragraph for each block.
pub(crate) fn rescue(text: &str) -> Vec<String> {
    let body = text.find("<body").map_or(text, |at| &text[at..]);
    let mut out = Vec::new();
    let mut paragraph = String::new();
    let mut rest = body;
    while !rest.is_empty() {
        let Some(at) = rest.find('<') else {
            paragraph.push_str(rest);
            break;
        };
        paragraph.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find('>').map_or(rest.len(), |end| end + 1);
        let name = rest[1.min(rest.len())..end].trim_start_matches('/');
        let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        if matches!(name.as_str(), "script" | "style") && !rest.starts_with("</") {
            let close = format!("</{name}");
            let skip = rest.find(&close).unwrap_or(rest.len());
            rest = &rest[skip..];
            continue;
        }
        if is_block(&name) || name == "br" {
            out.push(std::mem::take(&mut paragraph));
        }
        rest = &rest[end..];
    }
    out.push(paragraph);
    let decoded = |text: String| one_line(&carrel_pdk::text::decode_entities(&text));
    out.into_iter().filter_map(decoded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(body: &str) -> Vec<Block> {
        let page = format!("<html><body>{body}</body></html>");
        let tree = Tree::read(&page, "a page").unwrap();
        let mut outline = Outline::default();
        Chapter::new(&tree).read(&mut outline);
        outline.into_blocks()
    }

    #[test]
    fn words_between_blocks_are_paragraphs() {
        let found = blocks("<div>one <i>two</i><p>three</p>four</div>");
        let texts: Vec<_> = found.iter().filter_map(|block| block.text.as_deref()).collect();
        assert_eq!(texts, ["one two", "three", "four"]);
    }

    #[test]
    fn lists_are_nested_and_tables_are_grids() {
        let found = blocks(
            "<ol><li>a<ul><li>b</li></ul></li></ol><table><tr><th>h</th></tr><tr><td>c</td></tr></table>",
        );
        assert!(found[0].ordered && found[0].items[0].blocks[0].kind == Kind::List);
        assert_eq!((found[1].rows.len(), found[1].header_rows), (2, 1));
    }

    #[test]
    fn a_page_that_is_not_well_formed_keeps_its_words() {
        assert_eq!(rescue("<body><p>a &amp; b<br>c<style>x{}</style><p>d"), ["a & b", "c", "d"]);
    }
}
