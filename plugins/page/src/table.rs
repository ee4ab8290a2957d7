//! Tables: rows of cells that may span, as a grid.

use carrel_pdk::document::Block;
use carrel_pdk::document::grid::{Cell, place};

use crate::blocks::Blocks;
use crate::dom::{Id, Tree};

/// Whether a table is for layout: it has one column, or holds tables, lists, headings or whole
/// paragraphs.
pub(crate) fn lays_out(tree: &Tree, id: Id, gone: &[bool]) -> bool {
    if matches!(tree.attribute(id, "role"), Some("presentation" | "none")) {
        return true;
    }
    let (mut heads, mut blocks, mut widest, mut here, mut cells, mut chars) = (0, 0, 0, 0, 0, 0);
    for inner in tree.descendants(id) {
        if gone.get(inner).copied().unwrap_or_default() {
            continue;
        }
        match tree.name(inner) {
            "table" => return true,
            "th" | "caption" | "thead" => heads += 1,
            "h1" | "h2" | "h3" | "h4" | "blockquote" | "pre" => blocks += 1,
            "tr" => here = 0,
            "" => chars += tree.text(inner).map_or(0, |text| text.trim().len()),
            _ => {}
        }
        if matches!(tree.name(inner), "td" | "th") {
            here += 1;
            cells += 1;
            widest = widest.max(here);
        }
    }
    heads == 0 && (widest < 2 || blocks > 0 || (cells > 0 && chars / cells > 400))
}

/// Reads the rows of a table into a block.
pub(crate) fn fill(blocks: &mut Blocks<'_>, table: Id, block: &mut Block) {
    let tree = blocks.tree;
    let mut rows = Vec::new();
    let mut headers = 0;
    for (row, in_head) in rows_of(tree, table, blocks.gone) {
        let mut cells = Vec::new();
        let mut only_heads = true;
        let nodes: Vec<Id> = tree.elements(row).collect();
        for node in nodes {
            if blocks.gone.get(node).copied().unwrap_or_default() {
                continue;
            }
            only_heads &= tree.name(node) == "th";
            let number = |name| tree.attribute(node, name)?.trim().parse::<u64>().ok();
            let text = blocks.text(node).unwrap_or_default();
            let (rows, columns) = (number("rowspan").unwrap_or(1), number("colspan").unwrap_or(1));
            cells.push(Cell::new(text, rows, columns));
        }
        if (in_head || (only_heads && !cells.is_empty())) && headers == rows.len() {
            headers += 1;
        }
        rows.push(cells);
    }
    rows.truncate(rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1));
    if rows.iter().flatten().all(|cell| cell.text.is_empty()) {
        return;
    }
    let headers = headers.min(rows.len());
    block.header_rows = if headers < rows.len() || headers == 1 { headers as u64 } else { 0 };
    if !place(rows, block) {
        blocks.document.warn(
            "table_spans",
            "cells span more of the table than there is",
            Some("<table>".to_owned()),
        );
    }
}

/// The rows of a table in document order, with whether they are in its head.
fn rows_of(tree: &Tree, table: Id, gone: &[bool]) -> Vec<(Id, bool)> {
    let mut rows = Vec::new();
    let mut at = table + 1;
    let mut head_end = 0;
    while at < tree.end(table) {
        if gone.get(at).copied().unwrap_or_default() {
            at = tree.end(at);
            continue;
        }
        match tree.name(at) {
            "tr" => {
                rows.push((at, at < head_end));
                at = tree.end(at);
            }
            "thead" => {
                head_end = tree.end(at);
                at += 1;
            }
            "tbody" | "tfoot" => at += 1,
            _ => at = tree.end(at),
        }
    }
    rows
}
