//! Tables: rows of cells that may span, as a grid.

use carrel_pdk::document::Block;
use carrel_pdk::document::grid::{Cell, place};
use carrel_pdk::xml::tree::Node;

use crate::inline;
use crate::reader::Reader;

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
            let (rows, columns) = (spanned(reader, node, true), spanned(reader, node, false));
            cells.push(Cell::new(text, rows, columns));
        }
        let is_header = in_head || (only_heads && !cells.is_empty());
        if is_header && headers == rows.len() {
            headers += 1;
        }
        rows.push(cells);
    }
    // A table of only heads has no header.
    block.header_rows = if headers < rows.len() || headers == 1 { headers as u64 } else { 0 };
    if pictures {
        reader.warn(table, "cell_as_image", "cells of the table are only there as pictures");
    }
    if !place(rows, block) {
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
        return number("rowspan").or_else(|| number("rows")).or(more).unwrap_or(1);
    }
    let column = |name: &str| -> Option<u64> {
        let name = reader.tree.attribute(cell, name)?;
        name.trim_start_matches(|character: char| !character.is_ascii_digit()).parse().ok()
    };
    let named = || Some(column("nameend")?.checked_sub(column("namest")?)? + 1);
    let columns = number("colspan").or_else(|| number("cols")).or_else(named);
    columns.unwrap_or(1)
}
