//! The words of a paragraph: runs, fields, notes, symbols.

use carrel_pdk::document::{Block, Kind};
use carrel_pdk::text::{Script, write_script};
use carrel_pdk::xml::tree::{Node, Tree};

use super::{Close, Field, Reader, Run, Source, Words};
use crate::outline::{LINE, boxed, one_line};
use crate::{drawing, omml};

impl<'p, 'd> Reader<'p, 'd> {
    /// The words of a paragraph, in reading order.
    pub(crate) fn words(&mut self, source: Source<'_, '_>, paragraph: Node) -> Words {
        let tree = source.tree;
        let mut words = Words { bibliography: self.in_bibliography(), ..Words::default() };
        for field in &mut self.fields {
            field.start = None;
        }
        let mut open: Vec<(Node, Close)> = Vec::new();
        let mut skipped: Option<Node> = None;
        for inner in tree.descendants(paragraph) {
            let name = tree.name(inner);
            if name.is_empty() || skipped.is_some_and(|skipped| tree.contains(skipped, inner)) {
                continue;
            }
            while let Some((_, close)) = open.pop_if(|(outer, _)| !tree.contains(*outer, inner)) {
                self.close(close, &mut words);
            }
            let start = words.text.len();
            match name {
                "t" => words.text.push_str(&tree.verbatim(inner)),
                "tab" | "ptab" => words.text.push('\t'),
                "br" | "cr" => words.text.push(LINE),
                "noBreakHyphen" => words.text.push('\u{2011}'),
                "sym" => self.symbol(source, inner, &mut words),
                "r" => match self.run(tree, inner) {
                    Run::Hidden => skipped = Some(inner),
                    Run::Script(script) => open.push((inner, Close::Script(script, start))),
                    Run::Plain => {}
                },
                "hyperlink" => {
                    let id = tree.prefixed_attribute(inner, "id");
                    let relation = id.and_then(|id| source.relations.get(id.as_ref()));
                    if let Some(relation) = relation.filter(|relation| relation.external) {
                        let anchor = tree.attribute(inner, "anchor");
                        let mut href = relation.target.clone();
                        if let Some(anchor) = anchor.filter(|_| !href.contains('#')) {
                            href.push('#');
                            href.push_str(&anchor);
                        }
                        open.push((inner, Close::Link(href, start)));
                    }
                }
                "fldSimple" => {
                    let instruction = tree.attribute(inner, "instr").unwrap_or_default();
                    words.bibliography |= makes_bibliography(&instruction);
                    if let Some(href) = link_of_field(&instruction) {
                        open.push((inner, Close::Link(href, start)));
                    }
                }
                "fldChar" => self.field(tree, inner, &mut words),
                "instrText" => {
                    if let Some(field) = self.fields.last_mut().filter(|field| !field.result) {
                        field.instruction.push_str(&tree.verbatim(inner));
                    }
                }
                "footnoteReference" | "endnoteReference" => {
                    self.note(tree, inner, name, &mut words)
                }
                "commentReference" => self.comment(tree, inner, &mut words),
                "rt" => {
                    if let Some(reading) = drawing::words(tree, inner) {
                        words.text.push_str(&format!("({reading})"));
                    }
                    skipped = Some(inner);
                }
                "oMath" => {
                    if let Some(tex) = omml::tex(tree, inner) {
                        words.text.push_str(&format!("${tex}$"));
                        words.formulas.push((start, words.text.len(), tex));
                    }
                    skipped = Some(inner);
                }
                "AlternateContent" => {
                    let formula =
                        tree.child(inner, "Choice").and_then(|choice| tree.find(choice, "oMath"));
                    if let Some(tex) = formula.and_then(|formula| omml::tex(tree, formula)) {
                        words.text.push_str(&format!("${tex}$"));
                        words.formulas.push((start, words.text.len(), tex));
                    } else {
                        words.floats.push(inner);
                    }
                    skipped = Some(inner);
                }
                "drawing" | "pict" | "object" => {
                    words.floats.push(inner);
                    skipped = Some(inner);
                }
                "del" | "moveFrom" | "pPr" | "sdtPr" | "sdtEndPr" | "rubyPr" | "rPr"
                | "delText" | "delInstrText" => skipped = Some(inner),
                "tbl" => skipped = Some(inner),
                _ => {}
            }
        }
        while let Some((_, close)) = open.pop() {
            self.close(close, &mut words);
        }
        words.bibliography |= self.in_bibliography();
        words
    }

    pub(crate) fn in_bibliography(&self) -> bool {
        self.fields.iter().any(|field| field.result && makes_bibliography(&field.instruction))
    }

    pub(crate) fn close(&mut self, close: Close, words: &mut Words) {
        match close {
            Close::Link(href, start) => {
                let text = one_line(words.text.get(start..).unwrap_or_default());
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

    pub(crate) fn run(&mut self, tree: &Tree<'_>, run: Node) -> Run {
        let Some(properties) = tree.child(run, "rPr") else { return Run::Plain };
        let value = |name: &str| {
            let node = tree.child(properties, name)?;
            Some(tree.attribute(node, "val").map_or_else(String::new, |value| value.into_owned()))
        };
        let on = |name: &str| {
            value(name).is_some_and(|value| !matches!(value.as_str(), "0" | "false" | "off"))
        };
        if on("vanish") {
            // Hidden marks, such as those of an index, have no text.
            let speaks =
                tree.descendants(run).any(|inner| tree.name(inner) == "t" && !tree.is_blank(inner));
            if speaks {
                self.hidden += 1;
                return Run::Hidden;
            }
        }
        let holds_note = tree.descendants(run).any(|inner| {
            matches!(
                tree.name(inner),
                "footnoteReference" | "endnoteReference" | "oMath" | "drawing"
            )
        });
        match value("vertAlign").as_deref() {
            Some("superscript") if !holds_note => Run::Script(Script::Super),
            Some("subscript") if !holds_note => Run::Script(Script::Sub),
            _ => Run::Plain,
        }
    }

    pub(crate) fn symbol(&mut self, source: Source<'_, '_>, node: Node, words: &mut Words) {
        let tree = source.tree;
        let code = tree.attribute(node, "char");
        let Some(code) = code.and_then(|code| u32::from_str_radix(&code, 16).ok()) else { return };
        let font = tree.attribute(node, "font").unwrap_or_default();
        let low = if (0xF000..=0xF0FF).contains(&code) { code - 0xF000 } else { code };
        let character = match font.as_ref() {
            "Symbol" => symbol_font(low),
            _ if low == code => char::from_u32(code),
            "Wingdings" | "Wingdings 2" | "Wingdings 3" | "Webdings" => {
                match (font.as_ref(), low) {
                    ("Wingdings", 0xFC) => Some('✓'),
                    ("Wingdings", 0xFB) => Some('✗'),
                    ("Wingdings", 0xA8) => Some('☐'),
                    ("Wingdings", 0xFE) => Some('☑'),
                    ("Wingdings", 0xE0) => Some('→'),
                    ("Wingdings", 0xDF) => Some('←'),
                    ("Wingdings", 0x4A) => Some('☺'),
                    _ => None,
                }
            }
            _ => char::from_u32(low).filter(|character| !character.is_control()),
        };
        match character {
            Some(character) => words.text.push(character),
            None => {
                let message = format!("sign {code:X} of the font {font} has no known character");
                let location = format!("byte {} of {}", tree.offset(node), source.part);
                self.document.warn("unknown_symbol", message, Some(location));
            }
        }
    }

    pub(crate) fn field(&mut self, tree: &Tree<'_>, node: Node, words: &mut Words) {
        match tree.attribute(node, "fldCharType").as_deref() {
            Some("begin") if self.fields.len() < 64 => self.fields.push(Field::default()),
            Some("separate") => {
                if let Some(field) = self.fields.last_mut() {
                    field.result = true;
                    field.start = Some(words.text.len());
                }
            }
            Some("end") => {
                let Some(field) = self.fields.pop() else { return };
                words.bibliography |= makes_bibliography(&field.instruction);
                if let (Some(href), Some(start)) = (link_of_field(&field.instruction), field.start)
                {
                    let text = words.text.get(start..).and_then(one_line);
                    self.document.link(&href, text.as_deref());
                }
            }
            _ => {}
        }
    }

    pub(crate) fn note(&mut self, tree: &Tree<'_>, node: Node, name: &str, words: &mut Words) {
        let Some(id) = tree.attribute(node, "id") else { return };
        let notes =
            if name == "footnoteReference" { &mut self.footnotes } else { &mut self.endnotes };
        let Some(blocks) = notes.remove(id.as_ref()) else { return };
        self.noted += 1;
        let label = self.noted.to_string();
        write_script(Script::Super, &label, &mut words.text);
        let role = (name == "endnoteReference").then_some("endnote");
        let note = boxed(Kind::Footnote, role, blocks);
        if let Some(note) = note {
            words.notes.push(Block { label: Some(label), ..note });
        }
    }

    pub(crate) fn comment(&mut self, tree: &Tree<'_>, node: Node, words: &mut Words) {
        let Some(id) = tree.attribute(node, "id") else { return };
        let Some((label, blocks)) = self.comments.remove(id.as_ref()) else { return };
        if let Some(note) = boxed(Kind::Footnote, Some("comment"), blocks) {
            words.notes.push(Block { label, ..note });
        }
    }
}

/// Whether a field lists the works that a document cites.
pub(crate) fn makes_bibliography(instruction: &str) -> bool {
    let instruction = instruction.trim_start();
    instruction.starts_with("BIBLIOGRAPHY")
        || ["ZOTERO_BIBL", "CSL_BIBLIOGRAPHY", "EN.REFLIST", "Mendeley Bibliography"]
            .iter()
            .any(|mark| instruction.contains(mark))
}

/// The address of a field that is a link.
pub(crate) fn link_of_field(instruction: &str) -> Option<String> {
    let rest = instruction.trim_start().strip_prefix("HYPERLINK")?;
    if rest.trim_start().starts_with("\\l") {
        return None;
    }
    let href = match rest.split_once('"') {
        Some((_, quoted)) => quoted.split('"').next()?,
        None => rest.split_whitespace().next()?,
    };
    (!href.is_empty()).then(|| href.to_owned())
}

/// The character for a code in the font Symbol.
pub(crate) fn symbol_font(code: u32) -> Option<char> {
    const UPPER: &str = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ";
    const LOWER: &str = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ";
    let of = |letters: &str, from: u32| letters.chars().nth((code - from) as usize);
    match code {
        0x41..=0x5A => of(UPPER, 0x41),
        0x61..=0x7A => of(LOWER, 0x61),
        0xA3 => Some('≤'),
        0xA5 => Some('∞'),
        0xAB => Some('↔'),
        0xAC => Some('←'),
        0xAE => Some('→'),
        0xB0 => Some('°'),
        0xB1 => Some('±'),
        0xB2 => Some('″'),
        0xB3 => Some('≥'),
        0xB4 => Some('×'),
        0xB5 => Some('∝'),
        0xB6 => Some('∂'),
        0xB7 => Some('•'),
        0xB8 => Some('÷'),
        0xB9 => Some('≠'),
        0xBA => Some('≡'),
        0xBB => Some('≈'),
        0xBC => Some('…'),
        0xC5 => Some('⊕'),
        0xC7 => Some('∩'),
        0xC8 => Some('∪'),
        0xCE => Some('∈'),
        0xD1 => Some('∇'),
        0xD5 => Some('∏'),
        0xD6 => Some('√'),
        0xD7 => Some('⋅'),
        0xDE => Some('⇒'),
        0xE5 => Some('∑'),
        0xF2 => Some('∫'),
        0x22 => Some('∀'),
        0x24 => Some('∃'),
        0x2D => Some('−'),
        0x20..=0x3F => char::from_u32(code),
        _ => None,
    }
}
