//! Tables without vertical lines: rules above and below the head and at the end, and columns that
//! no word crosses.

use super::{Cells, Table, by_baseline, columns, insert, inside, pieces, table};
use crate::font::Fonts;
use crate::interpret::Rule;
use crate::lines::Line;

/// The most pairs of rules of a page that are tried.
const MOST_TRIES: usize = 200;
/// The least width of such a table, in points.
const NARROWEST: f32 = 60.0;
/// The largest height of a head, in points, and its most lines.
const HIGHEST_HEAD: f32 = 80.0;
const MOST_HEAD: usize = 4;
/// The most characters of a cell on average.
const LONGEST_MEAN: usize = 40;

/// Replaces lines between rules of one width by tables.
pub(super) fn take(mut lines: Vec<Line>, across: &[Rule], fonts: &Fonts<'_>) -> Vec<Line> {
    let mut rules: Vec<Rule> =
        across.iter().copied().filter(|rule| rule.end - rule.start > NARROWEST).collect();
    rules.sort_by(|a, b| a.at.total_cmp(&b.at));
    if rules.len() > 300 {
        return lines;
    }
    let mut used = vec![false; rules.len()];
    let mut tries = 0;
    for first in 0..rules.len() {
        if used.get(first).copied().unwrap_or(true) {
            continue;
        }
        let Some(top) = rules.get(first) else { continue };
        let alike: Vec<usize> = (first..rules.len())
            .filter(|index| {
                rules.get(*index).is_some_and(|rule| {
                    (rule.start - top.start).abs() < 4.0 && (rule.end - top.end).abs() < 4.0
                })
            })
            .filter(|index| !used.get(*index).copied().unwrap_or(true))
            .collect();
        let ys: Vec<f32> = alike.iter().filter_map(|rule| Some(rules.get(*rule)?.at)).collect();
        // The longest table that starts here: notes below it may end with a rule of its width.
        let mut longest = alike.len().min(40);
        while longest >= 3 && tries < MOST_TRIES {
            tries += 1;
            let frame = [
                top.start - 3.0,
                top.at,
                top.end + 3.0,
                ys.get(longest - 1).copied().unwrap_or(top.at),
            ];
            let (own, rest) = inside(lines, frame);
            let found = ys.get(..longest).and_then(|ys| read(&own, ys, fonts));
            if let (Some(found), Some(start)) = (found, own.iter().min_by_key(|line| line.order)) {
                lines = rest;
                insert(found, frame, start, &mut lines);
                for rule in alike.iter().take(longest) {
                    if let Some(used) = used.get_mut(*rule) {
                        *used = true;
                    }
                }
                break;
            }
            lines = rest;
            lines.extend(own);
            lines.sort_by_key(|line| line.order);
            longest -= 1;
        }
    }
    lines
}

fn read(lines: &[Line], ys: &[f32], fonts: &Fonts<'_>) -> Option<Table> {
    let (top, head_end) = (ys.first()?, ys.get(1)?);
    if head_end - top > HIGHEST_HEAD || lines.len() > 4000 {
        return None;
    }
    let words: Vec<Line> = lines.iter().flat_map(|line| pieces(line, fonts)).collect();
    let (head, body): (Vec<Line>, Vec<Line>) =
        words.into_iter().partition(|line| super::middle(line) < *head_end);
    let (head, body) = (by_baseline(head), by_baseline(body));
    if head.is_empty() || head.len() > MOST_HEAD || body.len() < 2 {
        return None;
    }
    // Text in each part between two rules.
    let has_text = |pair: &[f32]| {
        let [above, below] = pair else { return true };
        head.iter().chain(&body).flatten().any(|line| {
            let y = super::middle(line);
            y > *above && y < *below
        })
    };
    if !ys.windows(2).all(|pair| has_text(pair) || close(pair)) {
        return None;
    }
    let columns = columns(&body);
    let count = columns.len();
    if count < 2 || count < 3 && body.len() < 3 {
        return None;
    }
    let mut cells: Cells = Vec::new();
    for row in head.iter().chain(&body) {
        let mut made = vec![Vec::new(); count];
        for piece in row {
            if let Some(cell) = made.get_mut(column_of(piece, &columns)) {
                cell.push(piece.clone());
            }
        }
        cells.push(made);
    }
    let filled = |row: &Vec<Vec<Line>>| row.iter().filter(|cell| !cell.is_empty()).count();
    let of_body = cells.get(head.len()..)?;
    let full: usize = of_body.iter().map(filled).sum();
    let lone = of_body.iter().filter(|row| filled(row) < 2).count();
    let length: usize =
        of_body.iter().flatten().flatten().map(|line| line.text.chars().count()).sum();
    let is_sure = full * 5 >= of_body.len() * count * 3
        && lone * 4 <= of_body.len()
        && length <= full * LONGEST_MEAN;
    if !is_sure {
        return None;
    }
    table(cells, head.len())
}

/// Whether two rules are a double one.
fn close(pair: &[f32]) -> bool {
    matches!(pair, [above, below] if below - above < 6.0)
}

/// The first column that a piece is over, or the nearest.
fn column_of(piece: &Line, columns: &[(f32, f32)]) -> usize {
    let over = columns.iter().position(|(left, right)| piece.left < *right && piece.right > *left);
    over.unwrap_or_else(|| {
        let distance = |(left, right): &(f32, f32)| (left - piece.right).max(piece.left - right);
        let nearest = columns.iter().enumerate();
        let nearest = nearest.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
        nearest.map_or(0, |(index, _)| index)
    })
}
