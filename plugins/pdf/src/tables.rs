//! Tables: text in cells between ruling lines, or in columns between horizontal rules.
//!
//! In a tagged file, the tags define the cells. Lines remain lines unless they are certainly a
//! table: [`ruled`] asks for a grid of lines, [`open`] for three rules of one width with columns
//! that no word crosses.

mod open;
mod ruled;

use std::collections::BTreeMap;

use crate::font::Fonts;
use crate::geometry::Direction;
use crate::interpret::{Glyph, Rule};
use crate::lines::{Line, is_space};
use crate::prose::Words;
use crate::tags::{Role, Tags};

/// The least space between columns, in ems: more than between words.
const COLUMN_GAP: f32 = 0.75;
/// The most rows or columns of one table.
const MOST: usize = 400;
/// The most characters of the longest cell, and on average: with more, it is a framed page.
const LONGEST_CELL: usize = 1500;
const LONGEST_MEAN: usize = 200;

/// The cells of a table, all rows of one length.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) header_rows: u64,
}

/// Lines by row and column.
type Cells = Vec<Vec<Vec<Line>>>;

/// Replaces lines by the tables that they form.
pub(crate) fn take(lines: Vec<Line>, rules: &[Rule], tags: &Tags, fonts: &Fonts<'_>) -> Vec<Line> {
    let lines = tagged(lines, tags);
    if rules.len() < 3 || lines.len() < 4 {
        return lines;
    }
    let (across, down): (Vec<Rule>, Vec<Rule>) =
        merged(rules).into_iter().partition(|rule| !rule.is_vertical);
    let lines = ruled::take(lines, &across, &down, fonts);
    open::take(lines, &across, fonts)
}

/// Replaces lines that are cells in the structure tree by tables.
fn tagged(lines: Vec<Line>, tags: &Tags) -> Vec<Line> {
    let mut tables: BTreeMap<u32, Vec<Line>> = BTreeMap::new();
    let mut rest = Vec::with_capacity(lines.len());
    for line in lines {
        match tags.role(line.element) {
            Some(Role::Cell(table, ..)) => tables.entry(table).or_default().push(line),
            _ => rest.push(line),
        }
    }
    for lines in tables.into_values() {
        let roles = lines.iter().filter_map(|line| match tags.role(line.element)? {
            Role::Cell(_, row, column, is_header) => Some((row, column as usize, is_header)),
            _ => None,
        });
        let roles: Vec<(u32, usize, bool)> = roles.collect();
        let mut rows: Vec<u32> = roles.iter().map(|role| role.0).collect();
        rows.sort_unstable();
        rows.dedup();
        let width = roles.iter().map(|role| role.1 + 1).max().unwrap_or(0);
        let mut found = None;
        if rows.len() <= MOST && width <= MOST {
            let mut cells: Cells = vec![vec![Vec::new(); width]; rows.len()];
            let is_head = |row: &&u32| roles.iter().all(|role| role.0 != **row || role.2);
            let heads = rows.iter().take(10).take_while(is_head).count();
            for (line, (row, column, _)) in lines.iter().zip(&roles) {
                let row = rows.binary_search(row).ok().and_then(|row| cells.get_mut(row));
                if let Some(cell) = row.and_then(|row| row.get_mut(*column)) {
                    cell.push(line.clone());
                }
            }
            found = table(cells, heads);
        }
        let first = lines.iter().min_by_key(|line| line.order).cloned();
        match (found, first) {
            (Some(found), Some(first)) => {
                let edge = |of: fn(&Line) -> f32, pick: fn(f32, f32) -> f32| {
                    lines.iter().map(of).reduce(pick).unwrap_or_default()
                };
                let frame = [
                    edge(|line| line.left, f32::min),
                    edge(Line::top, f32::min),
                    edge(|line| line.right, f32::max),
                    edge(Line::bottom, f32::max),
                ];
                insert(found, frame, &first, &mut rest);
            }
            _ => rest.extend(lines),
        }
    }
    rest.sort_by_key(|line| line.order);
    rest
}

/// Merges rules that continue or repeat each other.
fn merged(rules: &[Rule]) -> Vec<Rule> {
    let mut rules = rules.to_vec();
    let key = |rule: &Rule| (rule.is_vertical, (rule.at * 0.5).round());
    rules.sort_by(|a, b| {
        key(a)
            .partial_cmp(&key(b))
            .unwrap_or(std::cmp::Ordering::Equal)
            .then(a.start.total_cmp(&b.start))
    });
    let mut out: Vec<Rule> = Vec::with_capacity(rules.len());
    for rule in rules {
        match out.last_mut() {
            Some(last)
                if last.is_vertical == rule.is_vertical
                    && (last.at - rule.at).abs() < 1.5
                    && rule.start - last.end < 3.0 =>
            {
                last.end = last.end.max(rule.end);
            }
            _ => out.push(rule),
        }
    }
    out
}

/// Merges coordinates less than three points apart, in order.
fn clusters(coordinates: impl Iterator<Item = f32>) -> Vec<f32> {
    let mut coordinates: Vec<f32> = coordinates.collect();
    coordinates.sort_by(f32::total_cmp);
    coordinates.dedup_by(|next, previous| *next - *previous < 3.0);
    coordinates
}

/// The lines inside a frame, and the others.
fn inside(lines: Vec<Line>, [left, top, right, bottom]: [f32; 4]) -> (Vec<Line>, Vec<Line>) {
    lines.into_iter().partition(|line| {
        let (x, y) = (f32::midpoint(line.left, line.right), middle(line));
        line.direction == Direction::RIGHT
            && line.table.is_none()
            && x > left
            && x < right
            && y > top
            && y < bottom
    })
}

/// The height at which a line is.
fn middle(line: &Line) -> f32 {
    line.y - line.size * 0.3
}

/// Splits a line at the borders of cells.
fn cut(line: &Line, borders: &[f32], fonts: &Fonts<'_>) -> Vec<Line> {
    let crosses = |border: &f32| *border > line.left + 1.0 && *border < line.right - 1.0;
    if line.glyphs.len() < 2 || !borders.iter().any(crosses) {
        return vec![line.clone()];
    }
    let mut parts: Vec<Vec<Glyph>> = vec![Vec::new(); borders.len() + 1];
    for glyph in &line.glyphs {
        let x = glyph.x + glyph.width / 2.0;
        let number = borders.iter().filter(|border| x > **border).count();
        if let Some(part) = parts.get_mut(number) {
            part.push(*glyph);
        }
    }
    parts.iter().filter_map(|part| Line::part(part, line.order, fonts)).collect()
}

/// A line's parts between wide spaces.
fn pieces(line: &Line, fonts: &Fonts<'_>) -> Vec<Line> {
    let mut parts: Vec<Vec<Glyph>> = Vec::new();
    let mut end = f32::NEG_INFINITY;
    for glyph in &line.glyphs {
        if glyph.text.character().is_some_and(is_space) {
            continue;
        }
        match parts.last_mut() {
            Some(part) if glyph.x - end < line.size * COLUMN_GAP => part.push(*glyph),
            _ => parts.push(vec![*glyph]),
        }
        end = end.max(glyph.x + glyph.width);
    }
    if parts.len() < 2 {
        return vec![line.clone()];
    }
    // Drawn spaces are restored with the glyphs around them.
    let bounds: Vec<f32> = parts
        .windows(2)
        .filter_map(|pair| {
            let [left, right] = pair else { return None };
            let end =
                left.iter().map(|glyph| glyph.x + glyph.width).fold(f32::NEG_INFINITY, f32::max);
            Some(f32::midpoint(end, right.first()?.x))
        })
        .collect();
    cut(line, &bounds, fonts)
}

/// Left and right edge of each column: the union over all rows.
fn columns(rows: &[Vec<Line>]) -> Vec<(f32, f32)> {
    let mut covered: Vec<(f32, f32)> =
        rows.iter().flatten().map(|line| (line.left, line.right)).collect();
    covered.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut columns: Vec<(f32, f32)> = Vec::new();
    for (left, right) in covered {
        match columns.last_mut() {
            Some(last) if left < last.1 + 1.0 => last.1 = last.1.max(right),
            _ => columns.push((left, right)),
        }
    }
    columns
}

/// A table of cells; none if they do not look like one.
fn table(mut cells: Cells, header_rows: usize) -> Option<Table> {
    let width = cells.first()?.len();
    let is_used = |column: usize| {
        cells.iter().any(|row| row.get(column).is_some_and(|cell| !cell.is_empty()))
    };
    let used: Vec<bool> = (0..width).map(is_used).collect();
    for row in &mut cells {
        let mut used = used.iter();
        row.retain(|_| used.next().copied().unwrap_or(false));
    }
    let empty_heads =
        cells.iter().take(header_rows).filter(|row| row.iter().all(Vec::is_empty)).count();
    cells.retain(|row| !row.iter().all(Vec::is_empty));
    let is_bold = |row: Option<&Vec<Vec<Line>>>| {
        row.is_some_and(|row| row.iter().flatten().all(|line| line.bold))
    };
    let bold_head = is_bold(cells.first()) && !is_bold(cells.get(1));
    let words = Words::default();
    let rows: Vec<Vec<String>> = cells
        .iter_mut()
        .map(|row| {
            row.iter_mut()
                .map(|cell| {
                    cell.sort_by(|a, b| {
                        let is_beside = (a.y - b.y).abs() < a.size.min(b.size) * 0.4;
                        if is_beside { a.left.total_cmp(&b.left) } else { a.y.total_cmp(&b.y) }
                    });
                    words.join(cell.iter())
                })
                .collect()
        })
        .collect();
    let columns = rows.first()?.len();
    let lengths: Vec<usize> = rows
        .iter()
        .flatten()
        .map(|cell| cell.chars().count())
        .filter(|length| *length > 0)
        .collect();
    // A table whose rows have one cell each is a form or a frame.
    let beside = |row: &&Vec<String>| row.iter().filter(|cell| !cell.is_empty()).count() >= 2;
    let fits = rows.len() >= 2
        && columns >= 2
        && rows.iter().filter(beside).count() * 2 > rows.len()
        && rows.len() <= MOST
        && columns <= MOST
        && lengths.len() >= 4
        && lengths.len() * 5 >= rows.len() * columns * 2
        && lengths.iter().all(|length| *length <= LONGEST_CELL)
        && lengths.iter().sum::<usize>() <= LONGEST_MEAN * lengths.len();
    let header_rows = header_rows.saturating_sub(empty_heads).max(usize::from(bold_head)) as u64;
    fits.then_some(Table { rows, header_rows })
}

/// Lines by baseline.
fn by_baseline(mut lines: Vec<Line>) -> Vec<Vec<Line>> {
    lines.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut rows: Vec<Vec<Line>> = Vec::new();
    for line in lines {
        match rows.last_mut() {
            Some(row)
                if row
                    .first()
                    .is_some_and(|first| line.y - first.y < first.size.min(line.size) * 0.5) =>
            {
                row.push(line);
            }
            _ => rows.push(vec![line]),
        }
    }
    rows
}

/// Inserts a table among lines, where its first line was drawn.
fn insert(table: Table, frame: [f32; 4], first: &Line, lines: &mut Vec<Line>) {
    lines.push(Line::of_table(table, frame, first));
    lines.sort_by_key(|line| line.order);
}
