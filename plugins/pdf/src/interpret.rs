//! The text operators of a page: glyphs with their positions, in the order they are drawn.

mod annotations;
mod marks;
mod paths;

use std::collections::{HashMap, HashSet};

use hayro_syntax::content::UntypedIter;
use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream};
use hayro_syntax::page::{Page, Resources};

use crate::font::{Fonts, Text};
use crate::geometry::{Direction, Matrix};
use crate::stream;

use marks::Mark;
use paths::Path;
pub(crate) use paths::{Rule, dividing};

/// The most operators of one document: more than any book has.
pub(crate) const MOST_OPERATORS: u64 = 30_000_000;
/// The cost of opening a form, in operators.
const COST_OF_FORM: u64 = 500;
/// The most glyphs of one page.
const MOST_GLYPHS: usize = 1_000_000;
/// The deepest nesting of forms.
const DEEPEST: usize = 24;
/// The most saved graphics states.
const MOST_STATES: usize = 512;

/// A glyph on the page. `y` grows downwards; the page is turned as a reader sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Glyph {
    pub(crate) text: Text,
    /// Start of the glyph on its baseline, in the plane where its text is upright.
    pub(crate) x: f32,
    /// Baseline.
    pub(crate) y: f32,
    /// Advance.
    pub(crate) width: f32,
    /// Height of the em.
    pub(crate) size: f32,
    pub(crate) font: u16,
    pub(crate) direction: Direction,
    /// The element of the structure tree that it belongs to; 0 for none.
    pub(crate) element: u32,
}

/// The content of a page.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) glyphs: Vec<Glyph>,
    /// Lines that may separate the cells of tables.
    pub(crate) rules: Vec<Rule>,
    /// Glyphs without a known character.
    pub(crate) unknown: usize,
    /// Images that cover a substantial part of the page.
    pub(crate) image_area: f64,
    /// Width and height after rotation.
    pub(crate) width: f32,
    pub(crate) height: f32,
    /// The rest of the content was left out.
    pub(crate) cut: bool,
    /// Streams that could not be decoded.
    pub(crate) broken: usize,
}

#[derive(Clone)]
struct State {
    ctm: Matrix,
    font: Option<usize>,
    size: f64,
    character_space: f64,
    word_space: f64,
    scale: f64,
    leading: f64,
    rise: f64,
}

pub(crate) struct Interpreter<'f, 'a> {
    fonts: &'f mut Fonts<'a>,
    hidden: &'f HashSet<ObjectIdentifier>,
    operators: &'f mut u64,
    content: Content,
    state: State,
    saved: Vec<State>,
    path: Path,
    matrix: Matrix,
    line: Matrix,
    marks: Vec<Mark>,
    /// Elements of the page's marked contents.
    elements: Option<&'f HashMap<u32, u32>>,
    /// The element inside which the content is.
    element: u32,
    hiding: usize,
    replacing: usize,
}

/// Reads the text of a page.
pub(crate) fn page<'a>(
    page: &Page<'a>,
    fonts: &mut Fonts<'a>,
    hidden: &HashSet<ObjectIdentifier>,
    elements: Option<&HashMap<u32, u32>>,
    operators: &mut u64,
) -> Content {
    let transform = page.initial_transform(true).as_coeffs();
    let (width, height) = page.render_dimensions();
    let content = Content { width, height, ..Content::default() };
    let state = State {
        ctm: Matrix(transform),
        font: None,
        size: 0.0,
        character_space: 0.0,
        word_space: 0.0,
        scale: 1.0,
        leading: 0.0,
        rise: 0.0,
    };
    let mut interpreter = Interpreter {
        fonts,
        hidden,
        operators,
        content,
        state,
        saved: Vec::new(),
        path: Path::default(),
        matrix: Matrix::IDENTITY,
        line: Matrix::IDENTITY,
        marks: Vec::new(),
        elements,
        element: 0,
        hiding: 0,
        replacing: 0,
    };
    let data = interpreter.page_data(page);
    interpreter.run(&data, page.resources(), &mut Vec::new());
    interpreter.annotations(page);
    interpreter.content
}

impl<'a> Interpreter<'_, 'a> {
    fn page_data(&mut self, page: &Page<'a>) -> Vec<u8> {
        let dict = page.raw();
        let mut all = Vec::new();
        let mut add = |stream: Stream<'_>, broken: &mut usize| match stream::data(&stream) {
            Some(data) if all.len() + data.len() <= stream::LARGEST => {
                *broken += usize::from(data.is_empty() && stream.raw_data().len() > 16);
                all.extend_from_slice(&data);
                all.push(b'\n');
            }
            _ => *broken += 1,
        };
        let broken = &mut self.content.broken;
        if let Some(stream) = dict.get::<Stream<'_>>(b"Contents") {
            add(stream, broken);
        } else if let Some(streams) = dict.get::<Array<'_>>(b"Contents") {
            for stream in streams.iter::<Stream<'_>>() {
                add(stream, broken);
            }
        } else if dict.contains_key(b"Contents") {
            *broken += 1;
        }
        all
    }

    fn form(&mut self, form: &Stream<'a>, outer: &Resources<'a>, open: &mut Vec<ObjectIdentifier>) {
        let id = form.obj_id();
        *self.operators += COST_OF_FORM;
        if open.len() >= DEEPEST || open.contains(&id) {
            return;
        }
        let dict = form.dict();
        if self.is_off(dict.get_ref(b"OC").map(Into::into), dict.get::<Dict<'_>>(b"OC").as_ref()) {
            return;
        }
        let Some(data) = stream::data(form) else {
            self.content.broken += 1;
            return;
        };
        let resources = dict.get::<Dict<'a>>(b"Resources").map(Resources::new);
        let resources = resources.as_ref().unwrap_or(outer);
        let state = self.state.clone();
        let (matrix, line) = (self.matrix, self.line);
        if let Some(form_matrix) = dict.get::<[f64; 6]>(b"Matrix") {
            self.state.ctm = Matrix(form_matrix).then(&self.state.ctm);
        }
        let saved = std::mem::take(&mut self.saved);
        open.push(id);
        // Marks of a form are numbered by themselves.
        let elements = self.elements.take();
        self.run(&data, resources, open);
        self.elements = elements;
        open.pop();
        self.saved = saved;
        self.state = state;
        (self.matrix, self.line) = (matrix, line);
    }

    fn run(&mut self, data: &[u8], resources: &Resources<'a>, open: &mut Vec<ObjectIdentifier>) {
        let depth_of_marks = self.marks.len();
        let mut iter = UntypedIter::new(data);
        while let Some(instruction) = iter.next() {
            *self.operators += 1;
            if *self.operators > MOST_OPERATORS || self.content.glyphs.len() > MOST_GLYPHS {
                self.content.cut = true;
                break;
            }
            let operator: &[u8] = instruction.operator;
            match operator {
                b"q" if self.saved.len() < MOST_STATES => self.saved.push(self.state.clone()),
                b"Q" => {
                    if let Some(state) = self.saved.pop() {
                        self.state = state;
                    }
                }
                b"cm" => {
                    if let Some(matrix) = matrix_of(instruction.operands()) {
                        self.state.ctm = matrix.then(&self.state.ctm);
                    }
                }
                b"BT" => (self.matrix, self.line) = (Matrix::IDENTITY, Matrix::IDENTITY),
                b"Tm" => {
                    if let Some(matrix) = matrix_of(instruction.operands()) {
                        (self.matrix, self.line) = (matrix, matrix);
                    }
                }
                b"Td" | b"TD" => {
                    let [x, y] = numbers(instruction.operands());
                    if operator == b"TD" {
                        self.state.leading = -y;
                    }
                    self.next_line(x, y);
                }
                b"T*" => self.next_line(0.0, -self.state.leading),
                b"Tf" => {
                    let mut operands = instruction.operands();
                    if let Some(Object::Name(name)) = operands.next() {
                        self.state.font = self.fonts.named(&resources.fonts, name);
                    }
                    [self.state.size] = numbers(operands);
                }
                b"Tc" => [self.state.character_space] = numbers(instruction.operands()),
                b"Tw" => [self.state.word_space] = numbers(instruction.operands()),
                b"Tz" => {
                    let [percent] = numbers(instruction.operands());
                    self.state.scale = percent / 100.0;
                }
                b"TL" => [self.state.leading] = numbers(instruction.operands()),
                b"Ts" => [self.state.rise] = numbers(instruction.operands()),

                b"Tj" => self.show_all(instruction.operands()),
                b"'" => {
                    self.next_line(0.0, -self.state.leading);
                    self.show_all(instruction.operands());
                }
                b"\"" => {
                    let mut operands = instruction.operands();
                    [self.state.word_space, self.state.character_space] =
                        numbers(operands.by_ref().take(2));
                    self.next_line(0.0, -self.state.leading);
                    self.show_all(operands);
                }
                b"TJ" => {
                    if let Some(Object::Array(items)) = instruction.operands().next() {
                        for item in items.iter::<Object<'_>>() {
                            match item {
                                Object::String(text) => self.show(text.as_bytes()),
                                Object::Number(number) => self.adjust(number.as_f64()),
                                _ => {}
                            }
                        }
                    }
                }
                b"gs" => {
                    if let Some(Object::Name(name)) = instruction.operands().next() {
                        self.graphics_state(resources, name);
                    }
                }
                b"Do" => {
                    if let Some(Object::Name(name)) = instruction.operands().next()
                        && self.hiding == 0
                        && let Some(object) = resources.get_x_object(name)
                    {
                        self.object(&object, resources, open);
                    }
                }
                b"BI" => self.image(),
                b"BDC" => {
                    let mut operands = instruction.operands();
                    let tag = operands.next();
                    self.begin_mark(tag, operands.next(), resources);
                }
                b"BMC" => self.marks.push(Mark { element: self.element, ..Mark::default() }),
                b"EMC" => self.end_mark(depth_of_marks),
                b"m" | b"l" | b"c" | b"v" | b"y" | b"re" | b"h" | b"S" | b"s" | b"f" | b"F"
                | b"f*" | b"B" | b"B*" | b"b" | b"b*" | b"n" => {
                    self.follow(operator, instruction.operands());
                }
                _ => {}
            }
        }
        while self.marks.len() > depth_of_marks {
            self.end_mark(depth_of_marks);
        }
    }

    fn object(
        &mut self,
        object: &Stream<'a>,
        resources: &Resources<'a>,
        open: &mut Vec<ObjectIdentifier>,
    ) {
        let kind = object.dict().get::<Name<'_>>(b"Subtype");
        match kind.as_ref().map(|name| name.as_ref()) {
            Some(b"Image") => self.image(),
            Some(b"Form") => self.form(object, resources, open),
            None if object.dict().contains_key(b"BBox") => self.form(object, resources, open),
            _ => {}
        }
    }

    /// Counts an image's area, which is the unit square under the current matrix.
    fn image(&mut self) {
        let [a, b, c, d, ..] = self.state.ctm.0;
        let area = (a * d - b * c).abs();
        if area.is_finite() {
            self.content.image_area += area;
        }
    }

    fn graphics_state(&mut self, resources: &Resources<'a>, name: &Name<'_>) {
        let Some(state) = resources.get_ext_g_state(name) else { return };
        let Some(font) = state.get::<Array<'_>>(b"Font") else { return };
        let mut items = font.flex_iter();
        if let Some(dict) = items.next::<Dict<'a>>() {
            self.state.font = self.fonts.load(&dict);
            self.state.size = items.next::<f64>().unwrap_or(self.state.size);
        }
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.line = Matrix::translation(x, y).then(&self.line);
        self.matrix = self.line;
    }

    fn show_all<'b>(&mut self, operands: impl Iterator<Item = &'b Object<'b>>) {
        for operand in operands {
            if let Object::String(text) = operand {
                self.show(text.as_bytes());
            }
        }
    }

    fn adjust(&mut self, thousandths: f64) {
        let vertical = self.is_vertical();
        let by = -thousandths / 1000.0 * self.state.size;
        let (x, y) = if vertical { (0.0, by) } else { (by * self.state.scale, 0.0) };
        self.matrix = Matrix::translation(x, y).then(&self.matrix);
    }

    fn is_vertical(&self) -> bool {
        self.state.font.and_then(|font| self.fonts.all.get(font)).is_some_and(|font| font.vertical)
    }

    fn show(&mut self, bytes: &[u8]) {
        let Some(font) = self.state.font else { return };
        let State { size, scale, rise, .. } = self.state;
        let vertical = self.is_vertical();
        let em = self.fonts.all.get(font).map_or(1.0, |font| font.em);
        let mut at = 0;
        while at < bytes.len() {
            let Some((code, length, is_space)) = self.fonts.next(font, bytes, at) else { return };
            at += length;
            let space =
                self.state.character_space + if is_space { self.state.word_space } else { 0.0 };
            let width = f64::from(code.advance) * size;
            let (x, y) =
                if vertical { (0.0, width + space) } else { ((width + space) * scale, 0.0) };
            let whole =
                Matrix([1.0, 0.0, 0.0, 1.0, 0.0, rise]).then(&self.matrix).then(&self.state.ctm);
            let end = if vertical { (0.0, width) } else { (width * scale, 0.0) };
            if self.hiding == 0 && whole.is_finite() {
                self.add_glyph(code.text, &whole, end, vertical, em);
            }
            self.matrix = Matrix::translation(x, y).then(&self.matrix);
        }
    }

    /// Adds a glyph to the page: `end` is the end of its advance in text space.
    fn add_glyph(
        &mut self,
        text: Option<Text>,
        whole: &Matrix,
        end: (f64, f64),
        vertical: bool,
        em: f32,
    ) {
        let (x0, y0) = whole.apply(0.0, 0.0);
        let (x1, y1) = whole.apply(end.0, end.1);
        let [a, b, c, d, ..] = whole.0;
        let across = (c * c + d * d).sqrt();
        let along = (a * a + b * b).sqrt();
        // A font of almost no height: its size is taken along the line.
        let size = if across > along * 0.05 { across } else { along }
            * self.state.size.abs()
            * f64::from(em);
        let direction = if vertical {
            // Vertical writing: lines run down, and letters stand upright in them.
            Direction::of(-c * end.1.signum(), d * end.1)
        } else {
            let sign = if self.state.scale < 0.0 { -1.0 } else { 1.0 } * self.state.size.signum();
            Direction::of(a * sign, b * sign)
        };
        let (left, top) = (x0 as f32, y0 as f32);
        let margin = size as f32 + 2.0;
        let (width, height) = (self.content.width, self.content.height);
        let on_page =
            left > -margin && top > -margin && left < width + margin && top < height + margin;
        if !(on_page && size > 0.0 && size < 1e5) {
            return;
        }
        let Some(text) = text else {
            self.content.unknown += 1;
            return;
        };
        let direction = if vertical { Direction::of(x1 - x0, y1 - y0) } else { direction };
        let (x, y) = direction.upright(left, top);
        let (end_x, _) = direction.upright(x1 as f32, y1 as f32);
        let glyph = Glyph {
            text,
            x,
            y,
            width: (end_x - x).max(0.0),
            size: size as f32,
            font: u16::try_from(self.state.font.unwrap_or(0)).unwrap_or(u16::MAX),
            direction,
            element: self.element,
        };
        if self.replacing > 0 {
            for mark in &mut self.marks {
                let Some(replacement) = &mut mark.replacement else { continue };
                match &mut replacement.first {
                    Some(first) if first.direction == direction => {
                        let end = (first.x + first.width).max(glyph.x + glyph.width);
                        if (glyph.y - first.y).abs() < first.size * 0.5 {
                            first.x = first.x.min(glyph.x);
                            first.width = end - first.x;
                        }
                    }
                    Some(_) => {}
                    None => replacement.first = Some(glyph),
                }
            }
            return;
        }
        self.content.glyphs.push(glyph);
    }
}

fn numbers<'b, const N: usize>(operands: impl Iterator<Item = &'b Object<'b>>) -> [f64; N] {
    let mut found = [0.0; N];
    for (value, operand) in found.iter_mut().zip(operands) {
        if let Object::Number(number) = operand {
            *value = number.as_f64();
        }
    }
    found
}

fn matrix_of<'b>(operands: impl Iterator<Item = &'b Object<'b>>) -> Option<Matrix> {
    let matrix = Matrix(numbers(operands));
    matrix.is_finite().then_some(matrix)
}
