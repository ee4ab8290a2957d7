//! Reads pages that nest too deeply for a tree: tags only divide the text.

use carrel_pdk::document::{Block, Document, Kind, Section};
use carrel_pdk::text::{collapse, decode_entities};

use crate::dom::is_inline;
use crate::styles::Looks;

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
        let opens = |first: char| first.is_ascii_alphabetic() || matches!(first, '/' | '!' | '?');
        if !tag.starts_with(opens) {
            text.push('<');
            rest = tag;
            continue;
        }
        let end = tag.find('>').unwrap_or(tag.len());
        let name = tag[..end].trim_start_matches('/');
        let length = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
        let name = name[..length].to_ascii_lowercase();
        rest = tag.get(end + 1..).unwrap_or_default();
        if !is_inline(&name) {
            if name == "title" && tag.starts_with('/') {
                title = title.or_else(|| words(&std::mem::take(&mut text)));
            }
            flush(&mut text, &mut section);
        }
        let machinery = MACHINERY.contains(&name.as_str());
        if !tag.starts_with('/') && !machinery && is_hiding(&name, &tag[length..end.max(length)]) {
            rest = behind(rest, &name);
            continue;
        }
        if machinery && !tag.starts_with('/') {
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

/// Whether a start tag's element is not seen.
pub(crate) fn is_hiding(name: &str, attributes: &str) -> bool {
    !is_void(name) && (MACHINERY.contains(&name) || hides(attributes))
}

/// Whether a tag's attributes hide its element.
fn hides(attributes: &str) -> bool {
    let lower = attributes.to_ascii_lowercase();
    let style = lower.split_once("style=").map(|(_, value)| {
        let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''));
        match quote {
            Some(quote) => value[1..].split(quote).next().unwrap_or_default(),
            None => value.split_ascii_whitespace().next().unwrap_or_default(),
        }
    });
    let styled = style.is_some_and(|style| {
        let mut looks = Looks::default();
        looks.read(style);
        looks.hiding().is_some() || looks.is_tiny()
    });
    let named = |name: &str| lower.split_ascii_whitespace().any(|word| word == name);
    styled
        || named("hidden")
        || lower.contains("hidden=\"\"")
        || lower.contains("aria-hidden=\"true\"")
        || lower.contains("aria-hidden=true")
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "source"
            | "track"
            | "wbr"
            | "html"
            | "body"
    )
}

/// What follows an element whose start tag was read; nothing if it is not closed.
fn behind<'t>(text: &'t str, name: &str) -> &'t str {
    let (mut rest, mut depth) = (text, 1_u32);
    while let Some(at) = rest.find('<') {
        let tag = &rest[at + 1..];
        let (closes, inner) = tag.strip_prefix('/').map_or((false, tag), |inner| (true, inner));
        let same = inner.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name))
            && !inner[name.len()..]
                .starts_with(|next: char| next.is_ascii_alphanumeric() || next == '-');
        let end = tag.find('>').map_or(tag.len(), |end| end + 1);
        rest = &tag[end..];
        if same {
            depth = if closes { depth - 1 } else { depth + 1 };
        }
        if depth == 0 {
            return rest;
        }
    }
    ""
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
