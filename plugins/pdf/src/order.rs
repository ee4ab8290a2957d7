//! Reading order by position, for pages that are not drawn in reading order: white space divides
//! them recursively (XY cut).

use std::collections::BTreeMap;

use crate::geometry::Direction;
use crate::lines::Line;

/// The deepest nesting of divisions.
const DEEPEST: usize = 40;

/// Lines in reading order.
pub(crate) fn sorted(lines: Vec<Line>) -> Vec<Line> {
    let mut out = Vec::with_capacity(lines.len());
    let mut groups: BTreeMap<Direction, Vec<Line>> = BTreeMap::new();
    for line in lines {
        groups.entry(line.direction).or_default().push(line);
    }
    let mut groups: Vec<Vec<Line>> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    for group in groups {
        let rtl = group.iter().filter(|line| line.is_rtl).count() * 2 > group.len();
        divide(group, rtl, 0, &mut out);
    }
    out
}

fn divide(mut lines: Vec<Line>, rtl: bool, depth: usize, out: &mut Vec<Line>) {
    if lines.len() <= 1 || depth >= DEEPEST {
        rows(lines, rtl, out);
        return;
    }
    // A gutter over the whole height divides columns; else the page is cut into bands first.
    if let Some(at) = gutter(&lines) {
        let (left, right): (Vec<Line>, Vec<Line>) =
            lines.into_iter().partition(|line| middle(line) < at);
        let (first, second) = if rtl { (right, left) } else { (left, right) };
        divide(first, rtl, depth + 1, out);
        divide(second, rtl, depth + 1, out);
        return;
    }
    lines.sort_by(|a, b| a.y.total_cmp(&b.y));
    if let Some(at) = band(&lines) {
        let rest = lines.split_off(at);
        divide(lines, rtl, depth + 1, out);
        divide(rest, rtl, depth + 1, out);
        return;
    }
    rows(lines, rtl, out);
}

fn middle(line: &Line) -> f32 {
    f32::midpoint(line.left, line.right)
}

/// Whether a gutter divides lines that are read one column after the other.
pub(crate) fn has_columns(lines: &[Line]) -> bool {
    let mut lines: Vec<&Line> = lines.iter().collect();
    // Titles and footers cross the gutter.
    lines.sort_by(|a, b| b.width().total_cmp(&a.width()));
    let widest = lines.len() / 10;
    let rest: Vec<Line> = lines.into_iter().skip(widest).cloned().collect();
    gutter(&rest).is_some()
}

/// A coordinate that no line crosses, with enough text on both sides to be columns.
fn gutter(lines: &[Line]) -> Option<f32> {
    if lines.len() < 6 {
        return None;
    }
    let mut by_left: Vec<&Line> = lines.iter().collect();
    by_left.sort_by(|a, b| a.left.total_cmp(&b.left));
    let size = median(lines.iter().map(|line| line.size))?;
    let mut right = f32::NEG_INFINITY;
    let mut best: Option<(f32, f32)> = None;
    for (count, line) in by_left.iter().enumerate() {
        let gap = line.left - right;
        let few = count < 3 || by_left.len() - count < 3;
        if right.is_finite()
            && gap > size * 0.7
            && !few
            && best.is_none_or(|(widest, _)| gap > widest)
        {
            let at = right + gap / 2.0;
            if is_columns(lines, at) {
                best = Some((gap, at));
            }
        }
        right = right.max(line.right);
    }
    best.map(|(_, at)| at)
}

/// Whether both sides of a coordinate are columns of text, not cells of rows.
fn is_columns(lines: &[Line], at: f32) -> bool {
    let wide = |side: &dyn Fn(&Line) -> bool| {
        let widths: Vec<f32> = lines.iter().filter(|line| side(line)).map(Line::width).collect();
        let size = median(lines.iter().map(|line| line.size)).unwrap_or(10.0);
        widths.iter().filter(|width| **width > size * 10.0).count() * 2 >= widths.len()
    };
    wide(&|line| middle(line) < at) && wide(&|line| middle(line) >= at)
}

/// The first line below the widest gap between lines, where a gap runs across.
fn band(lines: &[Line]) -> Option<usize> {
    let size = median(lines.iter().map(|line| line.size))?;
    let mut bottom = f32::NEG_INFINITY;
    let mut best: Option<(f32, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        let gap = line.top() - bottom;
        if index > 0 && gap > size * 0.15 && best.is_none_or(|(widest, _)| gap > widest) {
            best = Some((gap, index));
        }
        bottom = bottom.max(line.bottom());
    }
    best.map(|(_, index)| index)
}

/// Groups lines by baseline, from left to right.
fn rows(mut lines: Vec<Line>, rtl: bool, out: &mut Vec<Line>) {
    lines.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut row: Vec<Line> = Vec::new();
    let mut flush = |row: &mut Vec<Line>| {
        row.sort_by(|a, b| if rtl { b.left.total_cmp(&a.left) } else { a.left.total_cmp(&b.left) });
        out.append(row);
    };
    for line in lines {
        if row.first().is_some_and(|first| line.y - first.y > first.size.min(line.size) * 0.5) {
            flush(&mut row);
        }
        row.push(line);
    }
    flush(&mut row);
}

/// The median.
pub(crate) fn median(numbers: impl Iterator<Item = f32>) -> Option<f32> {
    let mut all: Vec<f32> = numbers.collect();
    all.sort_by(f32::total_cmp);
    all.get(all.len() / 2).copied()
}
