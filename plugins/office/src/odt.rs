//! OpenDocument text: `content.xml`, with `styles.xml` and `meta.xml` beside it.

use std::collections::HashMap;

use carrel_pdk::Error;
use carrel_pdk::document::{Block, Document, Item, Kind, Reference, Section};
use carrel_pdk::text::{Script, write_script};
use carrel_pdk::xml::tree::{Node, Piece, Tree};

use crate::docx::{flatten, is_reference_heading};
use crate::outline::{LINE, Outline, boxed, lines, one_line};
use crate::package::{Package, resolve, tree};
use crate::zip::Zip;
use crate::{DEEPEST, properties, sealed, xhtml};
use carrel_pdk::document::grid::{Cell, place};

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
    /// Lists whose levels count, by style and level.
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
                // Who made the first version; dc:creator made the last change.
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
            let last = document.metadata.iter().find(|one| one.name == "last_modified_by");
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

    /// A style and those behind it.
    fn chain<'s>(&'s self, id: Option<&'s str>) -> impl Iterator<Item = &'s Style> {
        let first = id.and_then(|id| self.styles.get(id));
        std::iter::successors(first, |style| self.styles.get(style.parent.as_deref()?)).take(20)
    }

    fn blocks(&mut self, tree: &Tree<'_>, node: Node, outline: &mut Outline, depth: u32) {
        if depth > DEEPEST {
            if !std::mem::replace(&mut self.deep, true) {
                let place = format!("byte {} of content.xml", tree.offset(node));
                let message =
                    format!("blocks nested deeper than {DEEPEST} are read as one paragraph");
                self.document.warn("nested_too_deep", message, Some(place));
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
        let named = |wanted: &str| names.iter().any(|name| name == wanted);
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

    fn words(&mut self, tree: &Tree<'_>, paragraph: Node, depth: u32) -> Words {
        let mut words = Words::default();
        let mut open: Vec<(Node, Close)> = Vec::new();
        let mut skipped: Option<Node> = None;
        for inner in tree.descendants(paragraph) {
            if skipped.is_some_and(|skipped| tree.contains(skipped, inner)) {
                continue;
            }
            while let Some((_, close)) = open.pop_if(|(outer, _)| !tree.contains(*outer, inner)) {
                self.close(close, &mut words);
            }
            let start = words.text.len();
            match tree.piece(inner) {
                Piece::Text(text) => words.text.push_str(text),
                Piece::Character(character) => words.text.push(character),
                Piece::Element(name) => match name {
                    "s" => {
                        let count = tree.attribute(inner, "c").and_then(|count| count.parse().ok());
                        let count: usize = count.unwrap_or(1);
                        words.text.push_str(&" ".repeat(count.min(80)));
                    }
                    "tab" => words.text.push('\t'),
                    "line-break" => words.text.push(LINE),
                    "a" => {
                        let href =
                            tree.attribute(inner, "href").filter(|href| !href.starts_with('#'));
                        if let Some(href) = href {
                            open.push((inner, Close::Link(href.into_owned(), start)));
                        }
                    }
                    "span" => {
                        let style =
                            tree.attribute(inner, "style-name").map(|name| name.into_owned());
                        let style = style.as_deref();
                        if self.chain(style).any(|style| style.hidden) && !tree.is_blank(inner) {
                            self.hidden += 1;
                            skipped = Some(inner);
                        } else if let Some(up) = self.chain(style).find_map(|style| style.script)
                            && tree.find(inner, "note").is_none()
                        {
                            let script = if up { Script::Super } else { Script::Sub };
                            open.push((inner, Close::Script(script, start)));
                        }
                    }
                    "note" => {
                        self.note(tree, inner, &mut words, depth);
                        skipped = Some(inner);
                    }
                    "annotation" => {
                        self.comment(tree, inner, &mut words, depth);
                        skipped = Some(inner);
                    }
                    "ruby-text" => {
                        if let Some(reading) = tree.text(inner) {
                            words.text.push_str(&format!("({reading})"));
                        }
                        skipped = Some(inner);
                    }
                    "frame" | "custom-shape" | "text-box" | "g" | "rect" | "ellipse" | "line" => {
                        match self.formula(tree, inner) {
                            Some(text) => {
                                words.text.push_str(&text);
                                words.formula = Some((text, start, words.text.len()));
                            }
                            None => words.frames.push(inner),
                        }
                        skipped = Some(inner);
                    }
                    "annotation-end" | "tracked-changes" | "hidden-text" => skipped = Some(inner),
                    _ => {}
                },
            }
        }
        while let Some((_, close)) = open.pop() {
            self.close(close, &mut words);
        }
        words
    }

    fn close(&mut self, close: Close, words: &mut Words) {
        match close {
            Close::Link(href, start) => {
                let text = words.text.get(start..).and_then(one_line);
                self.document.link(&href, text.as_deref());
            }
            Close::Script(script, start) => {
                let content = words.text.split_off(start.min(words.text.len()));
                let core = content.trim();
                let lead = content.len() - content.trim_start().len();
                words.text.push_str(&content[..lead]);
                write_script(script, core, &mut words.text);
                words.text.push_str(&content[lead + core.len()..]);
            }
        }
    }

    /// The text of a formula, which is an object of its own.
    fn formula(&self, tree: &Tree<'_>, frame: Node) -> Option<String> {
        let object = tree.find(frame, "object")?;
        let inline = tree.find(object, "math").map(|math| xhtml::formula(tree, math));
        if let Some((tex, text)) = inline {
            return tex.map(|tex| format!("${tex}$")).or(text);
        }
        let href = tree.attribute(object, "href").filter(|href| !href.contains("://"))?;
        let part = format!("{}/content.xml", resolve("", &href));
        let text = self.package.text(&part).ok().flatten()?;
        let object = Tree::read(&text, "a formula").ok()?;
        let math = if object.name(object.root()) == "math" {
            object.root()
        } else {
            object.find(object.root(), "math")?
        };
        let (tex, text) = xhtml::formula(&object, math);
        tex.map(|tex| format!("${tex}$")).or(text)
    }

    fn note(&mut self, tree: &Tree<'_>, node: Node, words: &mut Words, depth: u32) {
        let label = tree.child(node, "note-citation").and_then(|mark| {
            tree.text(mark)
                .or_else(|| tree.attribute(mark, "label").map(|label| label.into_owned()))
        });
        let mut inside = Outline::default();
        if let Some(body) = tree.child(node, "note-body") {
            let references = std::mem::replace(&mut self.in_references, false);
            self.blocks(tree, body, &mut inside, depth + 1);
            self.in_references = references;
        }
        let endnote = tree.attribute(node, "note-class").as_deref() == Some("endnote");
        let role = endnote.then_some("endnote");
        if let Some(note) = boxed(Kind::Footnote, role, inside.into_blocks()) {
            if let Some(label) = &label {
                write_script(Script::Super, label, &mut words.text);
            }
            words.notes.push(Block { label, ..note });
        }
    }

    fn comment(&mut self, tree: &Tree<'_>, node: Node, words: &mut Words, depth: u32) {
        let label = tree.child(node, "creator").and_then(|name| tree.text(name));
        let mut inside = Outline::default();
        for child in tree.elements(node) {
            match tree.name(child) {
                "p" => self.paragraph(tree, child, &mut inside, depth + 1),
                "list" => self.list(tree, child, None, 1, &mut inside, depth + 1),
                _ => {}
            }
        }
        if let Some(note) = boxed(Kind::Footnote, Some("comment"), inside.into_blocks()) {
            words.notes.push(Block { label, ..note });
        }
    }

    /// Reads a frame: a text box, a picture, an object.
    fn frame(&mut self, tree: &Tree<'_>, frame: Node, outline: &mut Outline, depth: u32) {
        let said = ["desc", "title"].iter().find_map(|name| tree.text(tree.child(frame, name)?));
        let mut picture = false;
        if let Some(text) = self.formula(tree, frame) {
            return outline.push(Block::new(Kind::Equation, text));
        }
        let is_box = |name: &str| {
            matches!(name, "text-box" | "custom-shape" | "g" | "rect" | "ellipse" | "line")
        };
        let mut parts: Vec<Node> = tree.elements(frame).collect();
        if is_box(tree.name(frame)) {
            parts = vec![frame];
        }
        for part in parts {
            match tree.name(part) {
                name if is_box(name) => {
                    let mut inside = Outline::default();
                    let (caption, references) = (self.caption.take(), self.in_references);
                    self.in_references = false;
                    self.blocks(tree, part, &mut inside, depth + 1);
                    self.flush_caption(&mut inside);
                    (self.caption, self.in_references) = (caption, references);
                    let mut blocks = inside.into_blocks();
                    // A picture in a frame of its own with its caption.
                    let captioned = blocks.iter().any(|block| block.kind == Kind::Figure);
                    if captioned {
                        caption_of(&mut blocks);
                        blocks.into_iter().for_each(|block| outline.push(block));
                    } else if let Some(text) = boxed(Kind::Quote, Some("text-box"), blocks) {
                        outline.push(text);
                    }
                }
                "image" if !picture => {
                    let href = tree.attribute(part, "href").map(|href| href.into_owned());
                    if let Some(href) = href.as_deref().filter(|href| href.contains("://")) {
                        let message = format!("a picture outside the document is not read: {href}");
                        self.document.warn(
                            "external_relation",
                            message,
                            Some("content.xml".to_owned()),
                        );
                    }
                    picture = true;
                    outline.push(Block { href, text: said.clone(), ..Block::empty(Kind::Figure) });
                }
                "object" | "object-ole" => {
                    if let Some(table) = tree.find(part, "table") {
                        self.table(tree, table, outline, depth + 1);
                    } else {
                        let href = tree.attribute(part, "href").unwrap_or_default();
                        let place = format!("byte {} of content.xml", tree.offset(part));
                        let message = format!("an embedded object is not read: {href}");
                        self.document.warn("embedded_object", message, Some(place));
                    }
                }
                _ => {}
            }
        }
        if !picture && let Some(text) = said {
            outline.push(Block { text: Some(text), ..Block::empty(Kind::Figure) });
        }
    }

    fn table(&mut self, tree: &Tree<'_>, table: Node, outline: &mut Outline, depth: u32) {
        let caption = self.caption.take();
        let mut block = Block { caption, ..Block::empty(Kind::Table) };
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        let mut headers = 0;
        let mut extra = Vec::new();
        let mut groups: Vec<(Node, bool)> = vec![(table, false)];
        let mut found: Vec<(Node, bool)> = Vec::new();
        while let Some((group, in_head)) = groups.pop() {
            if tree.name(group) == "table-row" {
                found.push((group, in_head));
                continue;
            }
            let mut inner: Vec<(Node, bool)> = Vec::new();
            for child in tree.elements(group) {
                match tree.name(child) {
                    "table-header-rows" => inner.push((child, true)),
                    "table-rows" | "table-row-group" | "table-row" => inner.push((child, in_head)),
                    _ => {}
                }
            }
            inner.reverse();
            groups.extend(inner);
        }
        for (row, in_head) in found {
            let mut cells: Vec<Cell> = Vec::new();
            for cell in tree.elements(row).filter(|&cell| tree.name(cell) == "table-cell") {
                let mut inside = Outline::default();
                let references = std::mem::replace(&mut self.in_references, false);
                self.blocks(tree, cell, &mut inside, depth + 1);
                self.flush_caption(&mut inside);
                self.in_references = references;
                let mut text = String::new();
                flatten(inside.into_blocks(), &mut text, &mut extra);
                let text = lines(&text).unwrap_or_default();
                let number = |name: &str| {
                    tree.attribute(cell, name)
                        .and_then(|number| number.parse::<u64>().ok())
                        .unwrap_or(1)
                };
                let again = number("number-columns-repeated").clamp(1, MAX_REPEATED);
                let again = if text.is_empty() { again.min(20) } else { again };
                for _ in 0..again {
                    let (down, across) =
                        (number("number-rows-spanned"), number("number-columns-spanned"));
                    cells.push(Cell::new(text.clone(), down, across));
                }
            }
            if in_head && headers == rows.len() {
                headers += 1;
            }
            let again =
                tree.attribute(row, "number-rows-repeated").and_then(|number| number.parse().ok());
            let again: u64 =
                if cells.iter().all(|cell| cell.text.is_empty()) { 1 } else { again.unwrap_or(1) };
            for _ in 1..again.clamp(1, MAX_REPEATED) {
                let copy =
                    cells.iter().map(|cell| Cell::new(cell.text.clone(), cell.rows, cell.columns));
                rows.push(copy.collect());
            }
            rows.push(cells);
        }
        block.header_rows = if headers < rows.len() { headers as u64 } else { 0 };
        if !place(rows, &mut block) {
            let place = format!("byte {} of content.xml", tree.offset(table));
            let message = "cells span more of the table than there is";
            self.document.warn("table_spans", message, Some(place));
        }
        block.blocks = extra;
        if !block.rows.is_empty() || !block.blocks.is_empty() {
            outline.push(block);
        }
    }
}

/// Gives the words around a picture in a frame to it as its caption.
fn caption_of(blocks: &mut Vec<Block>) {
    let texts: Vec<String> = blocks
        .iter()
        .filter(|block| block.kind == Kind::Paragraph)
        .filter_map(|block| block.text.clone())
        .collect();
    let figure = blocks.iter_mut().find(|block| block.kind == Kind::Figure);
    let Some(figure) = figure.filter(|figure| figure.caption.is_none() && !texts.is_empty()) else {
        return;
    };
    figure.caption = Some(texts.join("\n"));
    blocks.retain(|block| block.kind != Kind::Paragraph);
}

enum Close {
    Link(String, usize),
    Script(Script, usize),
}
