//! Tables as Markdown's pipe tables and as plain text.
//!
//! A pipe table has one header row and no spanning cells. Other tables are converted: several
//! header rows become one, with ` / ` between the rows' texts; a header cell is repeated in each
//! column that it spans, and a body cell in each row that it spans.

use std::borrow::Cow;

use super::{Block, escape};

/// The header cells, empty when there are none, and the rows of the body.
struct Plain<'b> {
    header: Vec<String>,
    body: Vec<Vec<Cow<'b, str>>>,
}

fn plain(table: &Block) -> Plain<'_> {
    let mut rows: Vec<Vec<Cow<'_, str>>> = table
        .rows
        .iter()
        .map(|row| row.iter().map(|cell| Cow::Borrowed(cell.as_str())).collect())
        .collect();
    let header_rows = usize::try_from(table.header_rows).unwrap_or(0).min(rows.len());
    let to_usize = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    for span in &table.spans {
        let (row, column) = (to_usize(span.row), to_usize(span.column));
        let Some(text) = rows.get(row).and_then(|cells| cells.get(column)).cloned() else {
            continue;
        };
        let in_header = row < header_rows;
        let columns = if in_header { to_usize(span.columns) } else { 1 };
        let last = if in_header { header_rows } else { rows.len() };
        for cells in rows[..last].iter_mut().skip(row).take(to_usize(span.rows)) {
            for cell in cells.iter_mut().skip(column).take(columns) {
                if cell.is_empty() {
                    *cell = text.clone();
                }
            }
        }
    }
    let body = rows.split_off(header_rows);
    let width = rows.iter().chain(&body).map(Vec::len).max().unwrap_or(0);
    let mut header = vec![String::new(); if header_rows > 0 { width } else { 0 }];
    for (column, whole) in header.iter_mut().enumerate() {
        let mut last = "";
        for cell in rows.iter().filter_map(|row| row.get(column)) {
            if !cell.is_empty() && cell != last {
                whole.push_str(if whole.is_empty() { "" } else { " / " });
                whole.push_str(cell);
                last = cell;
            }
        }
    }
    Plain { header, body }
}

/// The rows as a pipe table; `None` when there are none.
pub(super) fn markdown(table: &Block) -> Option<String> {
    let table = plain(table);
    let width = table.body.iter().map(Vec::len).chain([table.header.len()]).max()?;
    if width == 0 {
        return None;
    }
    let mut out = String::new();
    row(&mut out, table.header.iter().map(String::as_str), width);
    out.push('|');
    out.push_str(&" --- |".repeat(width));
    out.push('\n');
    for cells in &table.body {
        row(&mut out, cells.iter().map(Cow::as_ref), width);
    }
    out.pop();
    Some(out)
}

fn row<'c>(out: &mut String, cells: impl Iterator<Item = &'c str>, width: usize) {
    out.push('|');
    for cell in cells.map(Some).chain(std::iter::repeat(None)).take(width) {
        let lines = cell.unwrap_or_default().lines().map(|line| escape::inline(line.trim()));
        let cell = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("<br>");
        out.push(' ');
        out.push_str(&cell);
        out.push_str(if cell.is_empty() { "|" } else { " |" });
    }
    out.push('\n');
}

/// The rows as lines with tabs between the cells; `None` when there are none.
pub(super) fn text(table: &Block) -> Option<String> {
    let table = plain(table);
    let one_line = |cell: &str| cell.split_whitespace().collect::<Vec<_>>().join(" ");
    let join = |cells: Vec<String>| cells.join("\t");
    let mut lines = Vec::with_capacity(table.body.len() + 1);
    if !table.header.is_empty() {
        lines.push(join(table.header.iter().map(|cell| one_line(cell)).collect()));
    }
    lines
        .extend(table.body.iter().map(|row| join(row.iter().map(|cell| one_line(cell)).collect())));
    Some(lines.join("\n")).filter(|text| !text.trim().is_empty())
}
