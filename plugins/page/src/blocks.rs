//! A part of a page as sections of blocks.

use carrel_pdk::document::{Block, Document, Item, Kind, Section};

use crate::dom::{Id, Tree, is_inline};
use crate::inline::{self, Line};
use crate::latexml;
use crate::math;
use crate::table;

/// The deepest nesting of blocks; deeper content is read as one paragraph.
pub(crate) const DEEPEST: u32 = 24;

/// The longest heading, in bytes; a longer one that holds blocks is not a heading.
const LONGEST_HEADING: usize = 300;

/// An item that the walk over the tree yields.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly all are blocks")]
pub(crate) enum Piece {
    /// A heading and its level from 1 to 6.
    Heading(u32, Option<String>, String),
    /// A block.
    Block(Block),
}

/// Reads parts of a page.
pub(crate) struct Blocks<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) gone: &'t [bool],
    pub(crate) document: &'t mut Document,
    /// Notes inside the text that was read last, which follow its paragraph.
    pub(crate) notes: Vec<Block>,
}

impl<'t> Blocks<'t> {
    /// Reads the parts of a page that are not left out; links and warnings go into the document.
    pub(crate) fn new(tree: &'t Tree, gone: &'t [bool], document: &'t mut Document) -> Self {
        Self { tree, gone, document, notes: Vec::new() }
    }

    /// The pieces of a run of nodes.
    pub(crate) fn pieces(&mut self, from: Id, to: Id, depth: u32) -> Vec<Piece> {
        let tree = self.tree;
        let mut out = Vec::new();
        let mut line = Line::default();
        // Ends of the open elements that divide paragraphs.
        let mut open: Vec<Id> = Vec::new();
        let mut at = from;
        while at < to {
            while open.last().is_some_and(|&end| end <= at) {
                open.pop();
                self.flush(&mut line, &mut out);
            }
            if self.gone.get(at).copied().unwrap_or_default() {
                at = tree.end(at);
                continue;
            }
            let name = tree.name(at);
            if let Some(text) = tree.text(at) {
                line.push(text);
                at += 1;
                continue;
            }
            if let Some(formula) = math::display(tree, at) {
                self.flush(&mut line, &mut out);
                out.push(Piece::Block(formula));
                at = tree.end(at);
                continue;
            }
            if inline::is_atom(tree, at) {
                inline::atom(self, at, &mut line);
                at = tree.end(at);
                continue;
            }
            if name == "br" {
                if line.line_break() {
                    self.flush(&mut line, &mut out);
                }
                at += 1;
                continue;
            }
            if name == "a" {
                inline::link(self, at);
            }
            if name.is_empty() || (is_inline(name) && !self.is_code_block(at)) {
                at += 1;
                continue;
            }
            self.flush(&mut line, &mut out);
            if depth >= DEEPEST && is_nesting(name) {
                let text = self.text(at);
                if let Some(text) = text {
                    out.push(Piece::Block(Block::new(Kind::Paragraph, text)));
                    self.document.warn(
                        "nested_too_deep",
                        "blocks nest deeper than 24: the rest is one paragraph",
                        Some(format!("<{name}>")),
                    );
                }
                at = tree.end(at);
                continue;
            }
            match self.block(at, depth, &mut out) {
                true => at = tree.end(at),
                false => {
                    open.push(tree.end(at));
                    at += 1;
                }
            }
        }
        self.flush(&mut line, &mut out);
        out
    }

    fn flush(&mut self, line: &mut Line, out: &mut Vec<Piece>) {
        if let Some(text) = line.take() {
            out.push(Piece::Block(Block::new(Kind::Paragraph, text)));
        }
        out.extend(std::mem::take(&mut self.notes).into_iter().map(Piece::Block));
    }

    /// Reads a block element; false for one that only divides.
    fn block(&mut self, id: Id, depth: u32, out: &mut Vec<Piece>) -> bool {
        let tree = self.tree;
        if depth < DEEPEST
            && let Some(pieces) = latexml::block(self, id, depth)
        {
            out.extend(pieces);
            return true;
        }
        let block = match tree.name(id) {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = tree.name(id).as_bytes().get(1).map_or(1, |byte| byte - b'0');
                let (label, text) = self.labelled(id);
                if text
                    .as_ref()
                    .is_some_and(|text| text.len() > LONGEST_HEADING && text.contains('\n'))
                {
                    // An unclosed heading contains what follows it.
                    return false;
                }
                if let Some(text) = text.or(label.clone()) {
                    let label = label.filter(|label| *label != text).map(latexml::number);
                    out.push(Piece::Heading(u32::from(level), label, text.replace('\n', " ")));
                }
                return true;
            }
            "pre" | "code" | "listing" | "xmp" | "samp" => self.code(id),
            "ul" | "ol" | "menu" | "dir" => self.list(id, depth),
            "dl" => self.definitions(id, depth),
            "blockquote" => self.quote(id, depth),
            "table" => return self.table(id, out),
            "figure" => return self.figure(id, depth, out),
            "p" | "div" | "figcaption" | "dd" | "td" if is_caption(tree, id) => {
                let mut block = Block::empty(Kind::Figure);
                block.caption = self.text(id);
                block.caption.is_some().then_some(block)
            }
            _ => return false,
        };
        out.extend(block.map(Piece::Block));
        true
    }

    /// `<code>` with several lines that is not inside text.
    fn is_code_block(&self, id: Id) -> bool {
        let tree = self.tree;
        tree.name(id) == "code"
            && tree.descendants(id).any(|inner| {
                tree.name(inner) == "br"
                    || tree.text(inner).is_some_and(|text| text.trim().contains('\n'))
            })
            && tree.elements(tree.parent(id)).nth(1).is_none()
            && tree.children(tree.parent(id)).all(|child| {
                child == id || tree.text(child).is_some_and(|text| text.trim().is_empty())
            })
    }

    fn code(&mut self, id: Id) -> Option<Block> {
        let tree = self.tree;
        let mut text = String::new();
        let mut at = id + 1;
        while at < tree.end(id) {
            if self.gone.get(at).copied().unwrap_or_default()
                || tree.attribute(at, "class").is_some_and(|class| {
                    class.split_ascii_whitespace().any(|name| {
                        matches!(
                            name,
                            "lineno" | "linenos" | "line-number" | "line-numbers" | "gutter"
                        )
                    })
                })
            {
                at = tree.end(at);
                continue;
            }
            match tree.text(at) {
                Some(part) => text.push_str(part),
                None if tree.name(at) == "br" => text.push('\n'),
                None if !text.is_empty()
                    && !text.ends_with('\n')
                    && matches!(tree.name(at), "div" | "p" | "li" | "tr") =>
                {
                    text.push('\n');
                }
                None => {}
            }
            at += 1;
        }
        let text = text.trim_matches('\n').trim_end();
        if text.trim().is_empty() {
            return None;
        }
        let mut block = Block::new(Kind::Code, text);
        block.role = language(tree, id);
        Some(block)
    }

    fn list(&mut self, id: Id, depth: u32) -> Option<Block> {
        let tree = self.tree;
        let mut block = Block::empty(Kind::List);
        block.ordered = tree.name(id) == "ol";
        let children: Vec<Id> = tree.children(id).collect();
        for child in children {
            if self.gone.get(child).copied().unwrap_or_default() {
                continue;
            }
            // Text between the items is an item too; so is a list directly in a list.
            let from = if tree.name(child) == "li" { child + 1 } else { child };
            let pieces = self.pieces(from, tree.end(child), depth + 1);
            block.items.extend(item(pieces));
        }
        (!block.items.is_empty()).then_some(block)
    }

    fn definitions(&mut self, id: Id, depth: u32) -> Option<Block> {
        let tree = self.tree;
        let mut block = Block::empty(Kind::List);
        block.role = Some("def-list".to_owned());
        let mut term: Option<String> = None;
        let mut at = id + 1;
        while at < tree.end(id) {
            if self.gone.get(at).copied().unwrap_or_default() {
                at = tree.end(at);
                continue;
            }
            let name = tree.name(at);
            if name == "div" {
                at += 1;
                continue;
            }
            if name == "dt" {
                if let Some(label) = term.take() {
                    block.items.push(Item { label: Some(label), ..Item::default() });
                }
                term = self.text(at).map(|text| text.replace('\n', " "));
            } else {
                let from = if name == "dd" { at + 1 } else { at };
                let pieces = self.pieces(from, tree.end(at), depth + 1);
                if let Some(mut item) = item(pieces) {
                    item.label = term.take();
                    block.items.push(item);
                }
            }
            at = tree.end(at);
        }
        if let Some(label) = term {
            block.items.push(Item { label: Some(label), ..Item::default() });
        }
        (!block.items.is_empty()).then_some(block)
    }

    fn quote(&mut self, id: Id, depth: u32) -> Option<Block> {
        let mut blocks = nested(self.pieces(id + 1, self.tree.end(id), depth + 1));
        let mut block = Block::empty(Kind::Quote);
        if let [only] = &mut blocks[..]
            && only.kind == Kind::Paragraph
            && only.label.is_none()
        {
            block.text = only.text.take();
            return Some(block);
        }
        block.blocks = blocks;
        (!block.blocks.is_empty()).then_some(block)
    }

    /// Reads a data table; false for a layout table.
    fn table(&mut self, id: Id, out: &mut Vec<Piece>) -> bool {
        if table::lays_out(self.tree, id, self.gone) {
            return false;
        }
        let mut block = Block::empty(Kind::Table);
        let caption = self.tree.elements(id).find(|&child| self.tree.name(child) == "caption");
        block.caption = caption.and_then(|caption| self.text(caption));
        table::fill(self, id, &mut block);
        if block.rows.is_empty() && block.caption.is_none() {
            return true;
        }
        out.push(Piece::Block(block));
        true
    }

    fn figure(&mut self, id: Id, depth: u32, out: &mut Vec<Piece>) -> bool {
        let tree = self.tree;
        // A figure may hold a table, code or a formula, which gets its caption.
        let caption = tree.descendants(id).find(|&inner| {
            tree.name(inner) == "figcaption" || tree.has_class(inner, "ltx_caption")
        });
        let (label, text) = caption.map_or((None, None), |caption| self.labelled(caption));
        let mut blocks = Vec::new();
        let mut from = id + 1;
        let mut cuts: Vec<(Id, Id)> = Vec::new();
        if let Some(caption) = caption {
            cuts.push((from, caption));
            from = tree.end(caption);
        }
        cuts.push((from, tree.end(id)));
        for (from, to) in cuts {
            // An element that is cut off is read up to the cut.
            blocks.extend(nested(self.pieces(from, to, depth + 1)));
        }
        let image = tree.descendants(id).find(|&inner| tree.name(inner) == "img");
        if image.is_none() && text.is_none() && label.is_none() {
            out.extend(blocks.into_iter().map(Piece::Block));
            return true;
        }
        if let [only] = &mut blocks[..]
            && matches!(only.kind, Kind::Table | Kind::Code | Kind::Quote)
            && only.caption.is_none()
        {
            (only.label, only.caption) = (label.or(only.label.take()), text);
            out.extend(blocks.into_iter().map(Piece::Block));
            return true;
        }
        let mut block = Block::empty(Kind::Figure);
        (block.label, block.caption) = (label, text);
        block.href = image.and_then(|image| source(tree, image)).map(str::to_owned);
        block.blocks = blocks;
        if block.caption.is_some() || !block.blocks.is_empty() || block.href.is_some() {
            out.push(Piece::Block(block));
        }
        true
    }

    /// The marked label at the beginning of an element's text, and the text.
    fn labelled(&mut self, id: Id) -> (Option<String>, Option<String>) {
        let tree = self.tree;
        let tag = tree.elements(id).next().filter(|&first| tree.has_class(first, "ltx_tag"));
        let Some(tag) = tag else { return (None, self.text(id)) };
        let label = tree.all_text(tag);
        let label = label.trim_end_matches([':', '.', ' ']).to_owned();
        let mut line = Line::default();
        inline::read(self, tree.end(tag), tree.end(id), &mut line);
        (Some(label).filter(|label| !label.is_empty()), line.take())
    }

    /// All text in an element, as lines.
    pub(crate) fn text(&mut self, id: Id) -> Option<String> {
        let mut line = Line::default();
        inline::read(self, id + 1, self.tree.end(id), &mut line);
        line.take()
    }
}

/// Whether an element without inner blocks is named like a caption.
fn is_caption(tree: &Tree, id: Id) -> bool {
    let class = tree.attribute(id, "class").unwrap_or_default();
    let named = tree.name(id) == "figcaption"
        || class.split(|character: char| !character.is_ascii_alphanumeric()).any(|word| {
            matches!(
                word.to_ascii_lowercase().as_str(),
                "caption" | "figcaption" | "imagecaption" | "bildunterschrift" | "bu" | "legende"
            )
        });
    named
        && !tree
            .descendants(id)
            .any(|inner| matches!(tree.name(inner), "p" | "div" | "img" | "table"))
}

/// The URL of a picture; none for a `data:` URL.
fn source(tree: &Tree, image: Id) -> Option<&str> {
    ["src", "data-src", "data-original"]
        .into_iter()
        .filter_map(|name| tree.attribute(image, name))
        .map(str::trim)
        .find(|address| !address.is_empty() && !address.starts_with("data:"))
}

fn is_nesting(name: &str) -> bool {
    matches!(name, "ul" | "ol" | "menu" | "dir" | "dl" | "blockquote" | "figure" | "table")
}

/// The language of code: `language-rust`, `lang-py`, `brush: js`, `highlight-source-c`, or `data-lang`.
fn language(tree: &Tree, id: Id) -> Option<String> {
    let parent = tree.parent(id);
    let inner = tree.elements(id).next();
    for at in [Some(id), inner, Some(parent), Some(tree.parent(parent))].into_iter().flatten() {
        for name in ["data-lang", "data-language", "lang"] {
            if name == "lang" && at != id {
                continue;
            }
            let value = tree.attribute(at, name).map(str::trim).unwrap_or_default();
            if !value.is_empty() && value.len() < 30 && name != "lang" {
                return Some(value.to_ascii_lowercase());
            }
        }
        let class = tree.attribute(at, "class").unwrap_or_default();
        let mut before = "";
        for word in class.split_ascii_whitespace() {
            let prefixes = ["language-", "lang-", "highlight-source-", "brush:"];
            let found = prefixes.into_iter().find_map(|prefix| word.strip_prefix(prefix));
            let found = if before == "brush:" { Some(word) } else { found };
            before = word;
            let found = found.map(|found| found.trim_matches(';')).unwrap_or_default();
            if !found.is_empty() && !matches!(found, "none" | "plaintext" | "text") {
                return Some(found.to_ascii_lowercase());
            }
        }
    }
    None
}

/// Pieces of a list's item: its first paragraph is its text.
fn item(pieces: Vec<Piece>) -> Option<Item> {
    let mut item = Item::default();
    for block in nested(pieces) {
        let plain = block.kind == Kind::Paragraph && block.label.is_none();
        if plain && item.text.is_none() && item.blocks.is_empty() {
            item.text = block.text;
        } else {
            item.blocks.push(block);
        }
    }
    (item.text.is_some() || !item.blocks.is_empty()).then_some(item)
}

/// Pieces inside a block: headings are blocks.
pub(crate) fn nested(pieces: Vec<Piece>) -> Vec<Block> {
    pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Block(block) => block,
            Piece::Heading(_, label, text) => {
                let mut block = Block::new(Kind::Heading, text);
                block.label = label;
                block
            }
        })
        .collect()
}

/// Makes sections from the pieces of a page; the title's heading is left out, and levels begin with
/// 1.
pub(crate) fn sections(pieces: Vec<Piece>, title: Option<&str>) -> Vec<Section> {
    let same = |left: &str, right: &str| {
        let plain = |text: &str| -> String {
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        plain(left) == plain(right)
    };
    let mut out: Vec<Section> = Vec::new();
    let mut first = Section { level: 1, ..Section::default() };
    let mut titled = false;
    let mut levels = [false; 7];
    for piece in pieces {
        match piece {
            Piece::Heading(level, label, text) => {
                if !titled && title.is_some_and(|title| same(title, &text)) {
                    titled = true;
                    continue;
                }
                if let Some(seen) = levels.get_mut(level as usize) {
                    *seen = true;
                }
                let section = Section { heading: Some(text), label, level, ..Section::default() };
                out.push(section);
            }
            Piece::Block(block) => match out.last_mut() {
                Some(section) => section.blocks.push(block),
                None => first.blocks.push(block),
            },
        }
    }
    // Unused levels leave no gap.
    let used: Vec<u32> = (1..7).filter(|&level| levels[level as usize]).collect();
    for section in &mut out {
        let index = used.iter().position(|&level| level == section.level).unwrap_or_default();
        section.level = index as u32 + 1;
    }
    if !first.blocks.is_empty() {
        out.insert(0, first);
    }
    out
}
