//! The input: a stack of the e-print's files and of tokens that macros push back.

use crate::archive::File;
use crate::charset;
use crate::engine::Engine;
use crate::token::{Source, Token};

/// Where tokens come from.
#[derive(Debug)]
pub(crate) enum Input {
    File(Source),
    /// Tokens, the next one last.
    Tokens(Vec<Token>),
    /// The end of an argument that is read separately.
    Barrier,
}

/// The deepest nesting of files.
const MAX_OPEN: usize = 20;

impl<'f> Engine<'f> {
    pub(crate) fn decode(&mut self, file: &File) -> String {
        let own = charset::stated(&file.bytes);
        let stated = own.as_deref().or(self.charset.as_deref()).map(str::to_owned);
        let (text, unknown) = charset::decode(&file.bytes, stated.as_deref());
        if let Some(name) = unknown {
            let message = format!("the charset {name} is not known: read as Windows-1252");
            self.document.warn("unknown_charset", message, Some(file.path.clone()));
        }
        text
    }

    /// The next token, unexpanded; `None` at the end of the argument or document.
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
            // The rest of the previous list is usually short or empty.
            Some(Input::Tokens(waiting)) => waiting.append(&mut tokens),
            _ => self.stack.push(Input::Tokens(tokens)),
        }
    }

    /// How many files are open.
    pub(crate) fn files_open(&self) -> usize {
        self.stack.iter().filter(|input| matches!(input, Input::File(_))).count()
    }

    /// The file of the next token, if no pushed-back tokens precede it.
    pub(crate) fn source(&mut self) -> Option<&mut Source> {
        while matches!(self.stack.last(), Some(Input::Tokens(tokens)) if tokens.is_empty()) {
            self.stack.pop();
        }
        match self.stack.last_mut() {
            Some(Input::File(source)) => Some(source),
            _ => None,
        }
    }

    pub(crate) fn top_file(&mut self) -> Option<&mut Source> {
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

    /// `\end{document}`: in the main file, the end; in another, the end of that file.
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
    pub(crate) fn folder(&mut self) -> String {
        let path = self.top_file().map(|source| source.path.to_string()).unwrap_or_default();
        path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"))
    }

    /// Finds a file of the e-print by the name in the text.
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
                let path = resolve(&format!("{folder}{name}{ending}"));
                let same = |file: &&File| file.path == path;
                let close = |file: &&File| file.path.eq_ignore_ascii_case(&path);
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
}

/// The most files that one document includes.
const MAX_INPUTS: u32 = 2000;

/// A path without `.` and `..`.
pub(crate) fn resolve(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}
