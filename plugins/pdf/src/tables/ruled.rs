//! Tables whose cells are divided by lines.

use super::{Cells, by_baseline, clusters, columns, cut, insert, inside, middle, pieces, table};
use crate::font::Fonts;
use crate::interpret::Rule;
use crate::lines::Line;

/// The most lines of a page, because all pairs are compared.
const MOST_PAIRS: usize = 250_000;
/// The most cells of one grid, and comparisons of lines with cell borders.
const MOST_CELLS: usize = 20_000;
const MOST_WORK: usize = 20_000_000;
/// The largest gap between touching lines, in points.
const SLACK: f32 = 2.5;

/// Replaces lines inside grids by tables.
pub(super) fn take(
    mut lines: Vec<Line>,
    across: &[Rule],
    down: &[Rule],
    fonts: &Fonts<'_>,
) -> Vec<Line> {
    if across.len() < 2 || down.is_empty() || across.len() * down.len() > MOST_PAIRS {
        return lines;
    }
    for (across, down) in groups(across, down) {
        let Some(mut grid) = Grid::of(across, down) else { continue };
        let (own, rest) = inside(lines, grid.frame());
        lines = match grid.read(&own, fonts) {
            Some(found) => {
                let mut rest = rest;
                if let Some(first) = own.iter().min_by_key(|line| line.order) {
                    insert(found, grid.frame(), first, &mut rest);
                }
                rest
            }
            None => {
                let mut all = rest;
                all.extend(own);
                all.sort_by_key(|line| line.order);
                all
            }
        };
    }
    lines
}

/// Groups lines that touch each other, directly or through others.
fn groups(across: &[Rule], down: &[Rule]) -> Vec<(Vec<Rule>, Vec<Rule>)> {
    let mut group: Vec<usize> = (0..across.len() + down.len()).collect();
    fn root(group: &mut [usize], mut of: usize) -> usize {
        while let Some(&above) = group.get(of).filter(|above| **above != of) {
            let top = group.get(above).copied().unwrap_or(above);
            if let Some(parent) = group.get_mut(of) {
                *parent = top;
            }
            of = top;
        }
        of
    }
    for (row, flat) in across.iter().enumerate() {
        for (column, upright) in down.iter().enumerate() {
            let meets = upright.at > flat.start - SLACK
                && upright.at < flat.end + SLACK
                && flat.at > upright.start - SLACK
                && flat.at < upright.end + SLACK;
            if meets {
                let (a, b) = (root(&mut group, row), root(&mut group, across.len() + column));
                if let Some(parent) = group.get_mut(a.max(b)) {
                    *parent = a.min(b);
                }
            }
        }
    }
    let mut found: Vec<(usize, Vec<Rule>, Vec<Rule>)> = Vec::new();
    let mut indices = std::collections::HashMap::new();
    for (number, rule) in across.iter().chain(down).enumerate() {
        let root = root(&mut group, number);
        let index = *indices.entry(root).or_insert_with(|| {
            found.push((root, Vec::new(), Vec::new()));
            found.len() - 1
        });
        if let Some((_, across, down)) = found.get_mut(index) {
            if rule.is_vertical { down.push(*rule) } else { across.push(*rule) }
        }
    }
    let found = found.into_iter().filter(|(_, across, down)| across.len() >= 2 && !down.is_empty());
    found.map(|(_, across, down)| (across, down)).take(100).collect()
}

/// The lines of one table, and the coordinates of its rows and columns.
struct Grid {
    across: Vec<Rule>,
    down: Vec<Rule>,
    xs: Vec<f32>,
    ys: Vec<f32>,
    /// Those of `xs` at which white space separates columns, not a line.
    soft: Vec<f32>,
}

impl Grid {
    fn of(across: Vec<Rule>, down: Vec<Rule>) -> Option<Self> {
        let ends = |rules: &[Rule]| {
            let start = rules.iter().map(|rule| rule.start).fold(f32::INFINITY, f32::min);
            let end = rules.iter().map(|rule| rule.end).fold(f32::NEG_INFINITY, f32::max);
            [start, end]
        };
        // Many tables have no lines at their left and right edges.
        let xs = clusters(down.iter().map(|rule| rule.at).chain(ends(&across)));
        let ys = clusters(across.iter().map(|rule| rule.at).chain(ends(&down)));
        let fits = (3..=super::MOST).contains(&xs.len()) && (2..=super::MOST).contains(&ys.len());
        fits.then_some(Self { across, down, xs, ys, soft: Vec::new() })
    }

    fn frame(&self) -> [f32; 4] {
        let end = |coordinates: &[f32]| coordinates.last().copied().unwrap_or_default();
        let start = |coordinates: &[f32]| coordinates.first().copied().unwrap_or_default();
        [start(&self.xs), start(&self.ys), end(&self.xs), end(&self.ys)]
    }

    /// Whether a line separates two columns at a height.
    fn has_wall(&self, x: f32, y: f32) -> bool {
        self.soft.contains(&x)
            || self
                .down
                .iter()
                .any(|rule| (rule.at - x).abs() < 3.0 && rule.start < y + 1.0 && rule.end > y - 1.0)
    }

    /// Whether a line separates two rows at a coordinate.
    fn has_floor(&self, y: f32, x: f32) -> bool {
        self.across
            .iter()
            .any(|rule| (rule.at - y).abs() < 3.0 && rule.start < x + 1.0 && rule.end > x - 1.0)
    }

    /// The cell of a text line: the first of cells without a border between them.
    fn cell_of(&self, line: &Line) -> (usize, usize) {
        let (x, y) = (line.left + line.size.min(line.width()) * 0.3, middle(line));
        let number = |coordinates: &[f32], at: f32| {
            let before = coordinates.iter().filter(|coordinate| **coordinate < at).count();
            before.saturating_sub(1).min(coordinates.len().saturating_sub(2))
        };
        let (mut row, mut column) = (number(&self.ys, y), number(&self.xs, x));
        while column > 0 && self.xs.get(column).is_some_and(|x| !self.has_wall(*x, y)) {
            column -= 1;
        }
        while row > 0 && self.ys.get(row).is_some_and(|y| !self.has_floor(*y, x)) {
            row -= 1;
        }
        (row, column)
    }

    /// Splits columns where all rows have white space at the same coordinate.
    fn divide(&mut self, lines: &[Line], fonts: &Fonts<'_>) {
        let mut found = Vec::new();
        for pair in self.xs.windows(2) {
            let [left, right] = pair else { continue };
            let own =
                lines.iter().filter(|line| line.left > left - 1.0 && line.right < right + 1.0);
            let own: Vec<Line> = own.flat_map(|line| pieces(line, fonts)).collect();
            let rows = by_baseline(own);
            let columns = columns(&rows);
            let full = rows.iter().filter(|row| row.len() == columns.len()).count();
            if columns.len() >= 2 && rows.len() >= 3 && full * 10 >= rows.len() * 7 {
                found.extend(columns.windows(2).filter_map(|pair| {
                    let [before, behind] = pair else { return None };
                    Some(f32::midpoint(before.1, behind.0))
                }));
            }
        }
        self.xs.extend(&found);
        self.xs.sort_by(f32::total_cmp);
        self.soft = found;
    }

    fn read(&mut self, lines: &[Line], fonts: &Fonts<'_>) -> Option<super::Table> {
        self.divide(lines, fonts);
        let (height, width) = (self.ys.len() - 1, self.xs.len() - 1);
        let work = lines.len() * self.xs.len() * self.down.len().max(self.across.len());
        if height * width > MOST_CELLS || lines.len() < 3 || work > MOST_WORK {
            return None;
        }
        let mut cells: Cells = vec![vec![Vec::new(); width]; height];
        for line in lines {
            let y = middle(line);
            let walls: Vec<f32> =
                self.xs.iter().copied().filter(|x| self.has_wall(*x, y)).collect();
            for part in cut(line, &walls, fonts) {
                let (row, column) = self.cell_of(&part);
                if let Some(cell) = cells.get_mut(row).and_then(|row| row.get_mut(column)) {
                    cell.push(part);
                }
            }
        }
        let few = height <= 3;
        let cells: Cells = cells.into_iter().flat_map(|row| apart(row, few)).collect();
        table(cells, 0)
    }
}

/// Splits a row between two lines: if all its columns have text on the same baselines, each
/// baseline is a row.
fn apart(row: Vec<Vec<Line>>, few: bool) -> Cells {
    let width = row.len();
    let filled = row.iter().filter(|cell| !cell.is_empty()).count();
    let tagged: Vec<Line> = row.iter().flatten().cloned().collect();
    let baselines = by_baseline(tagged);
    let column_of = |line: &Line| {
        row.iter().position(|cell| {
            cell.iter().any(|cell_line| {
                (cell_line.left - line.left).abs() < 0.01 && (cell_line.y - line.y).abs() < 0.01
            })
        })
    };
    let full = |lines: &Vec<Line>| {
        let mut columns: Vec<usize> = lines.iter().filter_map(column_of).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.len() >= 2 && columns.len() * 5 >= filled * 4
    };
    let enough = baselines.len() >= if few { 2 } else { 3 };
    if filled < 2
        || !enough
        || baselines.len() > super::MOST
        || row.iter().map(Vec::len).sum::<usize>() > 1000
        || !baselines.iter().all(full)
    {
        return vec![row];
    }
    baselines
        .iter()
        .map(|lines| {
            let mut cells = vec![Vec::new(); width];
            for line in lines {
                if let Some(cell) = column_of(line).and_then(|column| cells.get_mut(column)) {
                    cell.push(line.clone());
                }
            }
            cells
        })
        .collect()
}
