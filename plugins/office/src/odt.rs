//! OpenDocument text: `content.xml`, with `styles.xml` and `meta.xml` beside it.

use std::collections::HashMap;

use carrel_pdk::Error;
use carrel_pdk::document::{Block, Document, Item, Kind, Reference, Section};
use carrel_pdk::text::Script;
use carrel_pdk::xml::tree::{Node, Tree};

use crate::docx::bibliography::is_reference_heading;
use crate::outline::{LINE, Outline, lines, one_line};
use crate::package::{Package, tree};
use crate::zip::Zip;
use crate::{DEEPEST, properties, sealed};

mod frames;
mod words;

/// Times that a repeated row or column is written out.
const MAX_REPEATED: u64 = 200;

#[derive(Debug, Default, Clone)]
struct Style {
    parent: Option<String>,
    outline: Option<u32>,
    /// Super- or subscript.
    script: Option<bool>,
    hidden: bool,
    /// Its name for people.
    name: String,
}

struct Reader<'p, 'd> {
    package: &'p Package<'d>,
    document: Document,
    styles: HashMap<String, Style>,
    /// Numbered lists, by style and level.
    counted: HashMap<(String, u32), bool>,
    caption: Option<String>,
    in_references: bool,
    hidden: u64,
    deep: bool,
}

#[derive(Default)]
struct Words {
    text: String,
    notes: Vec<Block>,
    frames: Vec<Node>,
    formula: Option<(String, usize, usize)>,
}

/// Reads the archive.
pub(crate) fn read(zip: Zip<'_>) -> Result<Document, Error> {
    let package = Package::new(zip);
    let protected = package.text("META-INF/manifest.xml").ok().flatten();
    let protected = protected.is_some_and(|text| text.contains(":encryption-data"));
    if protected || package.zip.is_encrypted("content.xml") {
        return Ok(sealed::encrypted("the OpenDocument text"));
    }
    let Some(text) = package.text("content.xml")? else {
        let message = "expected an OpenDocument text but the archive has no content.xml";
        return Err(Error::invalid_document(message, 0, "content.xml"));
    };
    let content = tree("content.xml", &text, "an OpenDocument text")?;
    let body = content.child(content.root(), "body");
    let kind = body.and_then(|body| content.elements(body).next());
    let Some(body) = kind.filter(|&node| content.name(node) == "text") else {
        let found = kind.map_or("nothing", |node| content.name(node));
        let message = format!("expected <office:text> in content.xml but found <{found}>");
        return Err(Error::invalid_document(message, 0, "content.xml"));
    };
    let mut reader = Reader {
        package: &package,
        document: Document::default(),
        styles: HashMap::new(),
        counted: HashMap::new(),
        caption: None,
        in_references: false,
        hidden: 0,
        deep: false,
    };
    if package.zip.damaged {
        let message = "the archive's directory is missing or broken: its entries were looked for";
        reader.document.warn("damaged_archive", message, None);
    }
    reader.metadata();
    let stated = reader.document.title.take();
    if let Some(text) = reader.part("styles.xml")
        && let Ok(styles) = Tree::read(&text, "styles")
    {
        reader.styles(&styles);
        reader.running(&styles);
    }
    reader.styles(&content);
    let mut outline = Outline::of_document();
    reader.blocks(&content, body, &mut outline, 0);
    reader.flush_caption(&mut outline);
    if reader.hidden > 0 {
        let message = format!("{} pieces of hidden text are left out", reader.hidden);
        reader.document.warn("hidden_text", message, None);
    }
    let mut document = reader.document;
    document.title = document.title.or(stated);
    document.sections = outline.into_sections();
    Ok(document)
}

impl Reader<'_, '_> {
    fn part(&mut self, part: &str) -> Option<String> {
        match self.package.text(part) {
            Ok(text) => text,
            Err(error) => {
                self.document.warn("damaged_part", error.message, Some(part.to_owned()));
                None
            }
        }
    }

    fn metadata(&mut self) {
        let Some(text) = self.part("meta.xml") else { return };
        let tree = match tree("meta.xml", &text, "metadata") {
            Ok(tree) => tree,
            Err(error) => {
                return self.document.warn(
                    "damaged_part",
                    error.message,
                    Some("meta.xml".to_owned()),
                );
            }
        };
        let Some(meta) = tree.find(tree.root(), "meta") else { return };
        let document = &mut self.document;
        for node in tree.elements(meta) {
            let name = tree.name(node);
            let from = format!("meta.xml {name}");
            if name == "document-statistic" {
                for (attribute, name) in [("page-count", "pages"), ("word-count", "words")] {
                    if let Some(value) = tree.attribute(node, attribute) {
                        properties::state(document, name, None, &value, &from);
                    }
                }
                continue;
            }
            let Some(value) = tree.text(node) else { continue };
            match name {
                "title" => {
                    properties::state(document, "title", None, &value, &from);
                    document.title = Some(value);
                }
                // The author of the first version; dc:creator is that of the last change.
                "initial-creator" => {
                    properties::state(document, "creator", None, &value, &from);
                    document.authors.push(properties::person(&value));
                }
                "creator" => properties::state(document, "last_modified_by", None, &value, &from),
                "language" => {
                    properties::state(document, "language", None, &value, &from);
                    document.language = Some(value);
                }
                "identifier" => {
                    properties::state(document, "identifier", None, &value, &from);
                    properties::identify(document, &value);
                }
                "creation-date" => properties::state(document, "created", None, &value, &from),
                "date" => properties::state(document, "modified", None, &value, &from),
                "user-defined" => {
                    let kind = tree.attribute(node, "name");
                    properties::state(document, "property", kind.as_deref(), &value, &from);
                    if kind.is_some_and(|kind| kind.eq_ignore_ascii_case("doi")) {
                        properties::identify(document, &value);
                    }
                }
                other => properties::state(document, &other.replace('-', "_"), None, &value, &from),
            }
        }
        if document.authors.is_empty() {
            let last = document.metadata.iter().find(|entry| entry.name == "last_modified_by");
            let person = last.map(|last| properties::person(&last.value));
            document.authors.extend(person);
        }
    }

    fn styles(&mut self, tree: &Tree<'_>) {
        for node in tree.descendants(tree.root()) {
            match tree.name(node) {
                "style" => {
                    let Some(id) = tree.attribute(node, "name") else { continue };
                    let text = tree.child(node, "text-properties");
                    let position = text.and_then(|text| tree.attribute(text, "text-position"));
                    let script = position.and_then(|position| {
                        let first = position.split(' ').next().unwrap_or_default().to_owned();
                        match first.as_str() {
                            "super" => Some(true),
                            "sub" => Some(false),
                            "0%" => None,
                            other if other.starts_with('-') => Some(false),
                            other => other.ends_with('%').then_some(true),
                        }
                    });
                    let hidden = text.and_then(|text| tree.attribute(text, "display"));
                    let shown = tree.attribute(node, "display-name").unwrap_or_else(|| id.clone());
                    let style = Style {
                        parent: tree
                            .attribute(node, "parent-style-name")
                            .map(|name| name.into_owned()),
                        outline: tree
                            .attribute(node, "default-outline-level")
                            .and_then(|level| level.parse().ok()),
                        script,
                        hidden: hidden.as_deref() == Some("none"),
                        name: shown.replace("_20_", " ").to_lowercase(),
                    };
                    self.styles.insert(id.into_owned(), style);
                }
                "list-style" => {
                    let Some(id) = tree.attribute(node, "name") else { continue };
                    for level in tree.elements(node) {
                        let number =
                            tree.attribute(level, "level").and_then(|number| number.parse().ok());
                        let format = tree.attribute(level, "num-format");
                        let counts =
                            tree.name(level) == "list-level-style-number" && format.is_some();
                        if let Some(number) = number {
                            self.counted.insert((id.clone().into_owned(), number), counts);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Headers and footers, which the master pages have.
    fn running(&mut self, tree: &Tree<'_>) {
        let Some(masters) = tree.find(tree.root(), "master-styles") else { return };
        for node in tree.descendants(masters) {
            let kind = match tree.name(node) {
                "header" | "header-left" | "header-first" => "header",
                "footer" | "footer-left" | "footer-first" => "footer",
                _ => continue,
            };
            for paragraph in
                tree.descendants(node).filter(|&inner| matches!(tree.name(inner), "p" | "h"))
            {
                let words = self.words(tree, paragraph, 0);
                if let Some(text) = one_line(&words.text) {
                    properties::state(&mut self.document, kind, None, &text, "styles.xml");
                }
            }
        }
    }

    /// A style and its parents.
    fn chain<'s>(&'s self, id: Option<&'s str>) -> impl Iterator<Item = &'s Style> {
        let first = id.and_then(|id| self.styles.get(id));
        std::iter::successors(first, |style| self.styles.get(style.parent.as_deref()?)).take(20)
    }

    fn blocks(&mut self, tree: &Tree<'_>, node: Node, outline: &mut Outline, depth: u32) {
        if depth > DEEPEST {
            if !std::mem::replace(&mut self.deep, true) {
                let location = format!("byte {} of content.xml", tree.offset(node));
                let message =
                    format!("blocks nested deeper than {DEEPEST} are read as one paragraph");
                self.document.warn("nested_too_deep", message, Some(location));
            }
            if let Some(text) = tree.text(node) {
                outline.push(Block::new(Kind::Paragraph, text));
            }
            return;
        }
        for child in tree.elements(node) {
            match tree.name(child) {
                "h" => self.paragraph(tree, child, outline, depth),
                "p" => self.paragraph(tree, child, outline, depth),
                "list" => {
                    self.flush_caption(outline);
                    let style = tree.attribute(child, "style-name").map(|name| name.into_owned());
                    self.list(tree, child, style.as_deref(), 1, outline, depth);
                    outline.close_lists();
                }
                "table" => self.table(tree, child, outline, depth),
                "frame" | "custom-shape" | "text-box" | "g" | "rect" | "ellipse" | "line" => {
                    self.frame(tree, child, outline, depth);
                }
                "bibliography" => {
                    let before = std::mem::replace(&mut self.in_references, true);
                    if let Some(body) = tree.child(child, "index-body") {
                        self.blocks(tree, body, outline, depth + 1);
                    }
                    self.in_references = before;
                }
                "tracked-changes"
                | "sequence-decls"
                | "variable-decls"
                | "user-field-decls"
                | "forms"
                | "table-of-content-source"
                | "bibliography-source"
                | "alphabetical-index-source"
                | "illustration-index-source"
                | "table-index-source"
                | "object-index-source"
                | "user-index-source" => {}
                "section" if tree.attribute(child, "display").as_deref() == Some("none") => {
                    if !tree.is_blank(child) {
                        self.hidden += 1;
                    }
                }
                "section-source" => {
                    if let Some(href) = tree.attribute(child, "href") {
                        let message = format!("a section outside the document is not read: {href}");
                        self.document.warn(
                            "external_relation",
                            message,
                            Some("content.xml".to_owned()),
                        );
                    }
                }
                _ => self.blocks(tree, child, outline, depth + 1),
            }
        }
    }

    fn paragraph(&mut self, tree: &Tree<'_>, node: Node, outline: &mut Outline, depth: u32) {
        let style = tree.attribute(node, "style-name").map(|name| name.into_owned());
        let names: Vec<String> =
            self.chain(style.as_deref()).map(|style| style.name.clone()).collect();
        let names = if names.is_empty() {
            style.iter().map(|id| id.replace("_20_", " ").to_lowercase()).collect()
        } else {
            names
        };
        let named = |expected: &str| names.iter().any(|name| name == expected);
        let level = match tree.name(node) {
            "h" => {
                let level =
                    tree.attribute(node, "outline-level").and_then(|level| level.parse().ok());
                Some(level.unwrap_or(1_u32).clamp(1, 10))
            }
            _ => self
                .chain(style.as_deref())
                .find_map(|style| style.outline)
                .filter(|level| *level > 0),
        };
        let words = self.words(tree, node, depth);
        if let Some(text) = lines(&words.text) {
            let formula = words.formula.as_ref().filter(|(_, from, to)| {
                [&words.text[..*from], &words.text[*to..]].concat().trim().is_empty()
            });
            if let Some((tex, _, _)) = formula {
                self.flush_caption(outline);
                outline.push(Block { text: Some(tex.clone()), ..Block::empty(Kind::Equation) });
            } else if named("title") && self.document.title.is_none() && depth == 0 {
                self.document.title = Some(text.replace('\n', " "));
            } else if let Some(level) = level {
                self.flush_caption(outline);
                let heading = text.replace('\n', " ");
                let references = is_reference_heading(&heading);
                self.in_references = references || (self.in_references && level > outline.level());
                let kind = references.then(|| "references".to_owned());
                outline.section(Section {
                    heading: Some(heading),
                    level,
                    kind,
                    ..Section::default()
                });
            } else if self.in_references
                || names.first().is_some_and(|name| {
                    name.starts_with("bibliography ") && !name.contains("heading")
                })
            {
                self.document.references.push(Reference::of_text(text.replace('\n', " ")));
            } else if named("caption") {
                let last = outline.last().filter(|block| {
                    matches!(block.kind, Kind::Figure | Kind::Table) && block.caption.is_none()
                });
                match last {
                    Some(block) => block.caption = Some(text),
                    None => {
                        self.flush_caption(outline);
                        self.caption = Some(text);
                    }
                }
            } else if named("preformatted text") {
                let raw = words.text.replace(LINE, "\n");
                match outline.last().filter(|last| last.kind == Kind::Code) {
                    Some(code) => {
                        let code = code.text.get_or_insert_default();
                        code.push('\n');
                        code.push_str(raw.trim_end());
                    }
                    None => outline.push(Block::new(Kind::Code, raw.trim_end())),
                }
            } else {
                self.flush_caption(outline);
                let quotes = named("quotations") || named("quote");
                let kind = if quotes { Kind::Quote } else { Kind::Paragraph };
                let role =
                    names.first().filter(|name| ["subtitle", "author"].contains(&name.as_str()));
                outline.push(Block { role: role.cloned(), ..Block::new(kind, text) });
            }
        }
        for frame in words.frames {
            self.frame(tree, frame, outline, depth);
        }
        for note in words.notes {
            outline.push(note);
        }
    }

    fn flush_caption(&mut self, outline: &mut Outline) {
        if let Some(caption) = self.caption.take() {
            let role = Some("caption".to_owned());
            outline.push(Block { role, ..Block::new(Kind::Paragraph, caption) });
        }
    }

    fn list(
        &mut self,
        tree: &Tree<'_>,
        node: Node,
        style: Option<&str>,
        level: u32,
        outline: &mut Outline,
        depth: u32,
    ) {
        if depth > DEEPEST {
            return self.blocks(tree, node, outline, depth);
        }
        let key = (style.unwrap_or_default().to_owned(), level);
        let counted = self.counted.get(&key).copied().unwrap_or(false);
        for entry in tree
            .elements(node)
            .filter(|&entry| matches!(tree.name(entry), "list-item" | "list-header"))
        {
            let mut inside = Outline::default();
            let mut headings = Vec::new();
            for child in tree.elements(entry) {
                match tree.name(child) {
                    "list" => {
                        let own = tree.attribute(child, "style-name").map(|name| name.into_owned());
                        let style = own.as_deref().or(style);
                        self.list(tree, child, style, level + 1, &mut inside, depth + 1);
                        inside.close_lists();
                    }
                    // Numbered headings are in lists.
                    "h" => headings.push(child),
                    "p" => self.paragraph(tree, child, &mut inside, depth + 1),
                    _ => self.blocks(tree, child, &mut inside, depth + 1),
                }
            }
            for heading in headings {
                self.paragraph(tree, heading, outline, depth);
            }
            let mut blocks = inside.into_blocks();
            let first = blocks.first();
            let plain =
                first.is_some_and(|first| first.kind == Kind::Paragraph && first.blocks.is_empty());
            let text = if plain { blocks.remove(0).text } else { None };
            if text.is_some() || !blocks.is_empty() {
                outline.item(level, counted, None, Item { label: None, text, blocks });
            }
        }
    }
}

enum Close {
    Link(String, usize),
    Script(Script, usize),
}
