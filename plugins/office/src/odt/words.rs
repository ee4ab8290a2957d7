//! The words of a paragraph: spans, notes, comments, formulas.

use carrel_pdk::document::{Block, Kind};
use carrel_pdk::text::{Script, write_script};
use carrel_pdk::xml::tree::{Node, Piece, Tree};

use crate::outline::{LINE, Outline, boxed, one_line};
use crate::package::resolve;
use crate::xhtml;

use super::{Close, Reader, Words};

impl Reader<'_, '_> {
    pub(super) fn words(&mut self, tree: &Tree<'_>, paragraph: Node, depth: u32) -> Words {
        let mut words = Words::default();
        let mut open: Vec<(Node, Close)> = Vec::new();
        let mut skipped: Option<Node> = None;
        for inner in tree.descendants(paragraph) {
            if skipped.is_some_and(|skipped| tree.contains(skipped, inner)) {
                continue;
            }
            while let Some((_, close)) = open.pop_if(|(outer, _)| !tree.contains(*outer, inner)) {
                self.close(close, &mut words);
            }
            let start = words.text.len();
            match tree.piece(inner) {
                Piece::Text(text) => words.text.push_str(text),
                Piece::Character(character) => words.text.push(character),
                Piece::Element(name) => match name {
                    "s" => {
                        let count = tree.attribute(inner, "c").and_then(|count| count.parse().ok());
                        let count: usize = count.unwrap_or(1);
                        words.text.push_str(&" ".repeat(count.min(80)));
                    }
                    "tab" => words.text.push('\t'),
                    "line-break" => words.text.push(LINE),
                    "a" => {
                        let href =
                            tree.attribute(inner, "href").filter(|href| !href.starts_with('#'));
                        if let Some(href) = href {
                            open.push((inner, Close::Link(href.into_owned(), start)));
                        }
                    }
                    "span" => {
                        let style =
                            tree.attribute(inner, "style-name").map(|name| name.into_owned());
                        let style = style.as_deref();
                        if self.chain(style).any(|style| style.hidden) && !tree.is_blank(inner) {
                            self.hidden += 1;
                            skipped = Some(inner);
                        } else if let Some(up) = self.chain(style).find_map(|style| style.script)
                            && tree.find(inner, "note").is_none()
                        {
                            let script = if up { Script::Super } else { Script::Sub };
                            open.push((inner, Close::Script(script, start)));
                        }
                    }
                    "note" => {
                        self.note(tree, inner, &mut words, depth);
                        skipped = Some(inner);
                    }
                    "annotation" => {
                        self.comment(tree, inner, &mut words, depth);
                        skipped = Some(inner);
                    }
                    "ruby-text" => {
                        if let Some(reading) = tree.text(inner) {
                            words.text.push_str(&format!("({reading})"));
                        }
                        skipped = Some(inner);
                    }
                    "frame" | "custom-shape" | "text-box" | "g" | "rect" | "ellipse" | "line" => {
                        match self.formula(tree, inner) {
                            Some(text) => {
                                words.text.push_str(&text);
                                words.formula = Some((text, start, words.text.len()));
                            }
                            None => words.frames.push(inner),
                        }
                        skipped = Some(inner);
                    }
                    "annotation-end" | "tracked-changes" | "hidden-text" => skipped = Some(inner),
                    _ => {}
                },
            }
        }
        while let Some((_, close)) = open.pop() {
            self.close(close, &mut words);
        }
        words
    }

    pub(super) fn close(&mut self, close: Close, words: &mut Words) {
        match close {
            Close::Link(href, start) => {
                let text = words.text.get(start..).and_then(one_line);
                self.document.link(&href, text.as_deref());
            }
            Close::Script(script, start) => {
                let content = words.text.split_off(start.min(words.text.len()));
                let core = content.trim();
                let lead = content.len() - content.trim_start().len();
                words.text.push_str(&content[..lead]);
                write_script(script, core, &mut words.text);
                words.text.push_str(&content[lead + core.len()..]);
            }
        }
    }

    /// The text of a formula, which is an embedded object.
    pub(super) fn formula(&self, tree: &Tree<'_>, frame: Node) -> Option<String> {
        let object = tree.find(frame, "object")?;
        let inline = tree.find(object, "math").map(|math| xhtml::words::formula(tree, math));
        if let Some((tex, text)) = inline {
            return tex.map(|tex| format!("${tex}$")).or(text);
        }
        let href = tree.attribute(object, "href").filter(|href| !href.contains("://"))?;
        let part = format!("{}/content.xml", resolve("", &href));
        let text = self.package.text(&part).ok().flatten()?;
        let object = Tree::read(&text, "a formula").ok()?;
        let math = if object.name(object.root()) == "math" {
            object.root()
        } else {
            object.find(object.root(), "math")?
        };
        let (tex, text) = xhtml::words::formula(&object, math);
        tex.map(|tex| format!("${tex}$")).or(text)
    }

    pub(super) fn note(&mut self, tree: &Tree<'_>, node: Node, words: &mut Words, depth: u32) {
        let label = tree.child(node, "note-citation").and_then(|mark| {
            tree.text(mark)
                .or_else(|| tree.attribute(mark, "label").map(|label| label.into_owned()))
        });
        let mut inside = Outline::default();
        if let Some(body) = tree.child(node, "note-body") {
            let references = std::mem::replace(&mut self.in_references, false);
            self.blocks(tree, body, &mut inside, depth + 1);
            self.in_references = references;
        }
        let endnote = tree.attribute(node, "note-class").as_deref() == Some("endnote");
        let role = endnote.then_some("endnote");
        if let Some(note) = boxed(Kind::Footnote, role, inside.into_blocks()) {
            if let Some(label) = &label {
                write_script(Script::Super, label, &mut words.text);
            }
            words.notes.push(Block { label, ..note });
        }
    }

    pub(super) fn comment(&mut self, tree: &Tree<'_>, node: Node, words: &mut Words, depth: u32) {
        let label = tree.child(node, "creator").and_then(|name| tree.text(name));
        let mut inside = Outline::default();
        for child in tree.elements(node) {
            match tree.name(child) {
                "p" => self.paragraph(tree, child, &mut inside, depth + 1),
                "list" => self.list(tree, child, None, 1, &mut inside, depth + 1),
                _ => {}
            }
        }
        if let Some(note) = boxed(Kind::Footnote, Some("comment"), inside.into_blocks()) {
            words.notes.push(Block { label, ..note });
        }
    }
}
