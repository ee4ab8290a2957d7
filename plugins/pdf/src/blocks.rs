//! Groups lines into blocks (paragraphs, headings, captions), in reading order.

use crate::font::Font;
use crate::geometry::Direction;
use crate::lines::Line;
use crate::tables::Table;
use crate::{order, prose, structure};

/// Lines that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) lines: Vec<Line>,
    pub(crate) direction: Direction,
    pub(crate) left: f32,
    pub(crate) right: f32,
    pub(crate) top: f32,
    pub(crate) bottom: f32,
    pub(crate) size: f32,
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) font: u16,
}

impl Block {
    fn new(line: Line, fonts: &[Font<'_>]) -> Self {
        let font = fonts.get(usize::from(line.font));
        Self {
            direction: line.direction,
            left: line.left,
            right: line.right,
            top: line.top(),
            bottom: line.bottom(),
            size: line.size,
            bold: line.bold,
            italic: font.is_some_and(|font| font.italic),
            font: line.font,
            lines: vec![line],
        }
    }

    pub(crate) fn add(&mut self, line: Line) {
        self.left = self.left.min(line.left);
        self.right = self.right.max(line.right);
        self.top = self.top.min(line.top());
        self.bottom = self.bottom.max(line.bottom());
        self.lines.push(line);
    }

    pub(crate) fn width(&self) -> f32 {
        self.right - self.left
    }

    /// The table that the block is.
    pub(crate) fn table(&self) -> Option<&Table> {
        self.lines.first()?.table.as_deref()
    }

    fn last(&self) -> Option<&Line> {
        self.lines.last()
    }

    /// Whether the next line is part of the block.
    fn takes(&self, line: &Line) -> bool {
        let Some(last) = self.last() else { return false };
        if line.direction != self.direction || line.table.is_some() || last.table.is_some() {
            return false;
        }
        // Reliable tags determine paragraphs.
        if line.element != 0 && last.element != 0 {
            return line.element == last.element;
        }
        let size = last.size.max(line.size);
        let down = line.y - last.y;
        // The next piece of the same line.
        if down.abs() < size * 0.3 {
            let gap = (line.left - last.right).max(last.left - line.right);
            return gap < size * 3.0
                || self.lines.len() == 1 && gap < size * 12.0 && line.size == last.size;
        }
        let ratio = line.size / last.size;
        let differs = line.bold != self.bold && last.text.chars().count() > 2;

        if !(0.86..1.16).contains(&ratio) || down < 0.0 || down > size * 1.75 {
            return false;
        }
        // A numbered heading in the text's size, above its paragraph.
        let is_heading = self.lines.len() == 1
            && (prose::numbered(&last.text).is_some() || structure::is_name_of_section(&last.text))
            && last.width() < line.width() * 0.9
            && ((last.left - line.left).abs() > size
                || last.font != line.font
                || structure::is_name_of_section(&last.text));
        if is_heading {
            return false;
        }
        if differs || line.is_note() || prose::bullet(&line.text).is_some() {
            return false;
        }

        let overlap = last.right.min(line.right).min(self.right) - self.left.max(line.left);
        if overlap < line.width().min(self.width()) * 0.3 {
            return false;
        }
        // Lines much further apart than those before.
        if let [.., before, _] = self.lines.as_slice() {
            let usual = last.y - before.y;
            if usual > size * 0.5 && down > usual * 1.25 {
                return false;
            }
        }
        !self.ends_before(line)
    }

    /// Whether a paragraph ends with the last line: the next one is indented, or the last one is short.
    fn ends_before(&self, line: &Line) -> bool {
        let Some(last) = self.last() else { return false };
        let size = last.size;
        let rtl = line.is_rtl;
        let (indent, short) = if rtl {
            (self.right - line.right, last.left - self.left)
        } else {
            (line.left - self.left, self.right - last.right)
        };
        let body = self.lines.len() > 1;
        let is_indented = indent > size * 0.8 && indent < size * 4.0;
        let last_indent = if rtl { self.right - last.right } else { last.left - self.left };
        // Centred lines and hanging indents do not start paragraphs.
        if body && is_indented && last_indent < size * 0.5 && short > -size {
            return short > size * 0.5 || ends_sentence(&last.text);
        }
        body && short > size * 3.0
            && short > self.width() * 0.12
            && ends_sentence(&last.text)
            && last_indent < size * 4.0
    }
}

fn ends_sentence(text: &str) -> bool {
    let end = text.trim_end_matches(['"', '”', '’', ')', ']', '\'']);
    end.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '؟', '۔'])
}

/// Makes blocks of a page's lines, in reading order.
pub(crate) fn gather(lines: Vec<Line>, fonts: &[Font<'_>]) -> Vec<Block> {
    let lines = if is_in_order(&lines) && !runs_across_columns(&lines) {
        lines
    } else {
        order::sorted(lines)
    };
    let mut blocks: Vec<Block> = Vec::new();
    for line in lines {
        match blocks.last_mut() {
            Some(block) if block.takes(&line) => block.add(line),
            _ => blocks.push(Block::new(line, fonts)),
        }
    }
    blocks
}

/// Whether lines are drawn row by row over columns of running text.
fn runs_across_columns(lines: &[Line]) -> bool {
    let across = lines.windows(2).filter(|pair| {
        let [first, second] = pair else { return false };
        let is_beside =
            (first.y - second.y).abs() < first.size * 0.3 && first.direction == second.direction;
        let gap = (second.left - first.right).max(first.left - second.right);
        is_beside && gap > first.size && first.width().min(second.width()) > first.size * 10.0
    });
    across.count() * 3 > lines.len() && lines.len() > 8 && order::has_columns(lines)
}

/// Whether the order of drawing can be the order of reading: within a column it goes down.
fn is_in_order(lines: &[Line]) -> bool {
    let mut jumps = 0;
    for pair in lines.windows(2) {
        let [first, second] = pair else { continue };
        if first.direction != second.direction {
            continue;
        }
        let up = first.y - second.y;
        let overlap = first.right.min(second.right) - first.left.max(second.left);
        let is_same_column = overlap > first.width().min(second.width()) * 0.5;
        let is_back = up.abs() < first.size * 0.3 && second.right < first.left && !second.is_rtl;
        if up > first.size * 1.2 && is_same_column || is_back {
            jumps += 1;
        }
    }
    jumps <= 2 || jumps * 12 <= lines.len()
}
