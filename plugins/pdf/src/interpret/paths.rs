//! Ruling lines: straight strokes and thin filled boxes along the page's edges.

use hayro_syntax::object::Object;

use super::{Interpreter, numbers};

/// The most ruling lines of one page; a page with more is a drawing, and its lines are ignored.
const MOST_RULES: usize = 4000;
/// The most segments of one path that are read.
const MOST_SEGMENTS: usize = 4000;
/// The largest thickness of a filled box that counts as a line, in points.
const THIN: f32 = 3.5;
/// The largest slant of a line.
const ASKEW: f32 = 1.0;
/// Shortest line.
const SHORTEST: f32 = 4.0;

/// A horizontal or vertical line on the page, as a reader sees it; `y` grows downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rule {
    pub(crate) is_vertical: bool,
    /// Its coordinate across its direction.
    pub(crate) at: f32,
    pub(crate) start: f32,
    pub(crate) end: f32,
}

impl Rule {
    /// The line between two points; none if it is short or slanted.
    fn between((x0, y0): (f32, f32), (x1, y1): (f32, f32)) -> Option<Self> {
        let (width, height) = ((x1 - x0).abs(), (y1 - y0).abs());
        let is_vertical = height > width;
        if width.min(height) > ASKEW || width.max(height) < SHORTEST {
            return None;
        }
        let (at, from, to) =
            if is_vertical { ((x0 + x1) / 2.0, y0, y1) } else { ((y0 + y1) / 2.0, x0, x1) };
        Some(Self { is_vertical, at, start: from.min(to), end: from.max(to) })
    }
}

/// The path under construction, in the page's plane.
#[derive(Debug, Default)]
pub(super) struct Path {
    segments: Vec<((f32, f32), (f32, f32))>,
    /// Bounds of each subpath: left, top, right, bottom.
    subpaths: Vec<[f32; 4]>,
    first: (f32, f32),
    last: (f32, f32),
}

impl Path {
    fn add(&mut self, to: (f32, f32)) {
        if self.segments.len() < MOST_SEGMENTS {
            self.segments.push((self.last, to));
        }
        self.reach(to);
    }

    fn reach(&mut self, (x, y): (f32, f32)) {
        self.last = (x, y);
        if let Some([left, top, right, bottom]) = self.subpaths.last_mut() {
            (*left, *right) = (left.min(x), right.max(x));
            (*top, *bottom) = (top.min(y), bottom.max(y));
        }
    }

    fn start(&mut self, (x, y): (f32, f32)) {
        (self.first, self.last) = ((x, y), (x, y));
        if self.subpaths.len() < MOST_SEGMENTS {
            self.subpaths.push([x, y, x, y]);
        }
    }

    fn close(&mut self) {
        if self.last != self.first {
            self.add(self.first);
        }
    }

    fn clear(&mut self) {
        self.segments.clear();
        self.subpaths.clear();
    }
}

impl Interpreter<'_, '_> {
    /// Follows an operator that makes or paints a path.
    pub(super) fn follow<'b>(
        &mut self,
        operator: &[u8],
        operands: impl Iterator<Item = &'b Object<'b>>,
    ) {
        match operator {
            b"m" => {
                let [x, y] = numbers(operands);
                let to = self.on_page(x, y);
                self.path.start(to);
            }
            b"l" => {
                let [x, y] = numbers(operands);
                let to = self.on_page(x, y);
                self.path.add(to);
            }
            b"c" => {
                let [.., x, y]: [f64; 6] = numbers(operands);
                let to = self.on_page(x, y);
                self.path.reach(to);
            }
            b"v" | b"y" => {
                let [.., x, y]: [f64; 4] = numbers(operands);
                let to = self.on_page(x, y);
                self.path.reach(to);
            }
            b"re" => {
                let [x, y, width, height] = numbers(operands);
                let corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)];
                let corners = corners.map(|(x, y)| self.on_page(x, y));
                self.path.start(corners[0]);
                for corner in corners.into_iter().skip(1) {
                    self.path.add(corner);
                }
                self.path.close();
            }
            b"h" => self.path.close(),
            b"S" => self.paint(true, false),
            b"s" => {
                self.path.close();
                self.paint(true, false);
            }
            b"f" | b"F" | b"f*" => self.paint(false, true),
            b"B" | b"B*" => self.paint(true, true),
            b"b" | b"b*" => {
                self.path.close();
                self.paint(true, true);
            }
            _ => self.path.clear(),
        }
    }

    fn on_page(&self, x: f64, y: f64) -> (f32, f32) {
        let (x, y) = self.state.ctm.apply(x, y);
        (x as f32, y as f32)
    }

    fn paint(&mut self, strokes: bool, fills: bool) {
        let path = std::mem::take(&mut self.path);
        if self.hiding == 0 {
            if strokes {
                for (from, to) in &path.segments {
                    self.content.rules.extend(Rule::between(*from, *to));
                }
            }
            for [left, top, right, bottom] in path.subpaths.iter().filter(|_| fills) {
                let (width, height) = (right - left, bottom - top);
                let middle = (f32::midpoint(*left, *right), f32::midpoint(*top, *bottom));
                let rule = if height <= THIN && width > height {
                    Rule::between((*left, middle.1), (*right, middle.1))
                } else if width <= THIN {
                    Rule::between((middle.0, *top), (middle.0, *bottom))
                } else {
                    None
                };
                self.content.rules.extend(rule);
            }
            // One more than the limit marks that there are too many.
            self.content.rules.truncate(MOST_RULES + 1);
        }
        self.path = path;
        self.path.clear();
    }
}

/// The lines of a page that may separate cells.
pub(crate) fn dividing(rules: &[Rule]) -> &[Rule] {
    if rules.len() > MOST_RULES { &[] } else { rules }
}
