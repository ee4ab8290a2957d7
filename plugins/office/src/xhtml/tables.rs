//! Figures and tables of a chapter.

use carrel_pdk::document::{Block, Kind};
use carrel_pdk::xml::tree::Node;

use crate::outline::{Outline, lines, one_line};
use carrel_pdk::document::grid::{Cell, place};

use super::{Chapter, is_block};

impl<'t, 'd> Chapter<'t, 'd> {
    pub(super) fn figure(&mut self, node: Node, outline: &mut Outline, depth: u32) {
        let tree = self.tree;
        let mut inside = Outline::default();
        let mut caption = None;
        for child in tree.elements(node) {
            if tree.name(child) == "figcaption" {
                caption = self.words(child).and_then(|text| lines(&text)).or(caption);
            } else {
                let name = tree.name(child);
                if is_block(name) || self.holds_blocks(child) {
                    self.block(child, name, &mut inside, depth + 1);
                } else if let Some(text) = self.words(child).and_then(|text| lines(&text)) {
                    inside.push(Block::new(Kind::Paragraph, text));
                }
            }
        }
        let mut blocks = inside.into_blocks();
        match blocks.first_mut() {
            Some(first) if matches!(first.kind, Kind::Figure | Kind::Table | Kind::Code) => {
                first.caption = caption.or(first.caption.take());
            }
            _ => blocks.insert(0, Block { caption, ..Block::empty(Kind::Figure) }),
        }
        for block in blocks {
            if block != Block::empty(Kind::Figure) {
                outline.push(block);
            }
        }
    }

    /// Adds the pictures inside a paragraph after it.
    pub(super) fn pictures(&mut self, node: Node, outline: &mut Outline) {
        let pictures = self.tree.descendants(node);
        for inner in pictures.filter(|&inner| matches!(self.tree.name(inner), "img" | "image")) {
            self.picture(inner, outline);
        }
    }

    pub(super) fn picture(&mut self, node: Node, outline: &mut Outline) {
        let tree = self.tree;
        let source = |node: Node| {
            let value = |name: &str| tree.attribute(node, name).map(|value| value.into_owned());
            value("src").or_else(|| value("href")).or_else(|| value("data"))
        };
        let href = source(node).or_else(|| tree.find(node, "image").and_then(source));
        let words = tree.attribute(node, "alt").or_else(|| tree.attribute(node, "title"));
        let inside = (tree.name(node) == "svg").then(|| tree.text(node)).flatten();
        let text = words.and_then(|words| one_line(&words)).or(inside);
        if href.as_deref().is_some_and(|href| href.contains("://")) {
            let message = format!(
                "a picture outside the book is not read: {}",
                href.as_deref().unwrap_or_default()
            );
            self.found.warnings.push(("external_relation", message));
        }
        let href = href.filter(|href| !href.starts_with("data:"));
        if href.is_some() || text.is_some() {
            outline.push(Block { href, text, ..Block::empty(Kind::Figure) });
        }
    }

    pub(super) fn table(&mut self, node: Node, outline: &mut Outline, depth: u32) {
        let tree = self.tree;
        let mut block = Block::empty(Kind::Table);
        let mut rows = Vec::new();
        let mut headers = 0;
        let mut extra = Vec::new();
        let mut groups: Vec<(Node, bool)> = Vec::new();
        for child in tree.elements(node) {
            match tree.name(child) {
                "caption" => block.caption = self.words(child).and_then(|text| lines(&text)),
                "tr" => groups.push((child, false)),
                "thead" => groups.extend(tree.elements(child).map(|row| (row, true))),
                "tbody" | "tfoot" => groups.extend(tree.elements(child).map(|row| (row, false))),
                _ => {}
            }
        }
        for (row, in_head) in groups {
            let mut cells = Vec::new();
            let mut heads = true;
            for cell in tree.elements(row).filter(|&cell| matches!(tree.name(cell), "td" | "th")) {
                heads &= tree.name(cell) == "th";
                let mut inside = Outline::default();
                self.blocks(cell, &mut inside, depth + 1);
                let mut text = String::new();
                crate::docx::tables::flatten(inside.into_blocks(), &mut text, &mut extra);
                let number = |name: &str| {
                    tree.attribute(cell, name)
                        .and_then(|number| number.trim().parse().ok())
                        .unwrap_or(1)
                };
                let text = lines(&text).unwrap_or_default();
                cells.push(Cell::new(text, number("rowspan"), number("colspan")));
            }
            if (in_head || (heads && !cells.is_empty())) && headers == rows.len() {
                headers += 1;
            }
            rows.push(cells);
        }
        block.header_rows = if headers < rows.len() { headers as u64 } else { 0 };
        if !place(rows, &mut block) {
            let message = "cells span more of the table than there is".to_owned();
            self.found.warnings.push(("table_spans", message));
        }
        block.blocks = extra;
        if !block.rows.is_empty() || block.caption.is_some() || !block.blocks.is_empty() {
            outline.push(block);
        }
    }
}
