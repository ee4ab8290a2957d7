//! Plain text as paragraphs.

use carrel_pdk::document::{Block, Document, Kind, Section};

/// The line length from which a line counts as wrapped.
const WRAPPED: usize = 45;

/// Reads a text: blank lines divide paragraphs. Lines of verse, lists and addresses stay lines; lines of
/// wrapped prose are joined.
pub(crate) fn read(text: &str) -> Document {
    let mut document = Document::default();
    let mut section = Section { level: 1, ..Section::default() };
    let mut lines: Vec<String> = Vec::new();
    let text = text.replace("\r\n", "\n");
    for line in text.split(['\n', '\r', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']).chain([""]) {
        let line = carrel_pdk::text::collapse(line);
        if !line.is_empty() {
            lines.push(line.into_owned());
        } else if !lines.is_empty() {
            section.blocks.push(Block::new(Kind::Paragraph, joined(&lines)));
            lines.clear();
        }
    }
    if !section.blocks.is_empty() {
        document.sections.push(section);
    }
    document
}

fn joined(lines: &[String]) -> String {
    let inner = lines.len().saturating_sub(1);
    let wrapped = lines.iter().take(inner).all(|line| line.chars().count() >= WRAPPED);
    lines.join(if wrapped { " " } else { "\n" })
}
