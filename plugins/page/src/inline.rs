//! Lines of text: words, formulas between dollars, sub- and superscripts, links.

use carrel_pdk::document::{Block, Kind};
use carrel_pdk::text::{Script, write_script};

use crate::blocks::Blocks;
use crate::dom::{Id, Tree, is_inline};
use crate::math;
use crate::seen::is_math_script;

/// A text builder: collapses whitespace, keeps the page's line breaks.
#[derive(Debug, Default)]
pub(crate) struct Line {
    text: String,
    space: bool,
    breaks: u32,
}

impl Line {
    /// Adds text; whitespace at the ends counts.
    pub(crate) fn push(&mut self, text: &str) {
        for word in text.split_inclusive(is_space) {
            let trimmed = word.trim_end_matches(is_space);
            if !trimmed.is_empty() {
                self.begin();
                // They mark where a word may be divided, or nothing; they are not part of it.
                self.text.extend(trimmed.split(['\u{ad}', '\u{200b}', '\u{2060}', '\u{feff}']));
            }
            if trimmed.len() < word.len() {
                self.space = true;
            }
        }
    }

    /// Writes the pending separator before the next word.
    fn begin(&mut self) {
        if !self.text.is_empty() {
            if self.breaks > 0 {
                self.text.push('\n');
            } else if self.space {
                self.text.push(' ');
            }
        }
        (self.space, self.breaks) = (false, 0);
    }

    /// A space that is not a character of the page.
    pub(crate) fn gap(&mut self) {
        self.space = true;
    }

    /// Ends the line; true when the line was empty: a paragraph ends.
    pub(crate) fn line_break(&mut self) -> bool {
        self.breaks += 1;
        self.breaks > 1 && !self.text.is_empty()
    }

    /// The text, if there is one; the line is empty then.
    pub(crate) fn take(&mut self) -> Option<String> {
        let line = std::mem::take(self);
        (!line.text.is_empty()).then_some(line.text)
    }
}

/// Whitespace that collapses.
fn is_space(character: char) -> bool {
    character.is_whitespace()
}

/// Whether an element is read as one word: a formula, a script, a picture.
pub(crate) fn is_atom(tree: &Tree, id: Id) -> bool {
    match tree.name(id) {
        "math" | "sub" | "sup" | "img" | "rp" => true,
        "script" => is_math_script(tree, id),
        "span" | "mjx-container" => math::is_rendered(tree, id) || tree.has_class(id, "ltx_note"),
        _ => false,
    }
}

/// Reads an element as one word.
pub(crate) fn atom(blocks: &mut Blocks<'_>, id: Id, line: &mut Line) {
    let tree = blocks.tree;
    match tree.name(id) {
        "img" => {
            // Formulas were once pictures with their TeX as alternative text.
            if let Some(tex) = math::of_image(tree, id) {
                line.push(&tex);
            }
        }
        "rp" => {}
        "span" if tree.has_class(id, "ltx_note") => note(blocks, id, line),
        "sub" | "sup" => {
            let script = if tree.name(id) == "sub" { Script::Sub } else { Script::Super };
            let mut inner = Line::default();
            read(blocks, id + 1, tree.end(id), &mut inner);
            let Some(text) = inner.take() else { return };
            let links = tree.descendants(id).any(|inner| tree.name(inner) == "a");
            let plain = text.chars().count() > 12 || text.contains([' ', '\n', '$']) || links;
            if plain {
                line.push(&text);
            } else {
                let mut written = String::new();
                write_script(script, &text, &mut written);
                line.push(&written);
            }
        }
        _ => {
            if let Some(text) = math::inline(tree, id) {
                line.push(&text);
            }
        }
    }
}

/// A footnote inside a line: its mark is kept, the note follows the paragraph.
fn note(blocks: &mut Blocks<'_>, id: Id, line: &mut Line) {
    let tree = blocks.tree;
    let part = |class: &str| tree.descendants(id).find(|&node| tree.has_class(node, class));
    let mark = part("ltx_note_mark").map(|mark| tree.all_text(mark));
    let mark = mark.filter(|mark| !mark.is_empty());
    if let Some(mark) = &mark {
        line.push(&format!("[{mark}]"));
    }
    let Some(content) = part("ltx_note_content") else { return };
    // The mark, and a label for screen readers, come first.
    let from = tree
        .elements(content)
        .take_while(|&id| tree.has_class(id, "ltx_note_mark") || tree.has_class(id, "ltx_tag"))
        .last()
        .map_or(content + 1, |last| tree.end(last));
    let text = carrel_pdk::text::collapse(&{
        let mut text = String::new();
        for node in from..tree.end(content) {
            text.push_str(tree.text(node).unwrap_or_default());
        }
        text
    })
    .into_owned();
    if !text.is_empty() {
        let mut block = Block::new(Kind::Footnote, text);
        block.label = mark;
        blocks.notes.push(block);
    }
}

/// Records a link.
pub(crate) fn link(blocks: &mut Blocks<'_>, id: Id) {
    let Some(href) = blocks.tree.attribute(id, "href").map(str::trim) else { return };
    if !leads_elsewhere(href) {
        return;
    }
    let text = blocks.tree.all_text(id);
    blocks.document.link(href, Some(&text));
}

/// Whether an address leads to another document, not to a script, to data or to a fragment of the
/// same page.
pub(crate) fn leads_elsewhere(href: &str) -> bool {
    // Browsers drop control characters and white space in a scheme.
    let plain: String = href
        .chars()
        .filter(|character| !character.is_control() && !character.is_whitespace())
        .take(12)
        .collect::<String>()
        .to_ascii_lowercase();
    let scripts = ["javascript:", "vbscript:", "data:", "blob:", "file:", "filesystem:", "about:"];
    !plain.is_empty()
        && !plain.starts_with('#')
        && !scripts.iter().any(|scheme| plain.starts_with(scheme))
}

/// Reads a run of nodes as one text; blocks in it are lines.
pub(crate) fn read(blocks: &mut Blocks<'_>, from: Id, to: Id, line: &mut Line) {
    let tree = blocks.tree;
    let mut open: Vec<Id> = Vec::new();
    let mut at = from;
    while at < to {
        while open.last().is_some_and(|&end| end <= at) {
            open.pop();
            let _ = line.line_break();
        }
        if blocks.gone.get(at).copied().unwrap_or_default() {
            at = tree.end(at);
            continue;
        }
        let name = tree.name(at);
        if let Some(text) = tree.text(at) {
            line.push(text);
        } else if is_atom(tree, at) {
            atom_of_text(blocks, at, line);
            at = tree.end(at);
            continue;
        } else if name == "br" {
            let _ = line.line_break();
        } else if !is_inline(name) {
            if let Some(formula) = math::display(tree, at) {
                let text = formula.tex.map(|tex| format!("${tex}$")).or(formula.text);
                line.gap();
                line.push(&text.unwrap_or_default());
                line.gap();
                at = tree.end(at);
                continue;
            }
            let _ = line.line_break();
            open.push(tree.end(at));
        } else if name == "a" {
            link(blocks, at);
        }
        at += 1;
    }
}

/// As [`atom`]; nested scripts are read without recursion.
fn atom_of_text(blocks: &mut Blocks<'_>, id: Id, line: &mut Line) {
    let tree = blocks.tree;
    let nests = tree.descendants(id).any(|inner| matches!(tree.name(inner), "sub" | "sup"));
    if matches!(tree.name(id), "sub" | "sup") && nests {
        line.push(&tree.all_text(id));
    } else {
        atom(blocks, id, line);
    }
}
