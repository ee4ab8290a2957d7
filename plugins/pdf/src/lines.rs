//! Groups glyphs on one baseline into lines, with their text in logical order.

use unicode_normalization::char::{compose, is_combining_mark};

use crate::bidi;
use crate::font::{Font, Fonts, Texts};
use crate::geometry::Direction;
use crate::interpret::Glyph;
use crate::tables::Table;

/// The gap between words, as a share of the em.
const WORD_GAP: f32 = 0.16;
/// The gap between words if spaces are also drawn, as a share of the em.
const WORD_GAP_BESIDE_SPACES: f32 = 0.22;
/// The largest gap between pieces of one line, in ems.
const LINE_GAP: f32 = 1.6;

/// A line of text, or a piece of one: a cell, a label.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) glyphs: Vec<Glyph>,
    pub(crate) direction: Direction,
    pub(crate) left: f32,
    pub(crate) right: f32,
    /// Baseline.
    pub(crate) y: f32,
    /// Size of most of its glyphs.
    pub(crate) size: f32,
    /// Font of most of its glyphs.
    pub(crate) font: u16,
    /// Whether all of it is bold.
    pub(crate) bold: bool,
    /// Position in the order of drawing.
    pub(crate) order: usize,
    pub(crate) text: String,
    /// Whether most of it runs from right to left.
    pub(crate) is_rtl: bool,
    /// Its depth below the baseline: for a table, which replaces a line.
    pub(crate) depth: f32,
    pub(crate) table: Option<Box<Table>>,
    /// The element of the structure tree that it belongs to; 0 for none.
    pub(crate) element: u32,
}

impl Line {
    fn new(glyph: Glyph, order: usize) -> Self {
        Self {
            direction: glyph.direction,
            left: glyph.x,
            right: glyph.x + glyph.width,
            y: glyph.y,
            size: glyph.size,
            font: glyph.font,
            bold: false,
            order,
            text: String::new(),
            is_rtl: false,
            depth: 0.0,
            table: None,
            element: glyph.element,
            glyphs: vec![glyph],
        }
    }

    /// A line from some glyphs of a line; none if they are blank.
    pub(crate) fn part(glyphs: &[Glyph], order: usize, fonts: &Fonts<'_>) -> Option<Self> {
        let is_blank = |glyph: &&Glyph| glyph.text.character().is_some_and(is_space);
        let mut glyphs = glyphs.iter().skip_while(is_blank);
        let mut line = Self::new(*glyphs.next()?, order);
        for glyph in glyphs {
            line.add(*glyph);
        }
        line.finish(&fonts.texts);
        line.bold = line.is_bold(&fonts.all);
        Some(line).filter(|line| !line.text.is_empty())
    }

    /// A table that replaces the lines that it was made from.
    pub(crate) fn of_table(
        table: Table,
        [left, top, right, bottom]: [f32; 4],
        like: &Self,
    ) -> Self {
        let cells = table.rows.iter().flatten().filter(|cell| !cell.is_empty());
        Self {
            text: cells.map(String::as_str).collect::<Vec<_>>().join(" "),
            left,
            right,
            y: top + like.size * 0.8,
            depth: (bottom - top - like.size * 1.02).max(0.0),
            bold: false,
            table: Some(Box::new(table)),
            element: 0,
            glyphs: Vec::new(),
            ..like.clone()
        }
    }

    fn add(&mut self, glyph: Glyph) {
        self.left = self.left.min(glyph.x);
        self.right = self.right.max(glyph.x + glyph.width);
        // The baseline is that of the larger glyphs, not of a script or a raised mark.
        if glyph.size > self.size * 1.15 {
            (self.y, self.size) = (glyph.y, glyph.size);
        }
        self.glyphs.push(glyph);
    }

    fn is_bold(&self, fonts: &[Font<'_>]) -> bool {
        let share = |bold: bool| -> f32 {
            let glyphs = self.glyphs.iter();
            let of = glyphs.filter(|glyph| {
                fonts.get(usize::from(glyph.font)).is_some_and(|font| font.bold) == bold
            });
            of.map(|glyph| glyph.width).sum()
        };
        share(true) > share(false) * 12.0
    }

    /// Whether it starts with a raised mark, as a note does.
    pub(crate) fn is_note(&self) -> bool {
        self.glyphs.first().is_some_and(|glyph| {
            glyph.size < self.size * 0.9
                && glyph.y < self.y - self.size * 0.1
                && glyph.text.character().is_some_and(|c| {
                    c.is_ascii_digit() || matches!(c, '*' | '†' | '‡' | '§' | '¶' | '∗')
                })
        })
    }

    pub(crate) fn top(&self) -> f32 {
        self.y - self.size * 0.8
    }

    pub(crate) fn bottom(&self) -> f32 {
        self.y + self.size * 0.22 + self.depth
    }

    pub(crate) fn width(&self) -> f32 {
        self.right - self.left
    }

    /// Whether a glyph that is drawn next belongs to the line.
    fn takes(&self, glyph: &Glyph) -> bool {
        if glyph.direction != self.direction || differ(glyph.element, self.element) {
            return false;
        }
        let size = self.size.max(glyph.size);
        let down = glyph.y - self.y;
        let ratio = glyph.size / self.size;
        let is_mark = glyph.text.character().is_some_and(is_combining_mark);
        let fits = if is_mark {
            down.abs() < size && glyph.x < self.right + size * 0.5
        } else if ratio < 0.85 {
            // A script, an index, a small capital.
            down > -0.75 * size && down < 0.4 * size
        } else if ratio > 1.18 {
            down < 0.75 * size && down > -0.4 * size
        } else {
            down.abs() < 0.22 * size
        };
        if !fits {
            return false;
        }
        if glyph.x > self.left && glyph.x < self.right - size * 0.3 && self.is_taken(glyph) {
            return false;
        }
        let gap = glyph.x - self.right;
        let before = self.left - (glyph.x + glyph.width);
        gap < LINE_GAP * size && before < LINE_GAP * size
    }

    /// Whether a letter overlaps a glyph: text over text, as in a field over its form.
    fn is_taken(&self, glyph: &Glyph) -> bool {
        let is_mark =
            |glyph: &Glyph| glyph.text.character().is_none_or(|c| mark(c).is_some() || is_space(c));
        if is_mark(glyph) {
            return false;
        }
        self.glyphs.iter().rev().take(400).any(|earlier| {
            let start = earlier.x.max(glyph.x);
            let end = (earlier.x + earlier.width).min(glyph.x + glyph.width);
            end - start > earlier.width.min(glyph.width) * 0.5
                && !is_mark(earlier)
                && earlier.text != glyph.text
        })
    }

    /// Whether a glyph is printed twice with a small offset, to look bold.
    fn has(&self, glyph: &Glyph) -> bool {
        let near = glyph.size * 0.2;
        self.glyphs.iter().rev().take(400).any(|earlier| {
            earlier.text == glyph.text
                && (earlier.x - glyph.x).abs() < near
                && (earlier.y - glyph.y).abs() < near
        })
    }
}

/// Whether two elements are known and not the same.
pub(crate) fn differ(a: u32, b: u32) -> bool {
    a != b && a != 0 && b != 0
}

/// Gathers a page's glyphs into lines, in the order of drawing.
pub(crate) fn gather(glyphs: &[Glyph], fonts: &Fonts<'_>) -> Vec<Line> {
    let texts = &fonts.texts;
    let mut lines: Vec<Line> = Vec::new();
    for (order, glyph) in glyphs.iter().enumerate() {
        let blank = glyph.text.character().is_some_and(is_space);
        match lines.last_mut() {
            Some(line) if line.takes(glyph) => {
                let is_back = glyph.x < line.right - glyph.size * 0.1;
                if !(is_back && line.has(glyph)) {
                    line.add(*glyph);
                }
            }
            _ if blank => {}
            _ => lines.push(Line::new(*glyph, order)),
        }
    }
    let mut lines = join(lines);
    for line in &mut lines {
        line.finish(texts);
        line.bold = line.is_bold(&fonts.all);
    }
    lines.retain(|line| !line.text.is_empty());
    lines
}

/// Joins pieces of one line that were drawn separately, and drops lines drawn twice.
fn join(mut lines: Vec<Line>) -> Vec<Line> {
    let mut by_position: Vec<usize> = (0..lines.len()).collect();
    by_position.sort_by(|a, b| {
        let key = |index: &usize| lines.get(*index).map(|line| (line.direction, line.y, line.left));
        key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut gone = vec![false; lines.len()];
    for (index, first) in by_position.iter().enumerate() {
        if gone.get(*first).copied().unwrap_or(true) {
            continue;
        }
        for second in by_position.iter().skip(index + 1).take(60) {
            let (Some(a), Some(b)) = (lines.get(*first), lines.get(*second)) else { continue };
            let size = a.size.min(b.size);
            if a.direction != b.direction || b.y - a.y > size * 0.12 {
                break;
            }
            if gone.get(*second).copied().unwrap_or(true)
                || differ(a.element, b.element)
                || a.size / b.size > 1.3
                || b.size / a.size > 1.3
            {
                continue;
            }
            let is_twice = (a.left - b.left).abs() < size * 0.2
                && (a.right - b.right).abs() < size * 0.2
                && a.glyphs.len() == b.glyphs.len()
                && a.glyphs.iter().zip(&b.glyphs).all(|(a, b)| a.text == b.text);
            let gap = (b.left - a.right).max(a.left - b.right);
            if !is_twice && !(-0.25 * size..0.33 * size).contains(&gap) {
                continue;
            }
            let Some(flag) = gone.get_mut(*second) else { continue };
            *flag = true;
            if is_twice {
                continue;
            }
            let taken = lines.get(*second).map(|line| (line.glyphs.clone(), line.order));
            if let (Some((glyphs, order)), Some(line)) = (taken, lines.get_mut(*first)) {
                line.order = line.order.min(order);
                for glyph in glyphs {
                    line.add(glyph);
                }
            }
        }
    }
    let mut gone = gone.into_iter();
    lines.retain(|_| !gone.next().unwrap_or(false));
    lines.sort_by_key(|line| line.order);
    lines
}

/// One glyph's characters, and whether a space precedes them.
struct Unit {
    text: String,
    space: bool,
}

impl Line {
    fn finish(&mut self, texts: &Texts) {
        let sorted = self.glyphs.is_sorted_by(|a, b| a.x <= b.x);
        if !sorted {
            self.glyphs.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        self.order_ligatures();
        self.measure();
        let units = self.units(texts);
        let (units, is_rtl) =
            bidi::logical(units.into_iter().map(|unit| (unit.text, unit.space)).collect());
        self.is_rtl = is_rtl;
        self.text = fold(&units);
    }

    /// Orders a lam and the alef that is drawn into it: the two form one ligature, so their
    /// positions do not give their order.
    fn order_ligatures(&mut self) {
        let is = |glyph: &Glyph, letters: &[char]| {
            glyph.text.character().is_some_and(|c| letters.contains(&c))
        };
        for index in 1..self.glyphs.len() {
            let (Some(lam), Some(alef)) = (self.glyphs.get(index - 1), self.glyphs.get(index))
            else {
                continue;
            };
            if !is(lam, &['ل']) || !is(alef, &['ا', 'أ', 'إ', 'آ', 'ٱ']) {
                continue;
            }
            let overlap = (lam.x + lam.width).min(alef.x + alef.width) - alef.x;
            let narrow = lam.width.min(alef.width);
            if alef.x - lam.x < lam.size * 0.08 || overlap > narrow * 0.5 {
                self.glyphs.swap(index - 1, index);
            }
        }
    }

    /// Finds the size and font that most glyphs have, and the baseline of those.
    fn measure(&mut self) {
        let mut sizes: Vec<(f32, u16, f32, f32)> = Vec::new();
        for glyph in &self.glyphs {
            let weight = glyph.width.max(0.1);
            match sizes.iter_mut().find(|(size, font, _, _)| {
                (size / glyph.size - 1.0).abs() < 0.02 && *font == glyph.font
            }) {
                Some((_, _, sum, _)) => *sum += weight,
                None => sizes.push((glyph.size, glyph.font, weight, glyph.y)),
            }
        }
        if let Some((size, font, _, y)) = sizes.iter().max_by(|a, b| a.2.total_cmp(&b.2)) {
            (self.size, self.font, self.y) = (*size, *font, *y);
        }
    }

    fn units(&self, texts: &Texts) -> Vec<Unit> {
        let blanks =
            self.glyphs.iter().filter(|glyph| glyph.text.character().is_some_and(is_space)).count();
        let spaced = blanks * 14 >= self.glyphs.len();
        let share = if spaced { WORD_GAP_BESIDE_SPACES } else { WORD_GAP };
        let mut units: Vec<Unit> = Vec::with_capacity(self.glyphs.len());
        let mut end: Option<f32> = None;
        let mut space = false;
        let mut previous: Option<&Glyph> = None;
        let mut marks = String::new();
        for (index, glyph) in self.glyphs.iter().enumerate() {
            if glyph.text.character().is_some_and(is_space) {
                space = true;
                continue;
            }
            let mut text = String::new();
            texts.push(glyph.text, &mut text);
            if glyph.text.character().is_some_and(is_combining_mark) {
                let mut behind = self.glyphs.get(index + 1..).unwrap_or_default().iter();
                let next = behind.find(|next| {
                    !next.text.character().is_some_and(|c| is_space(c) || is_combining_mark(c))
                });
                match (
                    previous.filter(|_| !belongs_to_next(glyph, previous, next)),
                    units.last_mut(),
                ) {
                    (Some(_), Some(last)) => last.text.push_str(&text),
                    _ => marks.push_str(&text),
                }
                continue;
            }
            // An accent that is drawn over a letter belongs to it.

            if let (Some(before), Some(last)) = (previous, units.last_mut())
                && let Some(composed) = overlay(before, glyph, &last.text, &text)
            {
                last.text = composed;
                end = end.map(|end| end.max(glyph.x + glyph.width));
                continue;
            }
            if let (Some(end), Some(before)) = (end, previous) {
                let gap = glyph.x - end;
                let size = before.size.min(glyph.size);
                let wide = text.chars().all(is_wide)
                    && units.last().is_some_and(|last| last.text.chars().all(is_wide));
                let limit = if wide { 0.6 } else { share };
                space |= gap > limit * size;
                if wide && gap < 0.3 * size {
                    space = false;
                }
            }
            text.push_str(&std::mem::take(&mut marks));
            units.push(Unit { text, space: space && end.is_some() });

            space = false;
            end = Some(end.map_or(glyph.x + glyph.width, |end| end.max(glyph.x + glyph.width)));
            previous = Some(glyph);
        }
        units
    }
}

/// Whether a mark is over the letter after it on the page, not over the one before.
fn belongs_to_next(mark: &Glyph, previous: Option<&Glyph>, next: Option<&Glyph>) -> bool {
    let middle = mark.x + mark.width / 2.0;
    let distance = |letter: Option<&Glyph>| {
        letter.map_or(f32::INFINITY, |letter| {
            (letter.x - middle).max(middle - letter.x - letter.width).max(0.0)
        })
    };
    let (before, behind) = (distance(previous), distance(next));
    let is_rtl = mark.text.character().is_some_and(bidi::is_rtl);
    if is_rtl { behind <= before } else { behind < before }
}

pub(crate) fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{200b}' | '\u{feff}')
}

/// Whether a character's script has no spaces between words.
pub(crate) fn is_wide(character: char) -> bool {
    matches!(character, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

/// The combining mark that a spacing accent stands for.
fn mark(accent: char) -> Option<char> {
    Some(match accent {
        '`' | 'ˋ' => '\u{300}',
        '´' | 'ˊ' => '\u{301}',
        '^' | 'ˆ' => '\u{302}',
        '~' | '˜' => '\u{303}',
        '¯' | 'ˉ' => '\u{304}',
        '˘' => '\u{306}',
        '˙' => '\u{307}',
        '¨' => '\u{308}',
        '˚' | '°' => '\u{30a}',
        '˝' => '\u{30b}',
        'ˇ' => '\u{30c}',
        '¸' => '\u{327}',
        '˛' => '\u{328}',
        mark if is_combining_mark(mark) => mark,
        _ => return None,
    })
}

/// A letter and an accent that lie over each other, composed.
fn overlay(before: &Glyph, glyph: &Glyph, last: &str, text: &str) -> Option<String> {
    let only = |text: &str| {
        let mut characters = text.chars();
        characters.next().filter(|_| characters.next().is_none())
    };
    let (start, end) =
        (before.x.max(glyph.x), (before.x + before.width).min(glyph.x + glyph.width));
    let narrow = before.width.min(glyph.width);
    if end - start < narrow * 0.5 || narrow <= 0.0 {
        return None;
    }
    let (first, second) = (only(last)?, only(text)?);
    let (letter, accent) =
        if let Some(mark) = mark(second) { (first, mark) } else { (second, mark(first)?) };
    let letter = match letter {
        'ı' => 'i',
        'ȷ' => 'j',
        letter => letter,
    };
    compose(letter, accent).map(String::from)
}

/// Joins ordered units to a text: ligatures and presentation forms become letters.
fn fold(units: &[(String, bool)]) -> String {
    let mut out = String::new();
    for (text, space) in units {
        if *space && !out.is_empty() {
            out.push(' ');
        }
        for character in text.chars() {
            push_folded(character, &mut out);
        }
    }
    out.trim().to_owned()
}

fn push_folded(character: char, out: &mut String) {
    match character {
        '\u{fb00}'..='\u{fb4f}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' => {
            unicode_normalization::char::decompose_compatible(character, |c| out.push(c));
        }
        '\u{ad}' => out.push('-'),
        '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => {}
        space if space.is_whitespace() => {
            if !out.ends_with(' ') {
                out.push(' ');
            }
        }
        control if control.is_control() => {}
        // A separate mark after a letter is composed with it.
        mark if is_combining_mark(mark) => {
            let composed = out.chars().next_back().and_then(|letter| compose(letter, mark));
            if let Some(composed) = composed {
                out.pop();
                out.push(composed);
            } else {
                out.push(mark);
            }
        }
        character => out.push(character),
    }
}
