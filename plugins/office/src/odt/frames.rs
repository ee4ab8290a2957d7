//! Frames and tables: pictures, text boxes, cells and what they span.

use carrel_pdk::document::{Block, Kind};
use carrel_pdk::xml::tree::{Node, Tree};

use crate::docx::tables::flatten;
use crate::outline::{Outline, boxed, lines};
use carrel_pdk::document::grid::{Cell, place};

use super::{MAX_REPEATED, Reader};

impl Reader<'_, '_> {
    /// Reads a frame: a text box, a picture, an object.
    pub(super) fn frame(
        &mut self,
        tree: &Tree<'_>,
        frame: Node,
        outline: &mut Outline,
        depth: u32,
    ) {
        let alt = ["desc", "title"].iter().find_map(|name| tree.text(tree.child(frame, name)?));
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
                    outline.push(Block { href, text: alt.clone(), ..Block::empty(Kind::Figure) });
                }
                "object" | "object-ole" => {
                    if let Some(table) = tree.find(part, "table") {
                        self.table(tree, table, outline, depth + 1);
                    } else {
                        let href = tree.attribute(part, "href").unwrap_or_default();
                        let location = format!("byte {} of content.xml", tree.offset(part));
                        let message = format!("an embedded object is not read: {href}");
                        self.document.warn("embedded_object", message, Some(location));
                    }
                }
                _ => {}
            }
        }
        if !picture && let Some(text) = alt {
            outline.push(Block { text: Some(text), ..Block::empty(Kind::Figure) });
        }
    }

    pub(super) fn table(
        &mut self,
        tree: &Tree<'_>,
        table: Node,
        outline: &mut Outline,
        depth: u32,
    ) {
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
            let location = format!("byte {} of content.xml", tree.offset(table));
            let message = "cells span more of the table than there is";
            self.document.warn("table_spans", message, Some(location));
        }
        block.blocks = extra;
        if !block.rows.is_empty() || !block.blocks.is_empty() {
            outline.push(block);
        }
    }
}

/// Makes the text around a picture in a frame its caption.
pub(super) fn caption_of(blocks: &mut Vec<Block>) {
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
