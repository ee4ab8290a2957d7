//! WordprocessingML: `word/document.xml` and what it refers to.

use std::collections::{BTreeMap, HashMap};

use carrel_pdk::Error;
use carrel_pdk::document::{Block, Document, Item, Kind, Reference, Section};
use carrel_pdk::text::{Script, write_script};
use carrel_pdk::xml::tree::{Node, Tree};

use crate::outline::{LINE, Outline, boxed, lines, one_line};
use crate::package::{Package, Relations, target, tree};
use crate::styles::{Numbering, Shape, Styles};
use crate::zip::Zip;
use crate::{DEEPEST, drawing, omml, properties, sealed};
use carrel_pdk::document::grid::{Cell, place};

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
    /// A caption whose table has not come yet.
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
    /// Drawings, read behind the paragraph.
    floats: Vec<Node>,
    /// Formulas: where they begin and end in the text, and their TeX.
    formulas: Vec<(usize, usize, String)>,
    /// The paragraph is in a bibliography that a program made.
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
    let main = target(&root, "officeDocument").unwrap_or("word/document.xml").to_owned();
    if package.zip.is_encrypted(&main) {
        return Ok(sealed::encrypted("the Word document"));
    }
    let Some(text) = package.text(&main)? else {
        let message = format!("expected a Word document but the archive has no {main}");
        return Err(Error::invalid_document(message, 0, main));
    };
    let body = tree(&main, &text, "a Word document")?;
    if body.name(body.root()) != "document" {
        let found = body.name(body.root());
        let hint = if found == "presentation" { ": read it as pptx" } else { "" };
        let message = format!("expected <document> in {main} but found <{found}>{hint}");
        return Err(Error::invalid_document(message, 0, main));
    }
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
    reader.parts(&relations);
    reader.outside(&relations, &main);
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

    /// Reads a part that the text refers to; one that is broken is a warning.
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
    fn parts(&mut self, relations: &Relations) {
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
            .filter(|one| !one.external && matches!(one.kind.as_str(), "header" | "footer"))
            .map(|one| (one.target.clone(), one.kind.clone()))
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

    /// Says which parts are outside the document; nothing outside is ever read.
    fn outside(&mut self, relations: &Relations, main: &str) {
        let mut outside: Vec<_> = relations
            .values()
            .filter(|one| one.external && one.kind != "hyperlink")
            .map(|one| (one.kind.as_str(), one.target.as_str()))
            .collect();
        outside.sort_unstable();
        outside.dedup();
        for (kind, address) in outside {
            let message = format!("{kind} outside the document is not read: {address}");
            self.document.warn("external_relation", message, Some(main.to_owned()));
        }
    }

    /// The works that Word's own bibliography keeps beside the text.
    fn sources(&mut self, relations: &Relations) {
        let mut parts: Vec<String> = relations
            .values()
            .filter(|one| one.kind == "customXml" && !one.external)
            .map(|one| one.target.clone())
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

    /// Reads the blocks inside a node.
    fn blocks(&mut self, source: Source<'_, '_>, node: Node, outline: &mut Outline, depth: u32) {
        let tree = source.tree;
        if depth > DEEPEST {
            if !std::mem::replace(&mut self.deep, true) {
                let place = format!("byte {} of {}", tree.offset(node), source.part);
                let message =
                    format!("blocks nested deeper than {DEEPEST} are read as one paragraph");
                self.document.warn("nested_too_deep", message, Some(place));
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
                    let target = source.relations.get(id.as_ref()).map_or("", |one| &one.target);
                    let message = format!("a document inside the document is not read: {target}");
                    let place = format!("byte {} of {}", tree.offset(child), source.part);
                    self.document.warn("embedded_document", message, Some(place));
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
        let named = |wanted: &[&str]| names.iter().any(|name| wanted.contains(&name.as_str()));
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
                && rest.trim_matches(|one: char| one.is_whitespace() || one == LINE).is_empty()
        });
        let formula = formula.map(|(_, _, tex)| tex.clone());
        if let Some(text) = text {
            let is_title = names.first().is_some_and(|name| name == "title");
            let is_code = names.first().is_some_and(|name| {
                ["html preformatted", "macro text", "source code", "code", "verbatim"]
                    .iter()
                    .any(|wanted| name.contains(wanted))
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

    /// A caption whose table did not come is a paragraph.
    fn flush_caption(&mut self, outline: &mut Outline) {
        if let Some(caption) = self.caption.take() {
            let role = Some("caption".to_owned());
            outline.push(Block { role, ..Block::new(Kind::Paragraph, caption) });
        }
    }

    /// The words of a paragraph, in reading order.
    fn words(&mut self, source: Source<'_, '_>, paragraph: Node) -> Words {
        let tree = source.tree;
        let mut words = Words { bibliography: self.in_bibliography(), ..Words::default() };
        for field in &mut self.fields {
            field.start = None;
        }
        let mut open: Vec<(Node, Close)> = Vec::new();
        let mut skipped: Option<Node> = None;
        for inner in tree.descendants(paragraph) {
            let name = tree.name(inner);
            if name.is_empty() || skipped.is_some_and(|skipped| tree.contains(skipped, inner)) {
                continue;
            }
            while let Some((_, close)) = open.pop_if(|(outer, _)| !tree.contains(*outer, inner)) {
                self.close(close, &mut words);
            }
            let start = words.text.len();
            match name {
                "t" => words.text.push_str(&tree.verbatim(inner)),
                "tab" | "ptab" => words.text.push('\t'),
                "br" | "cr" => words.text.push(LINE),
                "noBreakHyphen" => words.text.push('\u{2011}'),
                "sym" => self.symbol(source, inner, &mut words),
                "r" => match self.run(tree, inner) {
                    Run::Hidden => skipped = Some(inner),
                    Run::Script(script) => open.push((inner, Close::Script(script, start))),
                    Run::Plain => {}
                },
                "hyperlink" => {
                    let id = tree.prefixed_attribute(inner, "id");
                    let relation = id.and_then(|id| source.relations.get(id.as_ref()));
                    if let Some(relation) = relation.filter(|relation| relation.external) {
                        let anchor = tree.attribute(inner, "anchor");
                        let mut href = relation.target.clone();
                        if let Some(anchor) = anchor.filter(|_| !href.contains('#')) {
                            href.push('#');
                            href.push_str(&anchor);
                        }
                        open.push((inner, Close::Link(href, start)));
                    }
                }
                "fldSimple" => {
                    let instruction = tree.attribute(inner, "instr").unwrap_or_default();
                    words.bibliography |= makes_bibliography(&instruction);
                    if let Some(href) = link_of_field(&instruction) {
                        open.push((inner, Close::Link(href, start)));
                    }
                }
                "fldChar" => self.field(tree, inner, &mut words),
                "instrText" => {
                    if let Some(field) = self.fields.last_mut().filter(|field| !field.result) {
                        field.instruction.push_str(&tree.verbatim(inner));
                    }
                }
                "footnoteReference" | "endnoteReference" => {
                    self.note(tree, inner, name, &mut words)
                }
                "commentReference" => self.comment(tree, inner, &mut words),
                "rt" => {
                    if let Some(reading) = drawing::words(tree, inner) {
                        words.text.push_str(&format!("({reading})"));
                    }
                    skipped = Some(inner);
                }
                "oMath" => {
                    if let Some(tex) = omml::tex(tree, inner) {
                        words.text.push_str(&format!("${tex}$"));
                        words.formulas.push((start, words.text.len(), tex));
                    }
                    skipped = Some(inner);
                }
                "AlternateContent" => {
                    let formula =
                        tree.child(inner, "Choice").and_then(|one| tree.find(one, "oMath"));
                    if let Some(tex) = formula.and_then(|formula| omml::tex(tree, formula)) {
                        words.text.push_str(&format!("${tex}$"));
                        words.formulas.push((start, words.text.len(), tex));
                    } else {
                        words.floats.push(inner);
                    }
                    skipped = Some(inner);
                }
                "drawing" | "pict" | "object" => {
                    words.floats.push(inner);
                    skipped = Some(inner);
                }
                "del" | "moveFrom" | "pPr" | "sdtPr" | "sdtEndPr" | "rubyPr" | "rPr"
                | "delText" | "delInstrText" => skipped = Some(inner),
                "tbl" => skipped = Some(inner),
                _ => {}
            }
        }
        while let Some((_, close)) = open.pop() {
            self.close(close, &mut words);
        }
        words.bibliography |= self.in_bibliography();
        words
    }

    fn in_bibliography(&self) -> bool {
        self.fields.iter().any(|field| field.result && makes_bibliography(&field.instruction))
    }

    fn close(&mut self, close: Close, words: &mut Words) {
        match close {
            Close::Link(href, start) => {
                let text = one_line(words.text.get(start..).unwrap_or_default());
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

    fn run(&mut self, tree: &Tree<'_>, run: Node) -> Run {
        let Some(properties) = tree.child(run, "rPr") else { return Run::Plain };
        let value = |name: &str| {
            let node = tree.child(properties, name)?;
            Some(tree.attribute(node, "val").map_or_else(String::new, |value| value.into_owned()))
        };
        let on = |name: &str| {
            value(name).is_some_and(|value| !matches!(value.as_str(), "0" | "false" | "off"))
        };
        if on("vanish") {
            // Marks of the program, such as those of an index, are hidden too and have no words.
            let speaks =
                tree.descendants(run).any(|inner| tree.name(inner) == "t" && !tree.is_blank(inner));
            if speaks {
                self.hidden += 1;
                return Run::Hidden;
            }
        }
        let holds_note = tree.descendants(run).any(|inner| {
            matches!(
                tree.name(inner),
                "footnoteReference" | "endnoteReference" | "oMath" | "drawing"
            )
        });
        match value("vertAlign").as_deref() {
            Some("superscript") if !holds_note => Run::Script(Script::Super),
            Some("subscript") if !holds_note => Run::Script(Script::Sub),
            _ => Run::Plain,
        }
    }

    fn symbol(&mut self, source: Source<'_, '_>, node: Node, words: &mut Words) {
        let tree = source.tree;
        let code = tree.attribute(node, "char");
        let Some(code) = code.and_then(|code| u32::from_str_radix(&code, 16).ok()) else { return };
        let font = tree.attribute(node, "font").unwrap_or_default();
        let low = if (0xF000..=0xF0FF).contains(&code) { code - 0xF000 } else { code };
        let character = match font.as_ref() {
            "Symbol" => symbol_font(low),
            _ if low == code => char::from_u32(code),
            "Wingdings" | "Wingdings 2" | "Wingdings 3" | "Webdings" => {
                match (font.as_ref(), low) {
                    ("Wingdings", 0xFC) => Some('✓'),
                    ("Wingdings", 0xFB) => Some('✗'),
                    ("Wingdings", 0xA8) => Some('☐'),
                    ("Wingdings", 0xFE) => Some('☑'),
                    ("Wingdings", 0xE0) => Some('→'),
                    ("Wingdings", 0xDF) => Some('←'),
                    ("Wingdings", 0x4A) => Some('☺'),
                    _ => None,
                }
            }
            _ => char::from_u32(low).filter(|one| !one.is_control()),
        };
        match character {
            Some(character) => words.text.push(character),
            None => {
                let message = format!("sign {code:X} of the font {font} has no known character");
                let place = format!("byte {} of {}", tree.offset(node), source.part);
                self.document.warn("unknown_symbol", message, Some(place));
            }
        }
    }

    fn field(&mut self, tree: &Tree<'_>, node: Node, words: &mut Words) {
        match tree.attribute(node, "fldCharType").as_deref() {
            Some("begin") if self.fields.len() < 64 => self.fields.push(Field::default()),
            Some("separate") => {
                if let Some(field) = self.fields.last_mut() {
                    field.result = true;
                    field.start = Some(words.text.len());
                }
            }
            Some("end") => {
                let Some(field) = self.fields.pop() else { return };
                words.bibliography |= makes_bibliography(&field.instruction);
                if let (Some(href), Some(start)) = (link_of_field(&field.instruction), field.start)
                {
                    let text = words.text.get(start..).and_then(one_line);
                    self.document.link(&href, text.as_deref());
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, tree: &Tree<'_>, node: Node, name: &str, words: &mut Words) {
        let Some(id) = tree.attribute(node, "id") else { return };
        let notes =
            if name == "footnoteReference" { &mut self.footnotes } else { &mut self.endnotes };
        let Some(blocks) = notes.remove(id.as_ref()) else { return };
        self.noted += 1;
        let label = self.noted.to_string();
        write_script(Script::Super, &label, &mut words.text);
        let role = (name == "endnoteReference").then_some("endnote");
        let note = boxed(Kind::Footnote, role, blocks);
        if let Some(note) = note {
            words.notes.push(Block { label: Some(label), ..note });
        }
    }

    fn comment(&mut self, tree: &Tree<'_>, node: Node, words: &mut Words) {
        let Some(id) = tree.attribute(node, "id") else { return };
        let Some((label, blocks)) = self.comments.remove(id.as_ref()) else { return };
        if let Some(note) = boxed(Kind::Footnote, Some("comment"), blocks) {
            words.notes.push(Block { label, ..note });
        }
    }

    /// Reads what a drawing shows: text boxes, pictures, charts, diagrams.
    fn float(&mut self, source: Source<'_, '_>, node: Node, outline: &mut Outline, depth: u32) {
        let tree = source.tree;
        let mut skipped: Option<Node> = None;
        let mut words: Option<String> = None;
        for inner in std::iter::once(node).chain(tree.descendants(node)) {
            if skipped.is_some_and(|skipped| tree.contains(skipped, inner)) {
                continue;
            }
            let target = |name: &str| {
                let id = tree.prefixed_attribute(inner, name)?;
                source.relations.get(id.as_ref())
            };
            match tree.name(inner) {
                "Fallback" | "Choice" => {
                    let around = tree.parent(inner);
                    if around.and_then(|around| drawing::branch(tree, around)) != Some(inner) {
                        skipped = Some(inner);
                    }
                }
                "txbxContent" => {
                    let mut inside = Outline::default();
                    let (caption, references) = (self.caption.take(), self.in_references);
                    self.in_references = false;
                    self.blocks(source, inner, &mut inside, depth + 1);
                    self.flush_caption(&mut inside);
                    (self.caption, self.in_references) = (caption, references);
                    if let Some(text) = boxed(Kind::Quote, Some("text-box"), inside.into_blocks()) {
                        outline.push(text);
                    }
                    skipped = Some(inner);
                }
                "docPr" | "cNvPr" => {
                    let said =
                        tree.attribute(inner, "descr").or_else(|| tree.attribute(inner, "title"));
                    words = said.map(|said| said.into_owned()).or(words);
                }
                "blip" => {
                    if let Some(relation) = target("embed").or_else(|| target("link")) {
                        outline.push(figure(relation.target.clone(), words.take()));
                    }
                }
                "imagedata" => {
                    if let Some(relation) = target("id").or_else(|| target("pict")) {
                        let title = tree.attribute(inner, "title").map(|title| title.into_owned());
                        outline.push(figure(relation.target.clone(), words.take().or(title)));
                    }
                }
                "chart" => {
                    let part = target("id").filter(|one| !one.external);
                    let chart = part.and_then(|one| drawing::chart(self.package, &one.target));
                    if let Some(mut chart) = chart {
                        chart.caption = self.caption.take().or(chart.caption);
                        outline.push(chart);
                    }
                }
                "relIds" => {
                    let part = target("dm").filter(|one| !one.external);
                    let diagram = part.and_then(|one| drawing::diagram(self.package, &one.target));
                    if let Some(diagram) = diagram {
                        outline.push(diagram);
                    }
                }
                "textpath" => {
                    if let Some(text) = tree.attribute(inner, "string") {
                        outline.push(Block::new(Kind::Paragraph, text));
                    }
                }
                "OLEObject" => {
                    let what = tree.attribute(inner, "ProgID").unwrap_or_default();
                    let message = format!("an embedded object is not read: {what}");
                    let place = format!("byte {} of {}", tree.offset(inner), source.part);
                    self.document.warn("embedded_object", message, Some(place));
                }
                _ => {}
            }
        }
        if let Some(words) = words.and_then(|words| one_line(&words)) {
            let said =
                outline.last().filter(|last| last.kind == Kind::Figure && last.text.is_none());
            match said {
                Some(last) => last.text = Some(words),
                None => outline.push(figure(String::new(), Some(words))),
            }
        }
    }

    fn table(&mut self, source: Source<'_, '_>, node: Node, outline: &mut Outline, depth: u32) {
        let tree = source.tree;
        let caption = self.caption.take();
        let nodes = rows_of(tree, node);
        let mut block = Block { caption, ..Block::empty(Kind::Table) };
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        // The cell that continues downwards in each column.
        let mut open: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
        let mut headers = 0;
        let mut extra: Vec<Block> = Vec::new();
        let cells: Vec<Vec<Node>> = nodes.iter().map(|&row| cells_of(tree, row)).collect();
        if let ([cells], [_]) = (cells.as_slice(), nodes.as_slice())
            && let [cell] = cells.as_slice()
        {
            let blocks = self.cell(source, *cell, depth);
            if let [Block { kind: Kind::Paragraph, text: Some(text), .. }] = blocks.as_slice() {
                block.rows = vec![vec![text.clone()]];
                outline.push(block);
            } else if let Some(mut quote) = boxed(Kind::Quote, Some("table"), blocks) {
                quote.caption = block.caption;
                outline.push(quote);
            }
            return;
        }
        for (&row, cells) in nodes.iter().zip(&cells) {
            let properties = tree.child(row, "trPr");
            let header = properties.and_then(|properties| tree.child(properties, "tblHeader"));
            let is_off = |node| {
                matches!(tree.attribute(node, "val").as_deref(), Some("0" | "false" | "off"))
            };
            if header.is_some_and(|node| !is_off(node)) && headers == rows.len() {
                headers += 1;
            }
            let skipped = |name: &str| {
                let node = tree.child(properties?, name)?;
                tree.attribute(node, "val")?.parse::<u64>().ok()
            };
            let mut row = Vec::new();
            let mut column = 0_u64;
            for _ in 0..skipped("gridBefore").unwrap_or(0).min(100) {
                row.push(Cell::new(String::new(), 1, 1));
                open.remove(&column);
                column += 1;
            }
            for &cell in cells {
                let own = tree.child(cell, "tcPr");
                let number = |name: &str| {
                    let node = tree.child(own?, name)?;
                    tree.attribute(node, "val")?.parse::<u64>().ok()
                };
                let columns = number("gridSpan").unwrap_or(1).clamp(1, 1000);
                let merge = own.and_then(|own| tree.child(own, "vMerge"));
                let restarts = merge.and_then(|merge| tree.attribute(merge, "val"));
                let restarts = restarts.as_deref() == Some("restart");
                let above = open.get(&column).copied().filter(|_| merge.is_some() && !restarts);
                let blocks = self.cell(source, cell, depth);
                let mut text = String::new();
                flatten(blocks, &mut text, &mut extra);
                let text = lines(&text).unwrap_or_default();
                let origin: Option<&mut Cell> = match above {
                    Some((at, number)) if at < rows.len() => {
                        rows.get_mut(at).and_then(|cells: &mut Vec<Cell>| cells.get_mut(number))
                    }
                    _ => None,
                };
                match origin {
                    Some(origin) => {
                        origin.rows += 1;
                        if !text.is_empty() {
                            origin.text.push_str(if origin.text.is_empty() { "" } else { "\n" });
                            origin.text.push_str(&text);
                        }
                    }
                    None => {
                        if merge.is_some() {
                            open.insert(column, (rows.len(), row.len()));
                        } else {
                            open.remove(&column);
                        }
                        row.push(Cell::new(text, 1, columns));
                    }
                }
                column += columns;
            }
            rows.push(row);
        }
        if headers == 0 && rows.len() > 1 && self.first_row(tree, node) {
            headers = 1;
        }
        block.header_rows = if headers < rows.len() { headers as u64 } else { 0 };
        if !place(rows, &mut block) {
            let place = format!("byte {} of {}", tree.offset(node), source.part);
            let message = "cells span more of the table than there is";
            self.document.warn("table_spans", message, Some(place));
        }
        block.blocks = extra;
        if !block.rows.is_empty() || !block.blocks.is_empty() {
            outline.push(block);
        }
    }

    /// Whether the table's style sets the first row apart, and the table asks for it.
    fn first_row(&self, tree: &Tree<'_>, table: Node) -> bool {
        let Some(properties) = tree.child(table, "tblPr") else { return false };
        let Some(look) = tree.child(properties, "tblLook") else { return false };
        let asks = match tree.attribute(look, "firstRow") {
            Some(value) => matches!(value.as_ref(), "1" | "true" | "on"),
            None => {
                let bits = tree.attribute(look, "val");
                let bits = bits.and_then(|bits| u32::from_str_radix(&bits, 16).ok());
                bits.is_some_and(|bits| bits & 0x20 != 0)
            }
        };
        let style =
            tree.child(properties, "tblStyle").and_then(|style| tree.attribute(style, "val"));
        asks && style.is_some_and(|style| self.styles.has_first_row(&style))
    }

    /// The blocks of a cell.
    fn cell(&mut self, source: Source<'_, '_>, cell: Node, depth: u32) -> Vec<Block> {
        let mut inside = Outline::default();
        let (caption, references) = (self.caption.take(), self.in_references);
        self.blocks(source, cell, &mut inside, depth + 1);
        self.flush_caption(&mut inside);
        (self.caption, self.in_references) = (caption, references);
        inside.into_blocks()
    }
}

enum Run {
    Plain,
    Hidden,
    Script(Script),
}

fn figure(href: String, words: Option<String>) -> Block {
    let href = Some(href).filter(|href| !href.is_empty());
    let text = words.and_then(|words| one_line(&words));
    Block { href, text, ..Block::empty(Kind::Figure) }
}

/// The rows directly in a table, whatever marks are around them, without deleted ones.
fn rows_of(tree: &Tree<'_>, table: Node) -> Vec<Node> {
    within(tree, table, "tr")
        .into_iter()
        .filter(|&row| {
            let properties = tree.child(row, "trPr");
            properties.and_then(|properties| tree.child(properties, "del")).is_none()
        })
        .collect()
}

fn cells_of(tree: &Tree<'_>, row: Node) -> Vec<Node> {
    within(tree, row, "tc")
}

/// Elements of a name inside a node and the marks (content controls, insertions) in it.
fn within(tree: &Tree<'_>, node: Node, name: &str) -> Vec<Node> {
    let mut found = Vec::new();
    let mut skipped: Option<Node> = None;
    for inner in tree.descendants(node) {
        if skipped.is_some_and(|skipped| tree.contains(skipped, inner)) {
            continue;
        }
        match tree.name(inner) {
            own if own == name => {
                found.push(inner);
                skipped = Some(inner);
            }
            "del" | "moveFrom" | "tbl" | "tblPr" | "tblGrid" | "trPr" => skipped = Some(inner),
            _ => {}
        }
    }
    found
}

/// The texts of blocks, whatever kind they are of.
fn texts(blocks: &[Block]) -> Vec<String> {
    let mut out = Vec::new();
    for block in blocks {
        out.extend(block.text.iter().cloned());
        let cells = block.rows.iter().flatten().filter(|cell| !cell.is_empty());
        out.extend(cells.cloned());
        for item in &block.items {
            out.extend(item.text.iter().cloned());
            out.extend(texts(&item.blocks));
        }
        out.extend(texts(&block.blocks));
    }
    out
}

/// The text of a cell's blocks, a line each; what has no lines goes into `extra`.
pub(crate) fn flatten(blocks: Vec<Block>, text: &mut String, extra: &mut Vec<Block>) {
    for mut block in blocks {
        match block.kind {
            Kind::Paragraph | Kind::Heading | Kind::Code => {
                for part in [block.label, block.text].into_iter().flatten() {
                    text.push_str(&part.replace('\n', "\u{2028}"));
                    text.push(' ');
                }
                text.push(LINE);
                flatten(block.blocks, text, extra);
            }
            Kind::Equation if block.tex.is_some() => {
                text.push_str(&format!("${}$", block.tex.unwrap_or_default()));
                text.push(LINE);
            }
            Kind::List => {
                for item in block.items {
                    for part in [item.label, item.text].into_iter().flatten() {
                        text.push_str(&part.replace('\n', "\u{2028}"));
                        text.push(' ');
                    }
                    text.push(LINE);
                    flatten(item.blocks, text, extra);
                }
            }
            _ => {
                let inner = std::mem::take(&mut block.blocks);
                block.blocks = inner;
                extra.push(block);
            }
        }
    }
}

/// Whether a field lists the works that a document cites.
fn makes_bibliography(instruction: &str) -> bool {
    let instruction = instruction.trim_start();
    instruction.starts_with("BIBLIOGRAPHY")
        || ["ZOTERO_BIBL", "CSL_BIBLIOGRAPHY", "EN.REFLIST", "Mendeley Bibliography"]
            .iter()
            .any(|mark| instruction.contains(mark))
}

/// The address of a field that is a link.
fn link_of_field(instruction: &str) -> Option<String> {
    let rest = instruction.trim_start().strip_prefix("HYPERLINK")?;
    if rest.trim_start().starts_with("\\l") {
        return None;
    }
    let href = match rest.split_once('"') {
        Some((_, quoted)) => quoted.split('"').next()?,
        None => rest.split_whitespace().next()?,
    };
    (!href.is_empty()).then(|| href.to_owned())
}

/// Whether a heading stands over a list of references.
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
        heading.trim_start_matches(|one: char| one.is_ascii_digit() || ". ".contains(one));
    WORDS.contains(&heading.trim_end_matches([':', '.', ' ']).to_lowercase().as_str())
}

/// A source of Word's own bibliography.
fn source(tree: &Tree<'_>, node: Node) -> Option<Reference> {
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

/// The character of a place in the font Symbol.
fn symbol_font(code: u32) -> Option<char> {
    const UPPER: &str = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ";
    const LOWER: &str = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ";
    let of = |letters: &str, from: u32| letters.chars().nth((code - from) as usize);
    match code {
        0x41..=0x5A => of(UPPER, 0x41),
        0x61..=0x7A => of(LOWER, 0x61),
        0xA3 => Some('≤'),
        0xA5 => Some('∞'),
        0xAB => Some('↔'),
        0xAC => Some('←'),
        0xAE => Some('→'),
        0xB0 => Some('°'),
        0xB1 => Some('±'),
        0xB2 => Some('″'),
        0xB3 => Some('≥'),
        0xB4 => Some('×'),
        0xB5 => Some('∝'),
        0xB6 => Some('∂'),
        0xB7 => Some('•'),
        0xB8 => Some('÷'),
        0xB9 => Some('≠'),
        0xBA => Some('≡'),
        0xBB => Some('≈'),
        0xBC => Some('…'),
        0xC5 => Some('⊕'),
        0xC7 => Some('∩'),
        0xC8 => Some('∪'),
        0xCE => Some('∈'),
        0xD1 => Some('∇'),
        0xD5 => Some('∏'),
        0xD6 => Some('√'),
        0xD7 => Some('⋅'),
        0xDE => Some('⇒'),
        0xE5 => Some('∑'),
        0xF2 => Some('∫'),
        0x22 => Some('∀'),
        0x24 => Some('∃'),
        0x2D => Some('−'),
        0x20..=0x3F => char::from_u32(code),
        _ => None,
    }
}
