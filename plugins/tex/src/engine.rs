//! The reader's loop: tokens in, text and blocks out.

use std::collections::HashMap;
use std::rc::Rc;

use carrel_pdk::document::{Block, Document, Kind, Section};

use crate::archive::File;
use crate::builder::{Frame, LINE, Open, flatten, lines, one_line};
use crate::inputs::Input;
use crate::macros::Macro;
use crate::people::People;
use crate::token::{Source, Token, written};
use crate::{charset, commands};

/// The deepest nesting of arguments; deeper ones are kept as raw text.
const DEEPEST: u32 = 10;

/// The deepest nesting of environments.
const MAX_FRAMES: usize = 24;
/// The number or heading that a label refers to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Anchor {
    pub(crate) kind: String,
    pub(crate) number: String,
}

/// A reference that is being read.
#[derive(Debug, Default)]
pub(crate) struct Cited {
    pub(crate) key: String,
    pub(crate) label: Option<String>,
    pub(crate) links: Vec<String>,
}

/// A document being read.
pub(crate) struct Engine<'f> {
    pub(crate) files: &'f [File],
    pub(crate) stack: Vec<Input>,
    pub(crate) macros: HashMap<Rc<str>, Rc<Macro>>,
    pub(crate) environments: HashMap<String, (Rc<Macro>, Rc<Macro>)>,
    pub(crate) flags: HashMap<String, bool>,
    pub(crate) steps: u64,
    pub(crate) expanded_tokens: usize,
    pub(crate) exhausted: bool,
    pub(crate) frames: Vec<Frame>,
    pub(crate) sections: Vec<Section>,
    pub(crate) document: Document,
    pub(crate) people: People,
    pub(crate) in_body: bool,
    pub(crate) done: bool,
    /// The main file begins a document and does not end it.
    pub(crate) cut: bool,
    depth: u32,
    pub(crate) inputs: u32,
    /// In authors' text, marks refer to affiliations.
    pub(crate) in_author: bool,
    pub(crate) counters: HashMap<String, u32>,
    pub(crate) heads: [u32; 8],
    pub(crate) appendix: bool,
    pub(crate) numbered_within: bool,
    pub(crate) theorems: HashMap<String, (String, String)>,
    pub(crate) labels: HashMap<String, Anchor>,
    pub(crate) anchor: Anchor,
    pub(crate) cited: Vec<String>,
    pub(crate) cites_all: bool,
    pub(crate) bibliographies: Vec<String>,
    pub(crate) citing: Option<Cited>,
    pub(crate) abstracts: Vec<Vec<Block>>,
    /// Entries of databases, of which the cited ones are taken at the end.
    pub(crate) pending: Vec<crate::bib::Entry>,
    pub(crate) reference_index: HashMap<String, usize>,
    pub(crate) charset: Option<String>,
    pub(crate) main: Rc<str>,
}

impl<'f> Engine<'f> {
    pub(crate) fn new(files: &'f [File]) -> Self {
        Self {
            files,
            stack: Vec::new(),
            macros: HashMap::new(),
            environments: HashMap::new(),
            flags: HashMap::new(),
            steps: 0,
            expanded_tokens: 0,
            exhausted: false,
            frames: vec![Frame::new("", Open::Body)],
            sections: Vec::new(),
            document: Document::default(),
            people: People::default(),
            in_body: false,
            done: false,
            cut: false,
            depth: 0,
            inputs: 0,
            in_author: false,
            counters: HashMap::new(),
            heads: [0; 8],
            appendix: false,
            numbered_within: false,
            theorems: HashMap::new(),
            labels: HashMap::new(),
            anchor: Anchor::default(),
            cited: Vec::new(),
            cites_all: false,
            bibliographies: Vec::new(),
            citing: None,
            abstracts: Vec::new(),
            pending: Vec::new(),
            reference_index: HashMap::new(),
            charset: None,
            main: "".into(),
        }
    }

    /// Reads the main file and everything that it includes.
    pub(crate) fn read_main(&mut self, main: &File) {
        self.charset = charset::stated(&main.bytes);
        let text = self.decode(main);
        let began = text.contains("\\begin{document}");
        self.in_body = !began;
        self.main = main.path.as_str().into();
        self.stack.push(Input::File(Source::new(text, &main.path)));
        self.run();
        self.cut = began && !self.done;
        self.close_frames(1);
        self.flush();
    }

    pub(crate) fn warn(&mut self, code: &str, message: &str) {
        let location = self.stack.iter().rev().find_map(|input| match input {
            Input::File(source) => Some(source.path.to_string()),
            _ => None,
        });
        self.document.warn(code, message, location);
    }

    /// The frame that is open.
    pub(crate) fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::new("", Open::Body));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Whether text counts: not in the preamble.
    pub(crate) fn speaks(&self) -> bool {
        (self.in_body || self.depth > 0) && !self.in_style()
    }

    pub(crate) fn text(&mut self, text: &str) {
        if self.speaks() {
            self.frame().push(text);
        }
    }

    fn character(&mut self, character: char) {
        if !self.speaks() {
            return;
        }
        let text = self.frame().text_mut();
        let swap = |text: &mut String, new: char| {
            text.pop();
            text.push(new);
        };
        match character {
            '-' if text.ends_with('-') => swap(text, '–'),
            '-' if text.ends_with('–') => swap(text, '—'),
            '`' if text.ends_with('‘') => swap(text, '“'),
            '`' if text.ends_with('?') => swap(text, '¿'),
            '`' if text.ends_with('!') => swap(text, '¡'),
            '`' => text.push('‘'),
            '\'' if text.ends_with('’') => swap(text, '”'),
            '\'' => text.push('’'),
            '~' => text.push(' '),
            other => text.push(other),
        }
    }

    /// Adds a block to the open frame.
    pub(crate) fn block(&mut self, block: Block) {
        if self.speaks() {
            self.frame().block(block);
        }
    }

    /// Opens an environment.
    pub(crate) fn open(&mut self, name: &str, open: Open) {
        if !self.speaks() || self.frames.len() >= MAX_FRAMES {
            return;
        }
        if !matches!(self.frame().open, Open::Table { .. }) {
            self.frame().end_paragraph();
        }
        self.frames.push(Frame::new(name, open));
    }

    /// Closes the environment of a name, and open frames inside it.
    pub(crate) fn close(&mut self, name: &str) {
        let base = self.base();
        let found = self.frames.iter().rposition(|frame| frame.name == name);
        if let Some(at) = found.filter(|&at| at > base) {
            self.close_frames(at);
        }
    }

    /// The frame of the argument that is read, below which nothing is closed.
    fn base(&self) -> usize {
        self.frames.iter().rposition(|frame| frame.name.is_empty()).unwrap_or(0)
    }

    /// Closes frames until `left` are open.
    pub(crate) fn close_frames(&mut self, left: usize) {
        while self.frames.len() > left.max(1) {
            let Some(frame) = self.frames.pop() else { return };
            let open_abstract = matches!(frame.open, Open::Abstract);
            let aside = match frame.open {
                Open::Aside(name) => Some(name),
                _ => None,
            };
            let blocks = frame.finish();
            if open_abstract {
                self.abstracts.push(blocks);
            } else if let Some(name) = aside {
                let mut text = String::new();
                flatten(blocks, &mut text, &mut Vec::new());
                self.aside(name, &text);
            } else {
                for block in blocks {
                    self.frame().block(block);
                }
            }
        }
    }

    /// Puts the blocks of the body into the section that is open.
    pub(crate) fn flush(&mut self) {
        let Some(body) = self.frames.first_mut() else { return };
        body.end_paragraph();
        let mut blocks = std::mem::take(&mut body.blocks);
        if blocks.is_empty() {
            return;
        }
        if self.sections.is_empty() {
            self.sections.push(Section { level: 2, ..Section::default() });
        }
        if let Some(last) = self.sections.last_mut() {
            last.blocks.append(&mut blocks);
        }
    }

    /// Reads tokens separately and returns their blocks.
    pub(crate) fn capture(&mut self, tokens: Vec<Token>) -> Vec<Block> {
        if tokens.is_empty() {
            return Vec::new();
        }
        if self.depth >= DEEPEST || self.frames.len() >= MAX_FRAMES {
            let text = lines(&written(&tokens).replace(['{', '}'], ""));
            return text.map(|text| Block::new(Kind::Paragraph, text)).into_iter().collect();
        }
        self.depth += 1;
        self.stack.push(Input::Barrier);
        self.push_tokens(tokens);
        self.frames.push(Frame::new("", Open::Body));
        let base = self.frames.len();
        self.run();
        self.close_frames(base);
        let frame = self.frames.pop();
        while let Some(input) = self.stack.pop() {
            if matches!(input, Input::Barrier) {
                break;
            }
        }
        self.depth -= 1;
        frame.map(Frame::finish).unwrap_or_default()
    }

    /// Reads tokens as text with its lines; notes and the like follow the paragraph that is open.
    pub(crate) fn capture_lines(&mut self, tokens: Vec<Token>) -> Option<String> {
        let blocks = self.capture(tokens);
        let mut text = String::new();
        let mut extra = Vec::new();
        flatten(blocks, &mut text, &mut extra);
        if self.speaks() {
            for block in extra {
                self.frame().note(block);
            }
        }
        lines(&text)
    }

    /// Reads an argument as text on one line.
    pub(crate) fn argument_text(&mut self) -> Option<String> {
        let tokens = self.argument();
        self.capture_lines(tokens).and_then(|text| one_line(&text))
    }

    /// An argument's raw text, with macros expanded: a key, a name, a number.
    pub(crate) fn argument_name(&mut self) -> String {
        let tokens = self.argument();
        written(&tokens)
    }

    /// Reads to the end of the argument or document.
    pub(crate) fn run(&mut self) {
        while let Some(token) = self.next() {
            match token {
                Token::Char(character) => self.character(character),
                Token::Space => self.text(" "),
                Token::Paragraph => {
                    if self.speaks() {
                        self.frame().end_paragraph();
                    }
                }
                Token::Open | Token::Close | Token::Parameter(_) => {}
                Token::Dollar => self.dollar(),
                Token::Align => {
                    if matches!(self.frame().open, Open::Table { .. }) {
                        self.frame().end_cell();
                    } else {
                        self.text(" ");
                    }
                }
                Token::Command(name) => self.command(&name),
            }
        }
    }

    #[inline(never)]
    fn command(&mut self, name: &Rc<str>) {
        if let Some(definition) = self.macros.get(name).cloned() {
            return self.expand(&definition);
        }
        if self.structure(name)
            || self.front(name)
            || self.cross_reference(name)
            || self.definition(name)
        {
            return;
        }
        if let Some(sign) = crate::signs::sign(name) {
            return self.text(sign);
        }
        if crate::signs::is_accent(name) {
            let tokens = self.argument();
            let base = match tokens.as_slice() {
                [Token::Char(letter)] => letter.to_string(),
                _ => self.capture_lines(tokens).unwrap_or_default(),
            };
            return self.text(&crate::signs::accented(name, &base));
        }
        if let Some(takes) = commands::arguments(name) {
            return self.take(takes);
        }
        if name.starts_with("if")
            && let Some(holds) = self.condition(name)
        {
            if !holds {
                self.skip_branch(true);
            }
            return;
        }
        self.unknown(name);
    }

    /// Skips the arguments that are not text.
    pub(crate) fn take(&mut self, takes: &str) {
        let mut text = Vec::new();
        let several = takes.trim_start_matches(['*', 'o', 'm']).len() > 1;
        for kind in takes.chars() {
            match kind {
                '*' => {
                    self.star();
                }
                'o' => while self.optional().is_some() {},
                'm' => {
                    self.argument();
                }
                _ if several => {
                    text = self.argument();
                    text.insert(0, Token::Open);
                    text.push(Token::Close);
                }
                _ => {}
            }
        }
        self.push_tokens(text);
    }

    /// An unknown command: skips its options and reads its arguments as text.
    fn unknown(&mut self, name: &str) {
        // A command of one sign has no arguments.
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return;
        }
        if let Some(tokens) = self.optional() {
            match self.next() {
                Some(Token::Open) => self.push_back(Token::Open),
                other => {
                    if let Some(token) = other {
                        self.push_back(token);
                    }
                    let mut whole = vec![Token::Char('[')];
                    whole.extend(tokens);
                    whole.push(Token::Char(']'));
                    self.push_tokens(whole);
                }
            }
        }
    }

    /// `$`: an inline formula; `$$`: a displayed one.
    #[inline(never)]
    fn dollar(&mut self) {
        let first = self.next();
        let display = first == Some(Token::Dollar);
        if !display && let Some(token) = first {
            self.push_back(token);
        }
        let mut out = Vec::new();
        let mut depth = 0_u32;
        while let Some(token) = self.next_expanded() {
            match token {
                Token::Open => depth += 1,
                Token::Close => depth = depth.saturating_sub(1),
                Token::Dollar if depth == 0 => {
                    if display {
                        match self.next() {
                            Some(Token::Dollar) | None => {}
                            Some(token) => self.push_back(token),
                        }
                    }
                    break;
                }
                Token::Paragraph if !display => {
                    // An unclosed dollar is a dollar sign.
                    self.push_back(Token::Paragraph);
                    self.text("$");
                    self.push_tokens(out);
                    return;
                }
                _ => {}
            }
            out.push(token);
            if out.len() > 200_000 {
                break;
            }
        }
        if display { self.equation("$$", out) } else { self.formula(&out) }
    }

    /// A formula in the text.
    pub(crate) fn formula(&mut self, tokens: &[Token]) {
        if self.in_author {
            return;
        }
        let tex = written(tokens);
        let tex = tex.trim();
        if !tex.is_empty() {
            self.text(&format!("${tex}$"));
        }
    }

    /// An explicit line break.
    pub(crate) fn line_end(&mut self) {
        self.star();
        self.optional();
        if matches!(self.frame().open, Open::Table { .. }) {
            self.frame().end_row();
        } else {
            self.text(&LINE.to_string());
        }
    }
}
