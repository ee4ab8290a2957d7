//! Tables: rows of cells that may span, as a grid.

use carrel_pdk::document::{Block, Span};

use crate::blocks::Blocks;
use crate::dom::{Id, Tree};

/// Columns that one cell may span: HTML's own bound.
const WIDEST: u64 = 1000;
/// Places of a grid beyond its cells that spans may cover.
const LARGEST: usize = 100_000;

struct Cell {
    text: String,
    rows: u64,
    columns: u64,
}

/// Whether a table only places things on the page: it has one column, or holds tables, lists, headings or
/// whole paragraphs.
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
            let rows = number("rowspan").unwrap_or(1).max(1);
            let columns = number("colspan").unwrap_or(1).clamp(1, WIDEST);
            cells.push(Cell { text, rows, columns });
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
    let cells: usize = rows.iter().map(Vec::len).sum();
    if !place(rows, cells, block) {
        blocks.document.warn(
            "table_spans",
            "cells span more of the table than there is",
            Some("<table>".to_owned()),
        );
    }
}

/// The rows of a table, those of its head first or where they are, with whether they are in a head.
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

/// Gives every cell its place; false when spans had to be left out.
fn place(rows: Vec<Vec<Cell>>, cells: usize, block: &mut Block) -> bool {
    let height = rows.len();
    let covered = |cell: &Cell| {
        let rows = usize::try_from(cell.rows).unwrap_or(height).min(height);
        rows.saturating_mul(usize::try_from(cell.columns).unwrap_or(usize::MAX))
    };
    let total = rows.iter().flatten().map(covered).fold(0_usize, usize::saturating_add);
    let keeps = total <= cells.saturating_add(LARGEST);
    // For each column, rows below the present one that a cell above covers.
    let mut taken: Vec<u64> = Vec::new();
    let mut grid: Vec<Vec<String>> = Vec::with_capacity(height);
    for (number, cells) in rows.into_iter().enumerate() {
        let mut row: Vec<String> = Vec::new();
        let mut here = std::mem::take(&mut taken);
        let below = (height - number) as u64;
        for cell in cells {
            while here.get(row.len()).is_some_and(|&rows| rows > 0) {
                row.push(String::new());
            }
            let (down, across) = if keeps { (cell.rows.min(below), cell.columns) } else { (1, 1) };
            let column = row.len();
            if down > 1 || across > 1 {
                let (row, column) = (number as u64, column as u64);
                block.spans.push(Span { row, column, rows: down, columns: across });
            }
            row.push(cell.text);
            for at in column..column + usize::try_from(across).unwrap_or(1) {
                if at >= row.len() {
                    row.push(String::new());
                }
                if at >= here.len() {
                    here.resize(at + 1, 0);
                }
                here[at] = here[at].max(down);
            }
        }
        taken = here.into_iter().map(|rows| rows.saturating_sub(1)).collect();
        grid.push(row);
    }
    let width = grid.iter().map(Vec::len).max().unwrap_or(0);
    let fits = width.saturating_mul(height) <= cells.saturating_mul(4).saturating_add(LARGEST);
    if fits {
        grid.iter_mut().for_each(|row| row.resize(width, String::new()));
    }
    if width > 0 {
        block.rows = grid;
    }
    keeps && fits
}
