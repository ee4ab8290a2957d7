//! Tables of a text: rows, cells and what they span.

use std::collections::BTreeMap;

use carrel_pdk::document::{Block, Kind};
use carrel_pdk::xml::tree::{Node, Tree};

use super::{Reader, Source};
use crate::outline::{LINE, Outline, boxed, lines};
use carrel_pdk::document::grid::{Cell, place};

impl<'p, 'd> Reader<'p, 'd> {
    pub(crate) fn table(
        &mut self,
        source: Source<'_, '_>,
        node: Node,
        outline: &mut Outline,
        depth: u32,
    ) {
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
            let location = format!("byte {} of {}", tree.offset(node), source.part);
            let message = "cells span more of the table than there is";
            self.document.warn("table_spans", message, Some(location));
        }
        block.blocks = extra;
        if !block.rows.is_empty() || !block.blocks.is_empty() {
            outline.push(block);
        }
    }

    /// Whether the table's style formats the first row as a header, and the table enables it.
    pub(crate) fn first_row(&self, tree: &Tree<'_>, table: Node) -> bool {
        let Some(properties) = tree.child(table, "tblPr") else { return false };
        let Some(look) = tree.child(properties, "tblLook") else { return false };
        let is_enabled = match tree.attribute(look, "firstRow") {
            Some(value) => matches!(value.as_ref(), "1" | "true" | "on"),
            None => {
                let bits = tree.attribute(look, "val");
                let bits = bits.and_then(|bits| u32::from_str_radix(&bits, 16).ok());
                bits.is_some_and(|bits| bits & 0x20 != 0)
            }
        };
        let style =
            tree.child(properties, "tblStyle").and_then(|style| tree.attribute(style, "val"));
        is_enabled && style.is_some_and(|style| self.styles.has_first_row(&style))
    }

    /// The blocks of a cell.
    pub(crate) fn cell(&mut self, source: Source<'_, '_>, cell: Node, depth: u32) -> Vec<Block> {
        let mut inside = Outline::default();
        let (caption, references) = (self.caption.take(), self.in_references);
        self.blocks(source, cell, &mut inside, depth + 1);
        self.flush_caption(&mut inside);
        (self.caption, self.in_references) = (caption, references);
        inside.into_blocks()
    }
}

/// The rows directly in a table or in marks inside it, without deleted ones.
pub(crate) fn rows_of(tree: &Tree<'_>, table: Node) -> Vec<Node> {
    within(tree, table, "tr")
        .into_iter()
        .filter(|&row| {
            let properties = tree.child(row, "trPr");
            properties.and_then(|properties| tree.child(properties, "del")).is_none()
        })
        .collect()
}

pub(crate) fn cells_of(tree: &Tree<'_>, row: Node) -> Vec<Node> {
    within(tree, row, "tc")
}

/// Elements of a name inside a node, also inside its marks (content controls, insertions).
pub(crate) fn within(tree: &Tree<'_>, node: Node, name: &str) -> Vec<Node> {
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

/// The text of a cell's blocks, a line each; blocks without lines go into `extra`.
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
