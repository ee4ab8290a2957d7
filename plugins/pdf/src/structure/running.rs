//! Finds repeated headers, footers and page numbers.

use std::collections::{HashMap, HashSet};

use crate::geometry::Direction;
use crate::open::PageText;
use crate::prose;

/// The share of the page's height for headers and footers.
const MARGIN: f32 = 0.13;

/// Removes headers, footers and page numbers that repeat, and gives the texts of those with words.
pub(super) fn drop_running(pages: &mut [PageText]) -> Vec<String> {
    if pages.len() < 2 {
        return Vec::new();
    }
    let mut seen: HashMap<(String, bool), HashSet<u64>> = HashMap::new();
    for page in pages.iter() {
        for (pattern, is_top) in
            margins(page).into_iter().map(|(_, _, pattern, is_top)| (pattern, is_top))
        {
            seen.entry((pattern, is_top)).or_default().insert(page.number);
        }
    }
    let count = pages.len();
    let needed = if count <= 3 { 2 } else { 3.max(count / 8) };
    let mut texts: Vec<String> = Vec::new();
    for page in pages.iter_mut() {
        let repeated: Vec<(usize, usize)> = margins(page)
            .into_iter()
            .filter(|(_, _, pattern, is_top)| {
                let pages = seen.get(&(pattern.clone(), *is_top)).map_or(0, HashSet::len);
                // A bare number is a page number; words must repeat.
                pages >= needed && (count > 2 || pattern.trim() == "#")
            })
            .map(|(block, line, _, _)| (block, line))
            .collect();
        // A page that would lose nearly all of its text consists of repeated content, not of
        // headers.
        let length = |positions: &mut dyn Iterator<Item = (usize, usize)>| -> usize {
            positions
                .filter_map(|(block, line)| page.blocks.get(block)?.lines.get(line))
                .map(|line| line.text.len())
                .sum()
        };
        let gone = length(&mut repeated.iter().copied());
        let all: usize =
            page.blocks.iter().flat_map(|block| &block.lines).map(|line| line.text.len()).sum();
        if gone * 2 > all {
            continue;
        }
        for (block, line) in repeated.into_iter().rev() {
            let Some(found) = page.blocks.get_mut(block) else { continue };
            if line < found.lines.len() {
                let gone = found.lines.remove(line);
                let has_words = gone.text.chars().filter(|c| c.is_alphabetic()).count() > 3;
                let is_new =
                    !texts.iter().any(|text| prose::pattern(text) == prose::pattern(&gone.text));
                if has_words && is_new && texts.len() < 20 {
                    texts.push(gone.text);
                }
            }
        }
        page.blocks.retain(|block| !block.lines.is_empty());
    }
    texts
}

/// Lines at the top and the bottom of a page: block, line, pattern, whether at the top.
fn margins(page: &PageText) -> Vec<(usize, usize, String, bool)> {
    let mut out = Vec::new();
    let (top, bottom) = (page.height * MARGIN, page.height * (1.0 - MARGIN));
    for (block_index, block) in page.blocks.iter().enumerate() {
        if block.direction != Direction::RIGHT {
            continue;
        }
        for (line_index, line) in block.lines.iter().enumerate() {
            let is_top = line.y < top;
            if (is_top || line.y > bottom) && line.text.chars().count() < 160 {
                out.push((block_index, line_index, prose::pattern(&line.text), is_top));
            }
        }
    }
    // Only the outermost lines of each margin: a continued table repeats the same words in the same
    // place.
    for is_top in [true, false] {
        let y = |entry: &(usize, usize, String, bool)| {
            let line = page.blocks.get(entry.0).and_then(|block| block.lines.get(entry.1));
            line.map_or(0.0, |line| line.y)
        };
        let mut rows: Vec<f32> = out.iter().filter(|entry| entry.3 == is_top).map(y).collect();
        rows.sort_by(|a, b| if is_top { a.total_cmp(b) } else { b.total_cmp(a) });
        rows.dedup_by(|a, b| (*a - *b).abs() < 3.0);
        let limit = rows.get(2).or(rows.last()).copied();
        out.retain(|entry| {
            let Some(limit) = limit else { return true };
            entry.3 != is_top
                || if is_top { y(entry) <= limit + 3.0 } else { y(entry) >= limit - 3.0 }
        });
    }
    out
}
