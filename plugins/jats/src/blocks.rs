//! Elements → blocks: paragraphs, lists, tables, figures, boxes, notes, in JATS's names and TEI's.

use carrel_pdk::document::{Block, Item, Kind};
use carrel_pdk::xml::tree::{Node, Piece};

use crate::inline::{self, Formula, Inline};
use crate::reader::{DEEPEST, Reader};
use crate::table;

/// Whether an element is a block, not inline.
fn is_block(name: &str) -> bool {
    matches!(
        name,
        "p" | "ab"
            | "sec"
            | "div"
            | "div1"
            | "div2"
            | "div3"
            | "title"
            | "head"
            | "label"
            | "subtitle"
            | "list"
            | "def-list"
            | "gloss-list"
            | "disp-formula"
            | "disp-formula-group"
            | "formula"
            | "chem-struct-wrap"
            | "fig"
            | "fig-group"
            | "figure"
            | "table-wrap"
            | "table-wrap-group"
            | "table"
            | "media"
            | "supplementary-material"
            | "graphic"
            | "code"
            | "preformat"
            | "eg"
            | "disp-quote"
            | "quote"
            | "cit"
            | "verse-group"
            | "lg"
            | "speech"
            | "boxed-text"
            | "statement"
            | "floatingText"
            | "fn"
            | "fn-group"
            | "table-wrap-foot"
            | "array"
            | "ack"
            | "app"
            | "app-group"
            | "notes"
            | "bio"
            | "glossary"
            | "attrib"
            | "caption"
            | "question"
            | "question-wrap"
            | "answer"
            | "answer-set"
            | "explanation"
            | "alternatives"
            | "sub-article"
            | "response"
            | "body"
            | "front"
            | "back"
            | "block-alternatives"
            | "item"
            | "list-item"
            | "tr"
            | "bibl"
            | "biblStruct"
            | "ref-list"
            | "listBibl"
            | "sp"
            | "stage"
            | "corresp"
            | "note"
    )
}

/// Reads the content of a node as blocks.
pub(crate) fn content(
    reader: &mut Reader<'_, '_>,
    node: Node,
    except: &[&str],
    depth: u32,
) -> Vec<Block> {
    let tree = reader.tree;
    let mut run = Run::default();
    if depth > DEEPEST {
        return too_deep(reader, node, except);
    }
    for child in tree.children(node) {
        if !except.contains(&tree.name(child)) {
            run.child(reader, child, depth);
        }
    }
    run.finish(reader, depth)
}

/// Reads the content of a node as one paragraph.
fn too_deep(reader: &mut Reader<'_, '_>, node: Node, except: &[&str]) -> Vec<Block> {
    reader.warn(node, "nested_too_deep", "what is nested deeper is read as one paragraph");
    let text = inline::without(reader, node, except);
    let mut blocks: Vec<Block> =
        text.map(|text| Block::new(Kind::Paragraph, text)).into_iter().collect();
    // Notes inside are not read any deeper.
    for note in std::mem::take(&mut reader.notes) {
        let text = reader.tree.text(note);
        blocks.extend(text.map(|text| Block::new(Kind::Footnote, text)));
    }
    blocks
}

/// A builder of blocks, with the open line that the next child may continue.
#[derive(Default)]
pub(crate) struct Run {
    line: Inline,
    blocks: Vec<Block>,
}

impl Run {
    /// Reads the next child.
    pub(crate) fn child(&mut self, reader: &mut Reader<'_, '_>, child: Node, depth: u32) {
        let tree = reader.tree;
        match tree.piece(child) {
            // A note inside a line leaves its mark there and follows the paragraph.
            Piece::Element("fn" | "note") if !self.line.is_blank() => self.line.push(reader, child),
            Piece::Element(name) if stands_alone(reader, child, name) => {
                self.flush(reader, depth);
                block(reader, child, name, &mut self.blocks, depth);
                notes(reader, &mut self.blocks, depth);
            }
            _ => self.line.push(reader, child),
        }
    }

    /// Whether everything so far is blank.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.line.is_blank()
    }

    /// Ends the paragraph.
    fn flush(&mut self, reader: &mut Reader<'_, '_>, depth: u32) {
        let line = std::mem::take(&mut self.line);
        if !line.is_blank() {
            self.blocks.extend(line.finish().map(|text| Block::new(Kind::Paragraph, text)));
        }
        notes(reader, &mut self.blocks, depth);
    }

    /// The blocks.
    pub(crate) fn finish(mut self, reader: &mut Reader<'_, '_>, depth: u32) -> Vec<Block> {
        self.flush(reader, depth);
        self.blocks
    }
}

fn stands_alone(reader: &Reader<'_, '_>, node: Node, name: &str) -> bool {
    let tree = reader.tree;
    match name {
        // Formulas and pictures in different forms may be part of a line.
        "alternatives" => {
            tree.elements(node).any(|child| matches!(tree.name(child), "table" | "media"))
        }
        // A formula inside a paragraph's words is one of its words, in TEI; between paragraphs it is not.
        "formula" => tree.parent(node).is_none_or(|parent| tree.name(parent) != "p"),
        "label" => false,
        _ if is_block(name) => true,
        // An unknown element holds paragraphs, or is part of one.
        _ => tree
            .elements(node)
            .any(|child| matches!(tree.name(child), "p" | "sec" | "list" | "table")),
    }
}

/// Adds the text's notes after the text.
pub(crate) fn notes(reader: &mut Reader<'_, '_>, out: &mut Vec<Block>, depth: u32) {
    for note in std::mem::take(&mut reader.notes) {
        footnote(reader, note, out, depth + 1);
    }
}

/// Whether a block is empty.
fn is_empty(block: &Block) -> bool {
    *block
        == Block {
            kind: block.kind,
            role: block.role.clone(),
            ordered: block.ordered,
            ..Block::default()
        }
}

fn push(block: Block, out: &mut Vec<Block>) {
    if !is_empty(&block) {
        out.push(block);
    }
}

fn block(reader: &mut Reader<'_, '_>, node: Node, name: &str, out: &mut Vec<Block>, depth: u32) {
    let next = depth + 1;
    if next > DEEPEST {
        out.append(&mut too_deep(reader, node, &[]));
        return;
    }
    match name {
        "title" | "head" | "subtitle" => {
            let text = inline::of_title(reader, node);
            let label = reader.attribute(node, "n");
            push(Block { label, text, ..Block::empty(Kind::Heading) }, out);
        }
        "list" | "gloss-list" => list(reader, node, out, next),
        "def-list" => definitions(reader, node, out, next),
        "disp-formula" | "formula" | "chem-struct-wrap" => equation(reader, node, out),
        "fig" | "media" | "supplementary-material" | "graphic" => {
            figure(reader, node, name, out, next)
        }
        "figure" => tei_figure(reader, node, out, next),
        "fig-group" | "table-wrap-group" => {
            let mut group = Block::empty(Kind::Figure);
            captioned(reader, node, &mut group);
            group.role = Some(name.to_owned());
            push(group, out);
            out.append(&mut content(reader, node, &["label", "caption"], next));
        }
        "table-wrap" => table_wrap(reader, node, out, next),
        "table" | "array" => {
            let mut block = Block::empty(Kind::Table);
            table::fill(reader, node, &mut block);
            push(block, out);
        }
        "alternatives" | "block-alternatives" => alternatives(reader, node, out, next),
        "code" | "preformat" | "eg" => {
            let text = reader.tree.verbatim(node);
            let text = text.trim_matches(['\n', '\r']).trim_end();
            let role = reader.first_attribute(node, &["language", "preformat-type", "code-type"]);
            let block = Block { role, ..Block::new(Kind::Code, text.replace("\r\n", "\n")) };
            out.extend(Some(block).filter(|_| !text.trim().is_empty()));
        }
        "disp-quote" | "quote" | "cit" | "verse-group" | "lg" | "speech" | "boxed-text"
        | "statement" | "floatingText" => quote(reader, node, name, out, next),
        "fn" | "note" => footnote(reader, node, out, next),
        _ => {
            let label = reader.tree.child(node, "label").filter(|_| name != "p");
            let text = label.and_then(|label| reader.tree.text(label));
            let except: &[&str] = if label.is_some() { &["label"] } else { &[] };
            let mut inner = content(reader, node, except, next);
            match inner.first_mut().filter(|first| first.label.is_none()) {
                Some(first) => first.label = text,
                None => inner.extend(text.map(|text| Block::new(Kind::Paragraph, text))),
            }
            out.append(&mut inner);
        }
    }
}

/// The first paragraph of blocks, when nothing but text is in it.
fn first_text(blocks: &mut Vec<Block>) -> Option<String> {
    let plain = blocks.first().is_some_and(|first| {
        first.kind == Kind::Paragraph && first.label.is_none() && first.blocks.is_empty()
    });
    if plain { blocks.remove(0).text } else { None }
}

fn list(reader: &mut Reader<'_, '_>, node: Node, out: &mut Vec<Block>, depth: u32) {
    let tree = reader.tree;
    let kind = reader.first_attribute(node, &["list-type", "type", "rend"]).unwrap_or_default();
    let mut list = Block {
        ordered: matches!(
            kind.as_str(),
            "order"
                | "ordered"
                | "alpha-lower"
                | "alpha-upper"
                | "roman-lower"
                | "roman-upper"
                | "numbered"
        ),
        ..Block::empty(Kind::List)
    };
    let mut behind = Vec::new();
    let mut term = None;
    for child in tree.children(node) {
        match tree.name(child) {
            "list-item" | "item" => {
                let mut blocks = content(reader, child, &["label"], depth);
                let own = tree.child(child, "label").and_then(|label| tree.text(label));
                let label = own.or_else(|| reader.attribute(child, "n")).or_else(|| term.take());
                let text = first_text(&mut blocks);
                let item = Item { label, text, blocks };
                if item != Item::default() {
                    list.items.push(item);
                }
            }
            "label" => term = tree.text(child),
            "title" | "head" => {
                let text = inline::of_title(reader, child);
                push(Block { text, ..Block::empty(Kind::Heading) }, out);
            }
            _ => {
                let mut run = Run::default();
                run.child(reader, child, depth);
                behind.append(&mut run.finish(reader, depth));
            }
        }
    }
    behind.extend(term.map(|term| Block::new(Kind::Paragraph, term)));
    if !list.items.is_empty() {
        out.push(list);
    }
    out.append(&mut behind);
}

fn definitions(reader: &mut Reader<'_, '_>, node: Node, out: &mut Vec<Block>, depth: u32) {
    let tree = reader.tree;
    let mut list = Block { role: Some("def-list".to_owned()), ..Block::empty(Kind::List) };
    for child in tree.elements(node) {
        if tree.name(child) != "def-item" {
            let mut run = Run::default();
            run.child(reader, child, depth);
            let mut inner = run.finish(reader, depth);
            // A title and column heads come first, a nested list last.
            let target = if list.items.is_empty() { &mut *out } else { &mut list.blocks };
            target.append(&mut inner);
            continue;
        }
        let terms: Vec<Node> = tree
            .elements(child)
            .filter(|&node| matches!(tree.name(node), "term" | "label"))
            .collect();
        let terms: Vec<String> = terms.into_iter().filter_map(|term| reader.line(term)).collect();
        let mut blocks = Vec::new();
        for def in tree.elements(child).filter(|&def| !matches!(tree.name(def), "term" | "label")) {
            blocks.append(&mut content(reader, def, &[], depth));
        }
        let label = Some(terms.join(" ")).filter(|label| !label.is_empty());
        let text = first_text(&mut blocks);
        list.items.push(Item { label, text, blocks });
    }
    push(list, out);
}

fn equation(reader: &mut Reader<'_, '_>, node: Node, out: &mut Vec<Block>) {
    let Formula { tex, text, label, href } = Formula::read(reader, node);
    let href = href.filter(|_| tex.is_none() && text.is_none());
    push(Block { tex, text, label, href, ..Block::empty(Kind::Equation) }, out);
}

/// Reads label and caption.
fn captioned(reader: &mut Reader<'_, '_>, node: Node, block: &mut Block) {
    let tree = reader.tree;
    block.label = tree.child(node, "label").and_then(|label| reader.line(label));
    let captions: Vec<Node> =
        tree.elements(node).filter(|&node| tree.name(node) == "caption").collect();
    let texts: Vec<String> =
        captions.into_iter().filter_map(|caption| inline::of(reader, caption)).collect();
    block.caption = Some(texts.join("\n")).filter(|caption| !caption.is_empty());
}

/// The parts of a figure or table besides its content: label, caption, notes.
fn around(reader: &mut Reader<'_, '_>, node: Node, block: &mut Block) {
    let tree = reader.tree;
    let mut texts = Vec::new();
    for child in tree.elements(node) {
        match tree.name(child) {
            "object-id" | "permissions" | "kwd-group" | "subj-group" => reader.state_rest(child),
            "alt-text" | "long-desc" | "attrib" => texts.extend(inline::of(reader, child)),
            _ => {}
        }
    }
    block.text = Some(texts.join("\n")).filter(|text| !text.is_empty());
}

const AROUND: &[&str] = &[
    "label",
    "caption",
    "object-id",
    "permissions",
    "kwd-group",
    "subj-group",
    "alt-text",
    "long-desc",
    "attrib",
];

fn figure(reader: &mut Reader<'_, '_>, node: Node, name: &str, out: &mut Vec<Block>, depth: u32) {
    let tree = reader.tree;
    let mut block = Block::empty(Kind::Figure);
    block.role = Some(name).filter(|&name| name != "fig" && name != "graphic").map(str::to_owned);
    captioned(reader, node, &mut block);
    around(reader, node, &mut block);
    block.href = reader.attribute(node, "href");
    if let Some(href) = block.href.clone() {
        reader.document.link(&href, None);
    }
    let mut run = Run::default();
    for child in tree.children(node) {
        let inner = tree.name(child);
        if AROUND.contains(&inner) {
            continue;
        }
        // The figure's own picture, without text.
        let bare = matches!(inner, "graphic" | "media" | "alternatives") && tree.is_blank(child);
        if !bare {
            run.child(reader, child, depth);
            continue;
        }
        for picture in std::iter::once(child).chain(tree.descendants(child)) {
            if let Some(href) = reader.attribute(picture, "href") {
                reader.document.link(&href, None);
                block.href.get_or_insert(href);
            }
        }
    }
    block.blocks = run.finish(reader, depth);
    push(block, out);
}

fn table_wrap(reader: &mut Reader<'_, '_>, node: Node, out: &mut Vec<Block>, depth: u32) {
    let tree = reader.tree;
    let mut first = Block::empty(Kind::Table);
    captioned(reader, node, &mut first);
    around(reader, node, &mut first);
    let has_table = tree.find(node, "table").is_some();
    let mut behind = content(reader, node, AROUND, depth);
    // The caption is that of the first table, and the notes are of the last.
    let last = behind.iter().rposition(|block| block.kind == Kind::Table && block.label.is_none());
    let start =
        behind.iter().position(|block| block.kind == Kind::Table && block.caption.is_none());
    match (start.filter(|_| has_table), last) {
        (Some(start), Some(last)) => {
            let rest = behind.split_off(last + 1);
            behind[last].blocks = rest;
            let table = &mut behind[start];
            (table.label, table.caption, table.text) = (first.label, first.caption, first.text);
            out.append(&mut behind);
        }
        _ => {
            let picture =
                behind.iter().position(|block| block.kind == Kind::Figure && block.href.is_some());
            if let Some(picture) = picture.filter(|_| !has_table) {
                reader.warn(node, "table_as_image", "the table is only there as a picture");
                first.href.clone_from(&behind[picture].href);
                if behind[picture].caption.is_none() && behind[picture].blocks.is_empty() {
                    behind.remove(picture);
                }
            }
            first.blocks = behind;
            push(first, out);
        }
    }
}

/// Alternatives of one thing: the table, else the first with text, else the first.
fn alternatives(reader: &mut Reader<'_, '_>, node: Node, out: &mut Vec<Block>, depth: u32) {
    let tree = reader.tree;
    if reader.has_text(node) {
        out.append(&mut content(reader, node, &[], depth));
        return;
    }
    let is_table = |&child: &Node| tree.name(child) == "table" && !tree.is_blank(child);
    let table = tree.elements(node).find(is_table);
    let worded = || tree.elements(node).find(|&child| !tree.is_blank(child));
    let chosen = table.or_else(worded).or_else(|| tree.elements(node).next());
    for child in tree.elements(node) {
        if Some(child) == chosen {
            let mut run = Run::default();
            run.child(reader, child, depth);
            out.append(&mut run.finish(reader, depth));
        } else if let Some(href) = reader.attribute(child, "href") {
            reader.document.link(&href, None);
        }
    }
}

fn quote(reader: &mut Reader<'_, '_>, node: Node, name: &str, out: &mut Vec<Block>, depth: u32) {
    let tree = reader.tree;
    let mut block = Block::empty(Kind::Quote);
    block.role =
        Some(name).filter(|&name| name != "disp-quote" && name != "quote").map(str::to_owned);
    if matches!(name, "verse-group" | "lg") && tree.find(node, "p").is_none() {
        block.text = inline::of(reader, node);
        push(block, out);
        return;
    }
    captioned(reader, node, &mut block);
    if block.caption.is_none() {
        block.caption = tree.child(node, "title").and_then(|title| inline::of_title(reader, title));
    }
    let titled = tree.child(node, "caption").is_none();
    let except: &[&str] = if titled {
        &["label", "caption", "title", "object-id"]
    } else {
        &["label", "caption", "object-id"]
    };
    block.blocks = content(reader, node, except, depth);
    for id in tree.elements(node).filter(|&id| tree.name(id) == "object-id") {
        reader.state_rest(id);
    }
    if block.label.is_none() && block.caption.is_none() && block.blocks.len() == 1 {
        block.text = first_text(&mut block.blocks);
    }
    push(block, out);
}

fn footnote(reader: &mut Reader<'_, '_>, node: Node, out: &mut Vec<Block>, depth: u32) {
    let tree = reader.tree;
    let mut block = Block::empty(Kind::Footnote);
    let label = tree.child(node, "label").and_then(|label| tree.text(label));
    block.label = label.or_else(|| reader.attribute(node, "n"));
    block.role = reader.first_attribute(node, &["fn-type", "type"]);
    block.blocks = content(reader, node, &["label"], depth);
    block.text = first_text(&mut block.blocks);
    push(block, out);
}

/// GROBID's figures, which may be tables, and the loose text of its training data.
fn tei_figure(reader: &mut Reader<'_, '_>, node: Node, out: &mut Vec<Block>, depth: u32) {
    let tree = reader.tree;
    let table = tree.child(node, "table").filter(|&table| tree.find(table, "row").is_some());
    let is_table = reader.attribute(node, "type").as_deref() == Some("table");
    let mut block = Block::empty(if is_table { Kind::Table } else { Kind::Figure });
    let head = reader.child_line(node, "head");
    let label = reader.child_line(node, "label");
    let description = tree.child(node, "figDesc").and_then(|node| inline::of(reader, node));
    // GROBID repeats the number alone in <label>.
    let repeats = head
        .as_ref()
        .zip(label.as_ref())
        .is_some_and(|(head, label)| head.contains(label.as_str()));
    let (label, title) = if repeats || label.is_none() { (head, None) } else { (label, head) };
    let caption: Vec<String> = [title, description].into_iter().flatten().collect();
    block.label = label;
    block.caption = Some(caption.join("\n")).filter(|caption| !caption.is_empty());
    if let Some(table) = table {
        table::fill(reader, table, &mut block);
    }
    let mut rest: Vec<Block> = Vec::new();
    let mut run = Run::default();
    for child in tree.children(node) {
        match tree.name(child) {
            "head" | "label" | "figDesc" => {}
            "table" if Some(child) == table => {}
            "table" => {
                rest.extend(inline::of(reader, child).map(|text| Block::new(Kind::Paragraph, text)))
            }
            "graphic" => {
                if let Some(href) = reader.attribute(child, "url") {
                    reader.document.link(&href, None);
                    block.href.get_or_insert(href);
                }
            }
            _ => run.child(reader, child, depth),
        }
    }
    rest.append(&mut run.finish(reader, depth));
    if block.caption.is_none() {
        block.caption = first_text(&mut rest);
    }
    if is_table && block.rows.is_empty() && (block.caption.is_some() || !rest.is_empty()) {
        reader.warn(node, "table_without_rows", "the table has text and no cells");
    }
    block.blocks = rest;
    push(block, out);
}
