//! The reader's loop: tokens in, text and blocks out.

use std::collections::HashMap;
use std::rc::Rc;

use carrel_pdk::document::{Block, Document, Kind, Section};

use crate::archive::File;
use crate::builder::{Frame, LINE, Open, flatten, lines, one_line};
use crate::macros::Macro;
use crate::people::People;
use crate::token::{Source, Token, written};
use crate::{charset, commands};

/// Arguments that are read inside each other; deeper ones are text as it is.
const DEEPEST: u32 = 10;
/// Environments inside each other.
const MAX_FRAMES: usize = 24;
/// Files that are open inside each other.
const MAX_OPEN: usize = 20;
/// Files that one document takes in.
const MAX_INPUTS: u32 = 2000;

/// Where tokens come from.
#[derive(Debug)]
enum Input {
    File(Source),
    /// Tokens, the next one last.
    Tokens(Vec<Token>),
    /// The end of an argument that is read by itself.
    Barrier,
}

/// What a label names.
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
    files: &'f [File],
    stack: Vec<Input>,
    pub(crate) macros: HashMap<Rc<str>, Rc<Macro>>,
    pub(crate) environments: HashMap<String, (Rc<Macro>, Rc<Macro>)>,
    pub(crate) flags: HashMap<String, bool>,
    pub(crate) steps: u64,
    pub(crate) given: usize,
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
    inputs: u32,
    /// Marks in the text of authors mean something else.
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
    charset: Option<String>,
    main: Rc<str>,
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
            given: 0,
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

    /// Reads the main file and everything it takes in.
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

    fn decode(&mut self, file: &File) -> String {
        let own = charset::stated(&file.bytes);
        let stated = own.as_deref().or(self.charset.as_deref()).map(str::to_owned);
        let (text, unknown) = charset::decode(&file.bytes, stated.as_deref());
        if let Some(name) = unknown {
            let message = format!("the charset {name} is not known: read as Windows-1252");
            self.document.warn("unknown_charset", message, Some(file.path.clone()));
        }
        text
    }

    pub(crate) fn warn(&mut self, code: &str, message: &str) {
        let place = self.stack.iter().rev().find_map(|input| match input {
            Input::File(source) => Some(source.path.to_string()),
            _ => None,
        });
        self.document.warn(code, message, place);
    }

    /// The next token as it is; `None` at the end of the argument or document.
    pub(crate) fn next(&mut self) -> Option<Token> {
        loop {
            if self.done {
                return None;
            }
            match self.stack.last_mut()? {
                Input::Barrier => return None,
                Input::Tokens(tokens) => match tokens.pop() {
                    Some(token) => return Some(token),
                    None => {
                        self.stack.pop();
                    }
                },
                Input::File(source) => match source.next() {
                    Some(token) => return Some(token),
                    None => {
                        self.stack.pop();
                    }
                },
            }
        }
    }

    pub(crate) fn push_back(&mut self, token: Token) {
        match self.stack.last_mut() {
            Some(Input::Tokens(tokens)) => tokens.push(token),
            _ => self.stack.push(Input::Tokens(vec![token])),
        }
    }

    pub(crate) fn push_tokens(&mut self, mut tokens: Vec<Token>) {
        if tokens.is_empty() {
            return;
        }
        tokens.reverse();
        match self.stack.last_mut() {
            // What is left of the list before is short or empty mostly.
            Some(Input::Tokens(waiting)) => waiting.append(&mut tokens),
            _ => self.stack.push(Input::Tokens(tokens)),
        }
    }

    /// How many files are open.
    pub(crate) fn files_open(&self) -> usize {
        self.stack.iter().filter(|input| matches!(input, Input::File(_))).count()
    }

    /// The file that the next token comes from, when nothing is in front of it.
    pub(crate) fn source(&mut self) -> Option<&mut Source> {
        while matches!(self.stack.last(), Some(Input::Tokens(tokens)) if tokens.is_empty()) {
            self.stack.pop();
        }
        match self.stack.last_mut() {
            Some(Input::File(source)) => Some(source),
            _ => None,
        }
    }

    fn top_file(&mut self) -> Option<&mut Source> {
        self.stack.iter_mut().rev().find_map(|input| match input {
            Input::File(source) => Some(source),
            _ => None,
        })
    }

    /// Whether a style is being read.
    pub(crate) fn in_style(&self) -> bool {
        self.stack.iter().any(|input| matches!(input, Input::File(source) if source.style))
    }

    pub(crate) fn at_letter(&mut self, letter: bool) {
        if let Some(source) = self.top_file() {
            source.at_letter = letter;
        }
    }

    /// Ends the file that is open.
    pub(crate) fn end_input(&mut self) {
        if let Some(source) = self.top_file() {
            source.end();
        }
    }

    /// `\end{document}`: of the main file it is the end, of another the end of that file.
    pub(crate) fn end_document(&mut self) {
        let main = self.main.clone();
        match self.top_file() {
            Some(source) if source.path != main => source.end(),
            _ => self.done = true,
        }
    }

    /// The main file's path without its ending.
    pub(crate) fn main_stem(&self) -> String {
        self.main.rsplit_once('.').map_or(&*self.main, |(stem, _)| stem).to_owned()
    }

    /// The folder of the file that is open.
    fn folder(&mut self) -> String {
        let path = self.top_file().map(|source| source.path.to_string()).unwrap_or_default();
        path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"))
    }

    /// Finds a file of the e-print by the name that the text has for it.
    pub(crate) fn find(&mut self, name: &str, endings: &[&str]) -> Option<&'f File> {
        let name = name.trim().trim_matches('"').trim_start_matches("./");
        if name.is_empty() {
            return None;
        }
        let main = self.main.to_string();
        let main = main.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let folders = [self.folder(), main, String::new()];
        let files = self.files;
        for folder in &folders {
            for ending in endings {
                let wanted = resolve(&format!("{folder}{name}{ending}"));
                let same = |file: &&File| file.path == wanted;
                let close = |file: &&File| file.path.eq_ignore_ascii_case(&wanted);
                if let Some(found) = files.iter().find(same).or_else(|| files.iter().find(close)) {
                    return Some(found);
                }
            }
        }
        None
    }

    pub(crate) fn files(&self) -> &'f [File] {
        self.files
    }

    /// Reads a file here.
    pub(crate) fn input(&mut self, file: &'f File, style: bool) {
        let open = self.stack.iter().filter_map(|input| match input {
            Input::File(source) => Some(&source.path),
            _ => None,
        });
        let paths: Vec<_> = open.cloned().collect();
        if paths.iter().any(|path| **path == *file.path) {
            let message = format!("{} takes itself in: left out", file.path);
            return self.warn("input_loop", &message);
        }
        self.inputs += 1;
        if paths.len() >= MAX_OPEN || self.inputs > MAX_INPUTS {
            let message = format!("too many files inside each other: {} is left out", file.path);
            return self.warn("input_limit", &message);
        }
        let text = self.decode(file);
        let mut source = Source::new(text, &file.path);
        source.style = style;
        source.at_letter = style || file.path.ends_with(".bbl");
        self.stack.push(Input::File(source));
    }

    /// The text of a file of the e-print.
    pub(crate) fn text_of(&mut self, file: &File) -> String {
        self.decode(file)
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

    /// Adds a block to what is open.
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

    /// Closes the environment of a name, and what is left open in it.
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

    /// Reads tokens by themselves, as the blocks that they give.
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

    /// An argument as it is written, macros aside: a key, a name, a number.
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

    /// Passes over the arguments that are no text.
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

    /// A command that nobody knows: its options go, its arguments are text.
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

    /// `$`: a formula in the text, or between two of them one of its own.
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
                            Some(other) => self.push_back(other),
                        }
                    }
                    break;
                }
                Token::Paragraph if !display => {
                    // A dollar that is never closed is a dollar.
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

    /// A line's end that the author wrote.
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

/// A path without `.` and `..`.
fn resolve(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
