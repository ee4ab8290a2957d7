//! A web page as a document.

use carrel_pdk::document::{Document, Identifiers, Kind, Quality, Reason};
use carrel_pdk::{Code, Error};

use crate::blocks::{self, Blocks, Piece};
use crate::content;
use crate::dom::Tree;
use crate::flat;
use crate::kind::{self, View, Wall};
use crate::latexml;
use crate::meta::{self, Meta};
use crate::parser::{self, MAX_NODES, Unread};
use crate::seen;

/// Reads a page.
pub(crate) fn read(page: &str) -> Result<Document, Error> {
    let mut document = Document::default();
    let tree = match parser::parse(page) {
        Ok(tree) => tree,
        Err(Unread::TooDeep) => {
            let mut document = flat::read(page);
            let message =
                "elements nest deeper than 512: tags only divide the text, and all of it is given";
            document.warn("nested_too_deep", message, None);
            return Ok(document);
        }
        Err(Unread::TooMany) => {
            let message = format!("the page has more than {MAX_NODES} elements and texts");
            return Err(Error::new(Code::TooLarge, message));
        }
    };
    let meta = meta::read(&tree);
    let in_head = tree.find(0, "title").map(|id| tree.all_text(id)).unwrap_or_default();
    let title = title(&tree, &meta, &in_head);
    let shown = seen::shown(&tree);
    let view = View::new(&tree, &shown, &in_head);
    let language = tree.find(0, "html").and_then(|html| tree.attribute(html, "lang"));
    let language = language.map(str::trim).filter(|language| !language.is_empty());
    document.language =
        language.or_else(|| meta.first(&["language"])).map(|language| language.replace('_', "-"));
    let wall = kind::wall(page, &view, &meta);
    if view.is_empty() && wall.is_none() {
        document.kind = Some("empty".to_owned());
    }
    let paper = latexml::find(&tree).filter(|_| wall.is_none());
    document.title = Some(title.clone()).filter(|title| !title.is_empty());
    if let Some(paper) = paper {
        document.kind = Some("article".to_owned());
        latexml::read(&tree, paper, &shown, &mut document);
    } else if wall.is_none_or(|wall| wall == Wall::Paywall) && !view.is_empty() {
        let content = content::choose(&tree, &shown, &title, &meta);
        document.kind = Some(content.kind.to_owned());
        if let Some(selection) = content.selection {
            let mut reader = Blocks::new(&tree, &selection.gone, &mut document);
            let mut pieces = Vec::new();
            for &root in &selection.roots {
                pieces.extend(reader.pieces(root, tree.end(root), 0));
            }
            if wall.is_some() {
                pieces.retain(|piece| !is_offer(piece));
            }
            document.sections = blocks::sections(pieces, Some(&title));
        }
    }
    if let Some(wall) = wall {
        document.kind = Some(wall.kind().to_owned());
        document.warn(wall.kind(), wall.message(), None);
        let partial = wall == Wall::Paywall && !document.sections.is_empty();
        (document.quality, document.quality_reason) = if partial {
            (Quality::Partial, Some(Reason::Truncated))
        } else {
            (Quality::None, Some(Reason::Empty))
        };
    }
    if shown.hidden > 0 {
        let message = format!(
            "{} hidden elements with {} characters of text were left out",
            shown.hidden, shown.hidden_chars
        );
        document.warn("hidden_text", message, None);
    }
    if shown.kept_chars > 0 {
        let message = format!(
            "{} characters that styles hide are most of the page and were kept: scripts show them, \
             or nobody sees them",
            shown.kept_chars
        );
        document.warn("hidden_text_kept", message, None);
    }
    if document.kind.as_deref() == Some("empty") && needs_browser(&tree) {
        let message = "scripts write the text in a browser";
        document.warn("needs_browser", message, None);
    }
    meta.state(&mut document);
    if wall.is_some_and(|wall| wall != Wall::Paywall) {
        // A page shown in place of a work is not the work.
        document.identifiers = Identifiers::default();
    }
    Ok(document)
}

/// Whether an empty page has scripts that may write its text.
fn needs_browser(tree: &Tree) -> bool {
    tree.descendants(0).any(|id| {
        tree.name(id) == "script"
            && (tree.attribute(id, "src").is_some() || tree.end(id) > id + 1)
            && !tree.attribute(id, "type").is_some_and(|kind| kind.contains("json"))
    })
}

/// Whether a piece of a page offers the rest of the text for sale.
fn is_offer(piece: &Piece) -> bool {
    match piece {
        Piece::Heading(_, _, text) => kind::offers(text),
        Piece::Block(block) => {
            block.kind == Kind::Paragraph
                && block
                    .text
                    .as_deref()
                    .is_some_and(|text| text.chars().count() < 300 && kind::offers(text))
        }
    }
}

/// The title: from the tags, else the heading that begins or ends the page's `<title>`, else the
/// `<title>`.
fn title(tree: &Tree, meta: &Meta, in_head: &str) -> String {
    if let Some(title) = meta.title() {
        return title;
    }
    let headings = tree.descendants(0).filter(|&id| tree.name(id) == "h1").take(5);
    let mut texts = headings.map(|id| tree.all_text(id));
    texts
        .find(|text| text.chars().count() > 3 && in_head.contains(text.as_str()))
        .unwrap_or_else(|| in_head.to_owned())
}
