//! WordprocessingML: `word/document.xml` and what it refers to.

use std::collections::HashMap;

use carrel_pdk::Error;
use carrel_pdk::document::{Block, Document, Item, Kind, Reference, Section};
use carrel_pdk::text::Script;
use carrel_pdk::xml::tree::{Node, Tree};

use crate::outline::{LINE, Outline, lines};
use crate::package::{MainPart, Package, Relations, target, tree};
use crate::styles::{Numbering, Shape, Styles};
use crate::zip::Zip;
use crate::{DEEPEST, drawing, omml, properties, sealed};
use bibliography::is_reference_heading;
use floats::texts;

pub(crate) mod bibliography;
mod floats;
pub(crate) mod tables;
mod words;

const MAIN: MainPart = MainPart {
    usual: "word/document.xml",
    what: "a Word document",
    this: "the Word document",
    root: "document",
    mistaken: ("presentation", "pptx"),
};

/// Notes of one document.
const MAX_NOTES: usize = 50_000;

/// A part being read.
#[derive(Clone, Copy)]
struct Source<'s, 'd> {
    tree: &'s Tree<'d>,
    relations: &'s Relations,
    part: &'s str,
}

/// A document being read.
struct Reader<'p, 'd> {
    package: &'p Package<'d>,
    document: Document,
    styles: Styles,
    numbering: Numbering,
    footnotes: HashMap<String, Vec<Block>>,
    endnotes: HashMap<String, Vec<Block>>,
    comments: HashMap<String, (Option<String>, Vec<Block>)>,
    /// Notes that the text has referred to.
    noted: u32,
    /// Complex fields that are open: the instruction, and whether its result has begun.
    fields: Vec<Field>,
    /// A caption whose table has not been read yet.
    caption: Option<String>,
    /// The section that is open lists references.
    in_references: bool,
    hidden: u64,
    deep: bool,
}

#[derive(Debug, Default)]
struct Field {
    instruction: String,
    result: bool,
    /// Where in the paragraph its result begins.
    start: Option<usize>,
}

/// A paragraph's words.
#[derive(Debug, Default)]
struct Words {
    text: String,
    /// Notes and comments in their order.
    notes: Vec<Block>,
    /// Drawings, read after the paragraph.
    floats: Vec<Node>,
    /// Formulas: where they begin and end in the text, and their TeX.
    formulas: Vec<(usize, usize, String)>,
    /// The paragraph is in a generated bibliography.
    bibliography: bool,
}

enum Close {
    Link(String, usize),
    Script(Script, usize),
}

/// Reads the archive.
pub(crate) fn read(zip: Zip<'_>) -> Result<Document, Error> {
    let package = Package::new(zip);
    let root = package.relations("");
    let Some((main, text)) = MAIN.find(&package, &root)? else {
        return Ok(sealed::encrypted(MAIN.this));
    };
    let body = MAIN.tree(&main, &text)?;
    let relations = package.relations(&main);
    let mut reader = Reader {
        package: &package,
        document: Document::default(),
        styles: Styles::default(),
        numbering: Numbering::default(),
        footnotes: HashMap::new(),
        endnotes: HashMap::new(),
        comments: HashMap::new(),
        noted: 0,
        fields: Vec::new(),
        caption: None,
        in_references: false,
        hidden: 0,
        deep: false,
    };
    if package.zip.damaged {
        let message = "the archive's directory is missing or broken: its entries were looked for";
        reader.document.warn("damaged_archive", message, None);
    }
    properties::read(&package, &root, &mut reader.document);
    let stated = reader.document.title.take();
    reader.read_parts(&relations);
    reader.warn_external(&relations, &main);
    let source = Source { tree: &body, relations: &relations, part: &main };
    let mut outline = Outline::of_document();
    let start = body.child(body.root(), "body").unwrap_or(body.root());
    reader.blocks(source, start, &mut outline, 0);
    reader.flush_caption(&mut outline);
    reader.sources(&relations);
    let mut document = reader.finish();
    document.title = document.title.or(stated);
    document.sections = outline.into_sections();
    Ok(document)
}

impl<'p, 'd> Reader<'p, 'd> {
    fn finish(mut self) -> Document {
        if self.hidden > 0 {
            let message = format!("{} pieces of hidden text are left out", self.hidden);
            self.document.warn("hidden_text", message, None);
        }
        self.document
    }

    /// Reads a part that the text refers to; a broken part is a warning.
    fn part(
        &mut self,
        relations: &Relations,
        kind: &str,
        with: impl FnOnce(&mut Self, Source<'_, '_>),
    ) {
        let Some(part) = target(relations, kind) else { return };
        self.named_part(part, with);
    }

    fn named_part(&mut self, part: &str, with: impl FnOnce(&mut Self, Source<'_, '_>)) {
        let text = match self.package.text(part) {
            Ok(Some(text)) => text,
            Ok(None) => {
                let message = "the document refers to a part that the archive does not have";
                return self.document.warn("missing_part", message, Some(part.to_owned()));
            }
            Err(error) => {
                return self.document.warn("damaged_part", error.message, Some(part.to_owned()));
            }
        };
        match tree(part, &text, "a part of a Word document") {
            Ok(tree) => {
                let relations = self.package.relations(part);
                with(self, Source { tree: &tree, relations: &relations, part });
            }
            Err(error) => self.document.warn("damaged_part", error.message, Some(part.to_owned())),
        }
    }

    /// Reads styles, numbering, notes, comments, headers and footers.
    fn read_parts(&mut self, relations: &Relations) {
        self.part(relations, "styles", |reader, source| reader.styles = Styles::read(source.tree));
        self.part(relations, "numbering", |reader, source| {
            reader.numbering = Numbering::read(source.tree);
        });
        self.part(relations, "footnotes", |reader, source| {
            reader.footnotes = reader.notes(source, "footnote");
        });
        self.part(relations, "endnotes", |reader, source| {
            reader.endnotes = reader.notes(source, "endnote");
        });
        self.part(relations, "comments", |reader, source| {
            let authors: Vec<(String, Option<String>)> = source
                .tree
                .elements(source.tree.root())
                .filter_map(|node| {
                    let id = source.tree.attribute(node, "id")?.into_owned();
                    Some((id, source.tree.attribute(node, "author").map(|name| name.into_owned())))
                })
                .collect();
            let mut texts = reader.notes(source, "comment");
            for (id, author) in authors {
                if let Some(blocks) = texts.remove(&id) {
                    reader.comments.insert(id, (author, blocks));
                }
            }
        });
        let mut running: Vec<(String, String)> = relations
            .values()
            .filter(|rel| !rel.external && matches!(rel.kind.as_str(), "header" | "footer"))
            .map(|rel| (rel.target.clone(), rel.kind.clone()))
            .collect();
        running.sort();
        running.dedup();
        for (part, kind) in running {
            self.named_part(&part, |reader, source| {
                let mut outline = Outline::default();
                reader.blocks(source, source.tree.root(), &mut outline, 1);
                for text in texts(&outline.into_blocks()) {
                    properties::state(&mut reader.document, &kind, None, &text, source.part);
                }
            });
        }
    }

    /// The notes of a part by their identifiers.
    fn notes(&mut self, source: Source<'_, '_>, name: &str) -> HashMap<String, Vec<Block>> {
        let tree = source.tree;
        let mut notes = HashMap::new();
        for node in
            tree.elements(tree.root()).filter(|&node| tree.name(node) == name).take(MAX_NOTES)
        {
            let kind = tree.attribute(node, "type");
            if matches!(
                kind.as_deref(),
                Some("separator" | "continuationSeparator" | "continuationNotice")
            ) {
                continue;
            }
            let Some(id) = tree.attribute(node, "id") else { continue };
            let mut outline = Outline::default();
            self.blocks(source, node, &mut outline, 1);
            notes.insert(id.into_owned(), outline.into_blocks());
        }
        notes
    }

    /// Warns of parts outside the document, which are never read.
    fn warn_external(&mut self, relations: &Relations, main: &str) {
        let mut external: Vec<_> = relations
            .values()
            .filter(|rel| rel.external && rel.kind != "hyperlink")
            .map(|rel| (rel.kind.as_str(), rel.target.as_str()))
            .collect();
        external.sort_unstable();
        external.dedup();
        for (kind, address) in external {
            let message = format!("{kind} outside the document is not read: {address}");
            self.document.warn("external_relation", message, Some(main.to_owned()));
        }
    }

    /// Reads the blocks inside a node.
    fn blocks(&mut self, source: Source<'_, '_>, node: Node, outline: &mut Outline, depth: u32) {
        let tree = source.tree;
        if depth > DEEPEST {
            if !std::mem::replace(&mut self.deep, true) {
                let location = format!("byte {} of {}", tree.offset(node), source.part);
                let message =
                    format!("blocks nested deeper than {DEEPEST} are read as one paragraph");
                self.document.warn("nested_too_deep", message, Some(location));
            }
            if let Some(text) = drawing::words(tree, node) {
                outline.push(Block::new(Kind::Paragraph, text));
            }
            return;
        }
        for child in tree.elements(node) {
            match tree.name(child) {
                "p" => self.paragraph(source, child, outline, depth),
                "tbl" => self.table(source, child, outline, depth),
                "sdt" => {
                    if let Some(content) = tree.child(child, "sdtContent") {
                        self.blocks(source, content, outline, depth + 1);
                    }
                }
                "AlternateContent" => {
                    if let Some(branch) = drawing::branch(tree, child) {
                        self.blocks(source, branch, outline, depth + 1);
                    }
                }
                "oMathPara" | "oMath" => {
                    if let Some(tex) = omml::tex(tree, child) {
                        outline.push(Block { tex: Some(tex), ..Block::empty(Kind::Equation) });
                    }
                }
                "altChunk" | "subDoc" => {
                    let id = tree.prefixed_attribute(child, "id").unwrap_or_default();
                    let target = source.relations.get(id.as_ref()).map_or("", |rel| &rel.target);
                    let message = format!("a document inside the document is not read: {target}");
                    let location = format!("byte {} of {}", tree.offset(child), source.part);
                    self.document.warn("embedded_document", message, Some(location));
                }
                "del" | "moveFrom" | "sectPr" | "sdtPr" | "tcPr" | "pPr" | "tblPr" | "tblGrid"
                | "trPr" => {}
                _ => self.blocks(source, child, outline, depth + 1),
            }
        }
    }

    fn paragraph(&mut self, source: Source<'_, '_>, node: Node, outline: &mut Outline, depth: u32) {
        let shape = Shape::of(source.tree, node);
        let mut words = self.words(source, node);
        let names = self.styles.names(&shape);
        let named = |expected: &[&str]| names.iter().any(|name| expected.contains(&name.as_str()));
        let text = lines(&words.text);
        let heading = self.styles.heading(&shape);
        let list = self.styles.list(&shape);
        let number = list
            .as_ref()
            .filter(|_| text.is_some())
            .map(|(list, level)| self.numbering.next(list, *level, &self.styles));
        let formula = words.formulas.first().filter(|(from, to, _)| {
            let rest = [&words.text[..*from], &words.text[*to..]].concat();
            words.formulas.len() == 1
                && rest.trim_matches(|c: char| c.is_whitespace() || c == LINE).is_empty()
        });
        let formula = formula.map(|(_, _, tex)| tex.clone());
        if let Some(text) = text {
            let is_title = names.first().is_some_and(|name| name == "title");
            let is_code = names.first().is_some_and(|name| {
                ["html preformatted", "macro text", "source code", "code", "verbatim"]
                    .iter()
                    .any(|style| name.contains(style))
            });
            if let Some(tex) = formula {
                self.flush_caption(outline);
                outline.push(Block { tex: Some(tex), ..Block::empty(Kind::Equation) });
            } else if is_title && self.document.title.is_none() && depth == 0 {
                self.document.title = Some(text.replace('\n', " "));
            } else if let Some(level) = heading.or(is_title.then_some(1)) {
                self.flush_caption(outline);
                let heading = text.replace('\n', " ");
                let label = number.and_then(|number| number.label);
                let references = depth <= 1 && is_reference_heading(&heading);
                let within = self.in_references && level > outline.level();
                self.in_references = references || within;
                let kind = references.then(|| "references".to_owned());
                let (heading, level) = (Some(heading), level.max(1));
                outline.section(Section { heading, level, label, kind, ..Section::default() });
            } else if depth <= 2
                && (self.in_references
                    || words.bibliography
                    || named(&["bibliography", "endnote bibliography"]))
            {
                let label = number.and_then(|number| number.label);
                let text = text.replace('\n', " ");
                self.document.references.push(Reference { label, ..Reference::of_text(text) });
            } else if named(&["caption"]) {
                let last = outline
                    .last()
                    .filter(|block| block.kind == Kind::Figure && block.caption.is_none());
                match last {
                    Some(figure) => figure.caption = Some(text),
                    None => {
                        self.flush_caption(outline);
                        self.caption = Some(text);
                    }
                }
            } else if let Some(number) = number {
                self.flush_caption(outline);
                let level = list.map_or(0, |(_, level)| level);
                let item = Item { label: number.label, text: Some(text), ..Item::default() };
                outline.item(level, number.counted, None, item);
            } else if is_code {
                self.flush_caption(outline);
                let raw = words.text.replace(LINE, "\n");
                let raw = raw.trim_end();
                match outline.last().filter(|last| last.kind == Kind::Code) {
                    Some(code) => {
                        let code = code.text.get_or_insert_default();
                        code.push('\n');
                        code.push_str(raw);
                    }
                    None => outline.push(Block::new(Kind::Code, raw)),
                }
            } else {
                self.flush_caption(outline);
                let quotes = named(&["quote", "intense quote", "block text"]);
                let kind = if quotes { Kind::Quote } else { Kind::Paragraph };
                let role = names.first().filter(|name| {
                    name.starts_with("toc ")
                        || ["subtitle", "author", "abstract"].contains(&name.as_str())
                });
                let role = role.cloned();
                outline.push(Block { role, ..Block::new(kind, text) });
            }
        }
        for float in std::mem::take(&mut words.floats) {
            self.float(source, float, outline, depth);
        }
        for note in words.notes {
            outline.push_inside(note);
        }
    }

    /// Turns a caption without a table into a paragraph.
    fn flush_caption(&mut self, outline: &mut Outline) {
        if let Some(caption) = self.caption.take() {
            let role = Some("caption".to_owned());
            outline.push(Block { role, ..Block::new(Kind::Paragraph, caption) });
        }
    }
}

enum Run {
    Plain,
    Hidden,
    Script(Script),
}
