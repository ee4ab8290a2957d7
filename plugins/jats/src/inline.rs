//! Mixed content → text: the content of a paragraph, a heading, a cell.

use carrel_pdk::text::{Script, collapse, write_script};
use carrel_pdk::xml::tree::{Node, Piece};

use crate::reader::Reader;

/// Marks a line's end until whitespace is collapsed.
const LINE: char = '\u{2028}';

/// A text builder.
#[derive(Debug, Default)]
pub(crate) struct Inline {
    text: String,
    /// The next word is separate, even without a space before it.
    apart: bool,
    /// Leave out marks of notes, which are not part of a title.
    title: bool,
}

/// The action at an element's end.
enum Close {
    Script(Script, usize),
    Link(String, usize),
    Line,
    Apart,
}

/// The text inside a node.
pub(crate) fn of(reader: &mut Reader<'_, '_>, node: Node) -> Option<String> {
    inside(reader, node, Inline::default(), &[])
}

/// The text inside a node, which is a title or heading.
pub(crate) fn of_title(reader: &mut Reader<'_, '_>, node: Node) -> Option<String> {
    let text = inside(reader, node, Inline { title: true, ..Inline::default() }, &[]);
    text.map(|text| text.replace('\n', " "))
}

/// The text inside a node without the children of some names.
pub(crate) fn without(reader: &mut Reader<'_, '_>, node: Node, names: &[&str]) -> Option<String> {
    inside(reader, node, Inline::default(), names)
}

fn inside(
    reader: &mut Reader<'_, '_>,
    node: Node,
    mut inline: Inline,
    except: &[&str],
) -> Option<String> {
    let tree = reader.tree;
    for child in tree.children(node) {
        if !except.contains(&tree.name(child)) {
            inline.push(reader, child);
        }
    }
    inline.finish()
}

impl Inline {
    /// Appends a node with everything inside it.
    pub(crate) fn push(&mut self, reader: &mut Reader<'_, '_>, node: Node) {
        let tree = reader.tree;
        let mut open: Vec<(Node, Close)> = Vec::new();
        let mut skipped: Option<Node> = None;
        for inner in std::iter::once(node).chain(tree.descendants(node)) {
            if skipped.is_some_and(|skipped| tree.contains(skipped, inner)) {
                continue;
            }
            while let Some((_, close)) = open.pop_if(|(outer, _)| !tree.contains(*outer, inner)) {
                self.close(reader, close);
            }
            match tree.piece(inner) {
                Piece::Text(text) => self.words(text),
                Piece::Character(character) => self.words(character.encode_utf8(&mut [0; 4])),
                Piece::Element(name) => match self.open(reader, inner, name) {
                    Open::Skip => skipped = Some(inner),
                    Open::Plain => {}
                    Open::Until(close) => open.push((inner, close)),
                },
            }
        }
        while let Some((_, close)) = open.pop() {
            self.close(reader, close);
        }
    }

    fn words(&mut self, text: &str) {
        if std::mem::take(&mut self.apart)
            && text.starts_with(char::is_alphanumeric)
            && self.text.ends_with(|last: char| last.is_alphanumeric() || last == '.')
        {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }

    fn open(&mut self, reader: &mut Reader<'_, '_>, node: Node, name: &str) -> Open {
        let start = self.text.len();
        match name {
            "sub" | "inf" => Open::Until(Close::Script(Script::Sub, start)),
            "sup" => Open::Until(Close::Script(Script::Super, start)),
            "hi" => match reader.tree.attribute(node, "rend").as_deref() {
                Some("subscript" | "sub") => Open::Until(Close::Script(Script::Sub, start)),
                Some("superscript" | "sup") => Open::Until(Close::Script(Script::Super, start)),
                _ => Open::Plain,
            },
            "break" | "br" | "hr" => {
                self.text.push(LINE);
                Open::Plain
            }
            // A printed line; a hyphen at its end may or may not belong to the word.
            "lb" | "cb" | "pb" => {
                if !self.text.ends_with('-') {
                    self.text.push(' ');
                }
                Open::Plain
            }
            "inline-formula" | "disp-formula" | "tex-math" | "math" | "formula" | "chem-struct" => {
                self.formula(reader, node);
                Open::Skip
            }
            "alternatives" => self.alternatives(reader, node),
            "fn" if !self.text.is_empty() || self.title => self.note(reader, node),
            "note" => self.note(reader, node),
            "index-term" | "index-term-range-end" => Open::Skip,
            "xref" if self.title => match reader.tree.attribute(node, "ref-type").as_deref() {
                Some("fn" | "aff" | "corresp" | "author-notes") => Open::Skip,
                _ => Open::Plain,
            },
            "ext-link"
            | "uri"
            | "self-uri"
            | "ref"
            | "ptr"
            | "graphic"
            | "inline-graphic"
            | "media"
            | "inline-supplementary-material"
            | "inline-media" => match reader.first_attribute(node, &["href", "target", "url"]) {
                Some(href) if !href.starts_with('#') => Open::Until(Close::Link(href, start)),
                None if name == "uri" => Open::Until(Close::Link(String::new(), start)),
                _ => Open::Plain,
            },
            "related-article" | "related-object" => {
                reader.relation(node);
                Open::Plain
            }
            "p" | "list" | "list-item" | "def-list" | "def-item" | "sec" | "title" | "caption"
            | "table" | "tr" | "row" | "td" | "th" | "entry" | "cell" | "verse-line" | "l"
            | "lg" | "disp-quote" | "boxed-text" | "fig" | "table-wrap" | "attrib" | "item"
            | "figDesc" | "head" | "div" | "code" | "preformat" | "speech" | "statement" | "fn"
            | "ab" => {
                self.text.push(LINE);
                Open::Until(Close::Line)
            }
            "label" | "surname" | "given-names" | "suffix" | "prefix" | "collab"
            | "institution" | "country" | "city" | "state" | "postal-code" | "addr-line"
            | "year" | "month" | "day" | "season" | "source" | "volume" | "issue" | "fpage"
            | "lpage" | "term" | "def" | "article-title" | "x" | "string-name" | "name"
            | "email" | "pub-id" | "orgName" | "settlement" | "region" | "forename" | "address"
            | "postCode" | "persName" | "idno" | "award-id" | "funding-source"
            | "institution-wrap" | "institution-id" | "author" | "publisher" | "abbrev" | "mtr"
            | "copyright-year" | "meta-name" | "meta-value" | "role" | "monogr" | "imprint"
            | "date" => {
                self.apart = true;
                Open::Until(Close::Apart)
            }
            _ => Open::Plain,
        }
    }

    fn close(&mut self, reader: &mut Reader<'_, '_>, close: Close) {
        match close {
            Close::Script(script, start) => {
                let content = self.text.split_off(start);
                let core = content.trim();
                let lead = content.len() - content.trim_start().len();
                // Spaces at the ends are not part of the script.
                self.text.push_str(&content[..lead]);
                write_script(script, core, &mut self.text);
                self.text.push_str(&content[lead + core.len()..]);
            }
            Close::Link(href, start) => {
                let text = collapse(&self.text[start..]).into_owned();
                let href = if href.is_empty() { text.clone() } else { href };
                reader.document.link(&href, Some(&text));
            }
            Close::Line => self.text.push(LINE),
            Close::Apart => self.apart = true,
        }
    }

    fn formula(&mut self, reader: &mut Reader<'_, '_>, node: Node) {
        let formula = Formula::read(reader, node);
        match (formula.tex, formula.text) {
            (Some(tex), _) => {
                let tex = tex.split_whitespace().collect::<Vec<_>>().join(" ");
                self.words(&format!("${tex}$"));
            }
            (None, Some(text)) => self.words(&text),
            (None, None) => {}
        }
        if let Some(label) = formula.label {
            self.words(&format!(" {label} "));
        }
    }

    /// Alternatives of one thing: a formula, or the first with text.
    fn alternatives(&mut self, reader: &mut Reader<'_, '_>, node: Node) -> Open {
        let tree = reader.tree;
        if reader.has_text(node) {
            return Open::Plain;
        }
        let has = |name: &str| tree.find(node, name).is_some();
        if has("tex-math") || has("math") {
            self.formula(reader, node);
            return Open::Skip;
        }
        let chosen = tree.elements(node).find(|&child| !tree.is_blank(child));
        for child in tree.elements(node) {
            // Other alternatives contribute only their links.
            let mut discarded = Self::default();
            let target = if Some(child) == chosen { &mut *self } else { &mut discarded };
            target.push(reader, child);
        }
        Open::Skip
    }

    fn note(&mut self, reader: &mut Reader<'_, '_>, node: Node) -> Open {
        let mark = reader.tree.child(node, "label").and_then(|label| reader.tree.text(label));
        if let Some(mark) = mark.or_else(|| reader.attribute(node, "n")).filter(|_| !self.title) {
            write_script(Script::Super, &mark, &mut self.text);
        }
        reader.notes.push(node);
        Open::Skip
    }

    /// Whether there is nothing but whitespace.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The text, its lines divided by line feeds; `None` when it is blank.
    pub(crate) fn finish(self) -> Option<String> {
        let mut out = String::with_capacity(self.text.len());
        for line in self.text.split(LINE) {
            let line = collapse(line);
            if !line.is_empty() {
                out.push_str(if out.is_empty() { "" } else { "\n" });
                out.push_str(&line);
            }
        }
        Some(out).filter(|out| !out.is_empty())
    }
}

enum Open {
    /// Nothing inside is text.
    Skip,
    Plain,
    Until(Close),
}

/// A formula.
#[derive(Debug, Default)]
pub(crate) struct Formula {
    pub(crate) tex: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) label: Option<String>,
    /// A picture of it, if there is nothing else.
    pub(crate) href: Option<String>,
}

impl Formula {
    /// Reads a formula in any form: TeX is kept, MathML becomes text.
    pub(crate) fn read(reader: &mut Reader<'_, '_>, node: Node) -> Self {
        let tree = reader.tree;
        let itself = |name: &str| (tree.name(node) == name).then_some(node);
        let find = |name: &str| itself(name).or_else(|| tree.find(node, name));
        let is_tex = |encoding: Option<std::borrow::Cow<'_, str>>| {
            encoding.is_some_and(|encoding| encoding.to_ascii_lowercase().contains("tex"))
        };
        let tex = find("tex-math")
            .or_else(|| {
                let mut inner = tree.descendants(node);
                inner.find(|&node| {
                    tree.name(node) == "annotation" && is_tex(tree.attribute(node, "encoding"))
                })
            })
            .or_else(|| itself("formula").filter(|&node| is_tex(tree.attribute(node, "notation"))));
        let tex = tex.map(|tex| bare_tex(&tree.verbatim(tex))).filter(|tex| !tex.is_empty());
        let label = tree.child(node, "label").and_then(|label| tree.text(label));
        let text = match find("math") {
            Some(math) => tree.text(math),
            None if tex.is_some() => None,
            None => {
                const OTHER: &[&str] =
                    &["label", "graphic", "inline-graphic", "media", "object-id"];
                let mut inline = Inline::default();
                for child in tree.children(node) {
                    let name = tree.name(child);
                    if name == "alternatives" && !reader.has_text(child) {
                        inline.alternatives(reader, child);
                    } else if !OTHER.contains(&name) {
                        inline.push(reader, child);
                    }
                }
                inline.finish()
            }
        };
        let mut href = None;
        for inner in tree.descendants(node) {
            if matches!(tree.name(inner), "graphic" | "inline-graphic" | "media")
                && let Some(found) = reader.attribute(inner, "href")
            {
                reader.document.link(&found, None);
                href.get_or_insert(found);
            }
        }
        if tex.is_none() && text.is_none() && href.is_some() {
            reader.warn(node, "formula_as_image", "the formula is only there as a picture");
        }
        Self { tex, text, label, href }
    }
}

/// The content of a TeX document, without delimiters: publishers wrap formulas into whole
/// documents.
fn bare_tex(tex: &str) -> String {
    let body = tex.split_once("\\begin{document}").map_or(tex, |(_, body)| body);
    let mut body = body.split_once("\\end{document}").map_or(body, |(body, _)| body).trim();
    for (open, close) in [("$$", "$$"), ("$", "$"), ("\\[", "\\]"), ("\\(", "\\)")] {
        if let Some(inner) = body.strip_prefix(open).and_then(|inner| inner.strip_suffix(close)) {
            body = inner.trim();
        }
    }
    body.lines()
        .map(str::trim_end)
        .filter(|line| !line.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}
