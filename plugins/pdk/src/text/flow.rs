//! Builds a reader's text from pieces of text and tags.
//!
//! Used by both readers of markup: for XML documents, and the lenient one for strings with markup
//! ([`marked_up`](super::marked_up)). Element names are those of HTML, JATS and MathML, which do
//! not conflict, so namespaces are ignored.

use std::borrow::Cow;
use std::ops::Range;

use super::math::{self, Construct};
use super::{Script, decode_entities, present, write_script};

/// Pieces of one text, in reading order.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    text: String,
    /// An ampersand came from an entity, so what follows it may have been escaped twice.
    ampersand: bool,
    /// An angle bracket came from an entity, so tags may have been escaped twice.
    bracket: bool,
    open: Vec<Frame>,
    /// The position of the colon after the latest heading.
    colon: Option<usize>,
}

/// An open element.
#[derive(Debug)]
struct Frame {
    kind: Kind,
    /// Its start in the text.
    start: usize,
    /// The starts of its children, for elements whose children have different meanings.
    parts: Vec<usize>,
}

#[derive(Debug)]
enum Kind {
    Plain,
    /// A block, separated from the text before and after it.
    Block,
    /// A heading of the text after it.
    Heading,
    Script(Script),
    /// Not meant for readers.
    Hidden,
    /// TeX, possibly a whole document.
    Tex,
    /// Alternatives of one thing; the formula, if there is one.
    Alternatives(Option<Range<usize>>),
    /// A formula.
    Formula,
    /// A row and other grouping inside a formula.
    Group,
    /// A part of a formula that is itself text.
    Token,
    Construct(Construct),
}

impl Kind {
    fn of(local: &str) -> Self {
        if let Some(construct) = Construct::of(local) {
            return Self::Construct(construct);
        }
        match local {
            "sub" | "inf" => Self::Script(Script::Sub),
            "sup" => Self::Script(Script::Super),
            "label" | "term" | "def" | "p" | "br" | "break" | "hr" | "div" | "li" | "ul" | "ol"
            | "dl" | "dt" | "dd" | "list" | "list-item" | "def-list" | "def-item" | "sec"
            | "section" | "table" | "caption" | "tr" | "td" | "th" | "mtable" | "mtr" | "mtd"
            | "mspace" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "blockquote" | "disp-quote"
            | "disp-formula" | "DispFormula" => Self::Block,
            "title" => Self::Heading,
            "annotation" | "annotation-xml" | "mphantom" | "script" | "style" => Self::Hidden,
            "tex-math" => Self::Tex,
            "alternatives" => Self::Alternatives(None),
            "math" => Self::Formula,
            "mrow" | "mstyle" | "mpadded" | "menclose" | "merror" | "maction" | "semantics" => {
                Self::Group
            }
            "mi" | "mn" | "mo" | "mtext" | "ms" => Self::Token,
            // Data elements, which NLM writes with a capital, are separated: the parts of a
            // citation are words, not one word.
            other if other.starts_with(|first: char| first.is_ascii_uppercase()) => Self::Block,
            _ => Self::Plain,
        }
    }

    /// Whether whitespace between its children is insignificant.
    fn is_mathematical(&self) -> bool {
        matches!(self, Self::Formula | Self::Group | Self::Construct(_))
    }
}

impl Flow {
    /// Appends text.
    pub(crate) fn push(&mut self, text: &str) {
        let in_formula = self.open.last().is_some_and(|frame| frame.kind.is_mathematical());
        if !in_formula || !text.trim().is_empty() {
            self.text.push_str(text);
        }
    }

    /// Appends the character of the entity `name`.
    pub(crate) fn reference(&mut self, name: &str, character: char) {
        self.ampersand |= name == "amp" || character == '&';
        self.bracket |= character == '<';
        self.text.push(character);
    }

    /// Opens the element whose name without prefix is `local`.
    pub(crate) fn open(&mut self, local: &str) {
        let start = self.text.len();
        if let Some(Frame { kind: Kind::Construct(construct), parts, .. }) = self.open.last_mut() {
            if local == "mprescripts" {
                construct.prescripts_from(parts.len());
            } else {
                parts.push(start);
            }
        }
        let kind = Kind::of(local);
        if matches!(kind, Kind::Block | Kind::Heading) {
            self.text.push(' ');
        }
        self.open.push(Frame { kind, start, parts: Vec::new() });
    }

    /// Closes the innermost element.
    pub(crate) fn close(&mut self) {
        let Some(frame) = self.open.pop() else { return };
        let start = frame.start;
        match frame.kind {
            Kind::Plain | Kind::Group => {}
            Kind::Block => self.text.push(' '),
            Kind::Heading => self.close_heading(),
            Kind::Script(script) => {
                let content = self.text.split_off(start);
                let core = content.trim();
                let lead = content.len() - content.trim_start().len();
                // Spaces at the ends are not part of the script.
                self.text.push_str(&content[..lead]);
                write_script(script, core, &mut self.text);
                self.text.push_str(&content[lead + core.len()..]);
            }
            Kind::Hidden => self.text.truncate(start),
            Kind::Tex => self.replace_from(start, body_of_tex),
            Kind::Token => self.replace_from(start, str::trim),
            Kind::Formula => {
                let range = start..self.text.len();
                if let Some(Frame { kind: Kind::Alternatives(formula), .. }) = self.open.last_mut()
                {
                    *formula = Some(range);
                }
            }
            Kind::Alternatives(Some(formula)) => {
                let formula = self.text[formula].to_owned();
                if !formula.trim().is_empty() {
                    self.text.truncate(start);
                    self.text.push_str(&formula);
                }
            }
            Kind::Alternatives(None) => {}
            Kind::Construct(construct) => {
                let content = self.text.split_off(start);
                let parts: Vec<usize> = frame.parts.iter().map(|part| part - start).collect();
                math::write(&construct, &content, &parts, &mut self.text);
            }
        }
    }

    /// Drops the open elements from the `depth`th on without effect: an unclosed script has no end.
    pub(crate) fn abandon(&mut self, depth: usize) {
        self.open.truncate(depth);
    }

    /// Adds a colon to a heading on the line of its text, unless it ends with punctuation.
    fn close_heading(&mut self) {
        let end = self.text.trim_end().len();
        self.text.truncate(end);
        if self.text.chars().next_back().is_some_and(|last| last.is_alphanumeric() || last == ')') {
            self.colon = Some(end);
            self.text.push(':');
        }
        self.text.push(' ');
    }

    fn replace_from(&mut self, start: usize, choose: fn(&str) -> &str) {
        let content = self.text.split_off(start);
        self.text.push_str(choose(&content));
    }

    /// The text by the rules of [`text`](super); `None` when it is blank.
    pub(crate) fn finish(self) -> Option<String> {
        let (text, _) = self.into_text();
        let changed = match present(&text)? {
            // Nothing was collapsed or cut, so the text is not copied.
            Cow::Borrowed(same) if same.len() == text.len() => None,
            changed => Some(changed.into_owned()),
        };
        Some(changed.unwrap_or(text))
    }

    /// The text with its whitespace, and whether it may contain tags that upstream escaped twice.
    pub(crate) fn into_text(mut self) -> (String, bool) {
        // An empty heading is not a heading.
        if self.colon.is_some_and(|colon| self.text.trim_end().len() == colon + 1) {
            self.text.truncate(self.colon.unwrap_or_default());
        }
        if self.ampersand
            && let Cow::Owned(decoded) = decode_entities(&self.text)
        {
            return (decoded, true);
        }
        (self.text, self.bracket)
    }
}

/// The content of a TeX document: publishers wrap formulas into whole documents.
fn body_of_tex(tex: &str) -> &str {
    let body = tex.split_once("\\begin{document}").map_or(tex, |(_, body)| body);
    body.split_once("\\end{document}").map_or(body, |(body, _)| body).trim()
}
