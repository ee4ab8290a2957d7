//! Tables: rows of cells that may span, as a grid.

use carrel_pdk::document::{Block, Span};
use carrel_pdk::xml::tree::Node;

use crate::inline;
use crate::reader::Reader;

/// Columns that one cell may span: HTML's own bound.
const WIDEST: u64 = 1000;
/// Places of a grid beyond its cells that spans may cover.
const LARGEST: usize = 100_000;

/// A cell before it has its place.
struct Cell {
    text: String,
    rows: u64,
    columns: u64,
}

/// Reads the rows of a `<table>`, HTML's, CALS's or TEI's, into a block.
pub(crate) fn fill(reader: &mut Reader<'_, '_>, table: Node, block: &mut Block) {
    let mut rows = Vec::new();
    let mut headers = 0;
    let mut pictures = false;
    for (row, in_head) in rows_of(reader, table) {
        let mut cells = Vec::new();
        let mut only_heads = true;
        for node in reader.tree.elements(row) {
            let name = reader.tree.name(node);
            if !matches!(name, "td" | "th" | "entry" | "cell") {
                reader.warn(node, "unknown_element", "expected a cell in a row of a table");
            }
            only_heads &=
                name == "th" || reader.tree.attribute(node, "role").as_deref() == Some("label");
            let text = inline::of(reader, node).unwrap_or_default();
            let picture = |name| reader.tree.find(node, name).is_some();
            pictures |= text.is_empty() && (picture("graphic") || picture("inline-graphic"));
            cells.push(Cell {
                text,
                rows: spanned(reader, node, true),
                columns: spanned(reader, node, false),
            });
        }
        let is_header = in_head || (only_heads && !cells.is_empty());
        if is_header && headers == rows.len() {
            headers += 1;
        }
        rows.push(cells);
    }
    // A table of nothing but heads has no header.
    block.header_rows = if headers < rows.len() || headers == 1 { headers as u64 } else { 0 };
    if pictures {
        reader.warn(table, "cell_as_image", "cells of the table are only there as pictures");
    }
    let cells: usize = rows.iter().map(Vec::len).sum();
    if !place(rows, cells, block) {
        reader.warn(table, "table_spans", "cells span more of the table than there is");
    }
}

/// The rows directly in a table and in its groups of rows, with whether the group is a head.
fn rows_of(reader: &Reader<'_, '_>, table: Node) -> Vec<(Node, bool)> {
    let tree = reader.tree;
    let mut rows = Vec::new();
    let mut groups = vec![(table, false)];
    while let Some((group, in_head)) = groups.pop() {
        let mut inner = Vec::new();
        for child in tree.elements(group) {
            match tree.name(child) {
                "tr" | "row" => {
                    let label = tree.attribute(child, "role").as_deref() == Some("label");
                    rows.push((child, in_head || label));
                }
                "thead" => inner.push((child, true)),
                "tbody" | "tfoot" | "tgroup" => inner.push((child, in_head)),
                _ => {}
            }
        }
        inner.reverse();
        groups.extend(inner);
    }
    rows
}

fn spanned(reader: &Reader<'_, '_>, cell: Node, down: bool) -> u64 {
    let number = |name: &str| reader.tree.attribute(cell, name)?.trim().parse::<u64>().ok();
    if down {
        let more = number("morerows").map(|more| more.saturating_add(1));
        return number("rowspan").or_else(|| number("rows")).or(more).unwrap_or(1).max(1);
    }
    let column = |name: &str| -> Option<u64> {
        let name = reader.tree.attribute(cell, name)?;
        name.trim_start_matches(|one: char| !one.is_ascii_digit()).parse().ok()
    };
    let named = || Some(column("nameend")?.checked_sub(column("namest")?)? + 1);
    let columns = number("colspan").or_else(|| number("cols")).or_else(named);
    columns.unwrap_or(1).clamp(1, WIDEST)
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
