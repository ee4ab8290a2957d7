//! Lays out table cells that span rows and columns as a grid.

use super::{Block, Span};

/// Columns that one cell may span: HTML's own bound.
const WIDEST: u64 = 1000;
/// The most positions that spans may add to a grid's cells.
const LARGEST: usize = 100_000;

/// A cell that has no position yet.
#[derive(Debug, Default)]
pub struct Cell {
    /// Its text; may be empty.
    pub text: String,
    /// Rows that it spans, at least 1.
    pub rows: u64,
    /// Columns that it spans, from 1 to 1,000.
    pub columns: u64,
}

impl Cell {
    /// Makes a cell; clamps its spans to the bounds.
    #[must_use]
    pub fn new(text: String, rows: u64, columns: u64) -> Self {
        Self { text, rows: rows.max(1), columns: columns.clamp(1, WIDEST) }
    }
}

/// Fills the block's `rows` and `spans`; returns false when the cells span more positions than
/// allowed, and spans or padding are left out.
pub fn place(rows: Vec<Vec<Cell>>, block: &mut Block) -> bool {
    let height = rows.len();
    let cells: usize = rows.iter().map(Vec::len).sum();
    let covered = |cell: &Cell| {
        let rows = usize::try_from(cell.rows).unwrap_or(height).min(height);
        rows.saturating_mul(usize::try_from(cell.columns).unwrap_or(usize::MAX))
    };
    let total = rows.iter().flatten().map(covered).fold(0_usize, usize::saturating_add);
    let keeps = total <= cells.saturating_add(LARGEST);
    // For each column, the number of rows below the current one that a cell above covers.
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
