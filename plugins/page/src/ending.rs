//! Leaves out what page templates add below the text of an article: footers of blog software, links
//! to load or read more, empty ratings, copyright notices.

use crate::article::Selection;
use crate::dom::{Id, Tree, is_inline};

/// Lines of one template at most, and characters of all of them.
const LINES: usize = 4;
const LONGEST: usize = 300;

/// Beginnings of such lines, in lower case.
const LINE_BEGINS: &[&str] = &[
    "loading...",
    "loading…",
    "load more",
    "lade weitere",
    "mehr laden",
    "show more",
    "mehr anzeigen",
    "(no ratings",
    "no ratings",
    "(noch keine bewertung",
    "noch keine bewertung",
    "this entry was posted",
    "this post was posted",
    "this post was published",
    "posted on",
    "filed under",
    "dieser beitrag wurde",
    "dieser eintrag wurde",
    "dieser artikel wurde",
    "erstellt am",
    "veröffentlicht am",
    "veröffentlicht in",
    "abgelegt unter",
    "cet article a été publié",
    "ce contenu a été publié",
    "esta entrada fue publicada",
    "questo articolo è stato pubblicato",
    "copyright 1",
    "copyright 2",
    "copyright ©",
    "copyright (c)",
    "copyright by",
    "©",
    "(c) ",
    "alle rechte vorbehalten",
    "all rights reserved",
    "tous droits réservés",
    "todos los derechos reservados",
    "tutti i diritti riservati",
];

/// Ends of a teaser of another article, in lower case.
const TEASER_ENDS: &[&str] = &[
    "weiterlesen",
    "mehr lesen",
    "read more",
    "continue reading",
    "lire la suite",
    "leggi tutto",
    "leer más",
    "seguir leyendo",
    "lees verder",
    "leia mais",
];

/// Leaves out the last lines of a text while they belong to its template.
pub(crate) fn trim_ending(tree: &Tree, selection: &mut Selection) {
    // A short text may be nothing but headings and lines of these words.
    let mut most = LONGEST.min(selection.chars / 8);
    for _ in 0..LINES {
        let Some(block) = last_block(tree, selection) else { return };
        // Most last blocks are long; their text is not needed to know that.
        let bytes: usize =
            tree.descendants(block).filter_map(|id| tree.text(id)).map(str::len).sum();
        if bytes > 4 * most + 400 {
            return;
        }
        let text = tree.all_text(block);
        let text = text.trim();
        let chars = text.chars().count();
        if chars > most || !is_template(tree.name(block), &text.to_lowercase()) {
            return;
        }
        most -= chars;
        selection.gone[block..tree.end(block)].fill(true);
    }
}

/// Whether a last line is none of the article's.
fn is_template(name: &str, text: &str) -> bool {
    let end = text.trim_end_matches(|character: char| !character.is_alphabetic());
    matches!(name, "h2" | "h3" | "h4" | "h5" | "h6")
        || LINE_BEGINS.iter().any(|beginning| text.starts_with(beginning))
        || TEASER_ENDS.iter().any(|ending| end.ends_with(ending))
}

/// The block with the last text of a selection.
fn last_block(tree: &Tree, selection: &Selection) -> Option<Id> {
    let has_text = |id: &Id| {
        !selection.gone[*id] && tree.text(*id).is_some_and(|text| !text.trim().is_empty())
    };
    let (root, text) = selection
        .roots
        .iter()
        .rev()
        .find_map(|&root| Some((root, tree.descendants(root).rev().find(has_text)?)))?;
    let block = tree.ancestors(text).find(|&id| !is_inline(tree.name(id)))?;
    // The block of an article's only text is not its ending.
    (block > root && tree.descendants(root).any(|id| id < block && has_text(&id))).then_some(block)
}
