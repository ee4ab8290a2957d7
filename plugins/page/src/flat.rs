//! Reads pages that nest too deeply for a tree: tags only divide the text.

use carrel_pdk::document::{Block, Document, Kind, Section};
use carrel_pdk::text::{collapse, decode_entities};

use crate::dom::is_inline;

/// Elements whose content is no text.
const MACHINERY: &[&str] =
    &["script", "style", "noscript", "template", "svg", "iframe", "textarea", "select"];

/// Reads the texts of a page as paragraphs.
pub(crate) fn read(page: &str) -> Document {
    let mut document = Document::default();
    let mut section = Section { level: 1, ..Section::default() };
    let mut text = String::new();
    let mut title = None;
    let mut rest = page;
    loop {
        let at = rest.find('<').unwrap_or(rest.len());
        text.push_str(&rest[..at]);
        let Some(tag) = rest.get(at + 1..) else { break };
        if let Some(comment) = tag.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        if !tag.starts_with(|one: char| one.is_ascii_alphabetic() || matches!(one, '/' | '!' | '?'))
        {
            text.push('<');
            rest = tag;
            continue;
        }
        let end = tag.find('>').unwrap_or(tag.len());
        let name = tag[..end].trim_start_matches('/');
        let length = name.find(|one: char| !one.is_ascii_alphanumeric()).unwrap_or(name.len());
        let name = name[..length].to_ascii_lowercase();
        rest = tag.get(end + 1..).unwrap_or_default();
        if !is_inline(&name) {
            if name == "title" && tag.starts_with('/') {
                title = title.or_else(|| words(&std::mem::take(&mut text)));
            }
            flush(&mut text, &mut section);
        }
        if MACHINERY.contains(&name.as_str()) && !tag.starts_with('/') {
            let close = format!("</{name}");
            let found = rest.char_indices().map(|(at, _)| at).find(|&at| {
                rest.get(at..at + close.len()).is_some_and(|part| part.eq_ignore_ascii_case(&close))
            });
            rest = found.map_or("", |at| &rest[at..]);
        }
    }
    flush(&mut text, &mut section);
    document.title = title;
    if !section.blocks.is_empty() {
        document.sections.push(section);
    }
    document
}

fn words(text: &str) -> Option<String> {
    let text = collapse(&decode_entities(text)).into_owned();
    (!text.is_empty()).then_some(text)
}

fn flush(text: &mut String, section: &mut Section) {
    if let Some(text) = words(&std::mem::take(text)) {
        section.blocks.push(Block::new(Kind::Paragraph, text));
    }
}
