//! Text case: lower, upper, capitals by word, sentence case and the title case of English.

use super::{Mark, Node, Span};
use crate::style::elements::{Case, Vertical};

/// Words that title case leaves small, but as the first or last word.
const SMALL: &[&str] = &[
    "a",
    "about",
    "above",
    "across",
    "afore",
    "after",
    "against",
    "al",
    "along",
    "alongside",
    "amid",
    "amidst",
    "among",
    "amongst",
    "an",
    "and",
    "anenst",
    "apropos",
    "apud",
    "around",
    "as",
    "aside",
    "astride",
    "at",
    "athwart",
    "atop",
    "barring",
    "before",
    "behind",
    "below",
    "beneath",
    "beside",
    "besides",
    "between",
    "beyond",
    "but",
    "by",
    "c",
    "ca",
    "circa",
    "de",
    "despite",
    "down",
    "during",
    "e",
    "et",
    "except",
    "for",
    "forenenst",
    "from",
    "given",
    "in",
    "inside",
    "into",
    "lest",
    "like",
    "modulo",
    "near",
    "next",
    "nor",
    "notwithstanding",
    "of",
    "off",
    "on",
    "onto",
    "or",
    "out",
    "over",
    "per",
    "plus",
    "pro",
    "qua",
    "sans",
    "since",
    "so",
    "than",
    "the",
    "through",
    "throughout",
    "thruout",
    "till",
    "to",
    "toward",
    "towards",
    "under",
    "underneath",
    "until",
    "unto",
    "up",
    "upon",
    "v",
    "van",
    "versus",
    "via",
    "von",
    "vs",
    "vs.",
    "with",
    "within",
    "without",
    "yet",
];

/// Applies a text case to the content of an element.
pub(crate) fn apply(nodes: &mut [Node], case: Case, english: bool) {
    match case {
        Case::Lower => each(nodes, &mut |text| *text = text.to_lowercase()),
        Case::Upper => each(nodes, &mut |text| *text = text.to_uppercase()),
        Case::CapitalizeFirst => {
            let mut done = false;
            each(nodes, &mut |text| {
                if !done && text.chars().any(char::is_alphanumeric) {
                    done = true;
                    // A word with capitals inside, such as arXiv, stays.
                    let ends = |c: char| c.is_whitespace() || c == '-';
                    let word = text.split(ends).find(|word| has_letter(word));
                    if !word.is_some_and(|word| word.chars().any(char::is_uppercase)) {
                        *text = capitalized(text);
                    }
                }
            });
        }
        Case::CapitalizeAll => words(nodes, &mut |word, _| {
            (!word.chars().any(char::is_uppercase)).then(|| capitalized(word))
        }),
        Case::Sentence => sentence(nodes),
        Case::Title if english => title(nodes),
        Case::Title => {}
    }
}

/// Applies a function to every text whose case may change.
fn each(nodes: &mut [Node], change: &mut dyn FnMut(&mut String)) {
    for node in nodes {
        match node {
            Node::Text(text) => change(text),
            Node::Span(span) if keeps_case(span) => {}
            Node::Span(span) => each(&mut span.children, change),
        }
    }
}

/// Whether a span keeps its case: marked so, small capitals, superscripts and subscripts.
fn keeps_case(span: &Span) -> bool {
    span.mark == Some(Mark::NoCase)
        || span.formatting.small_caps == Some(true)
        || matches!(span.formatting.vertical, Some(Vertical::Superscript | Vertical::Subscript))
}

/// The text with its first letter in upper case.
pub(crate) fn capitalized(text: &str) -> String {
    let Some((at, first)) = text.char_indices().find(|(_, c)| c.is_alphanumeric()) else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..at]);
    out.extend(first.to_uppercase());
    out.push_str(&text[at + first.len_utf8()..]);
    out
}

/// Capitalizes the term or label that nodes begin with, if they do.
pub(crate) fn capitalize_leading_term(nodes: &mut [Node]) {
    let mut leading = nodes.iter_mut().find(|node| !node.is_empty());
    while let Some(Node::Span(span)) = leading {
        if span.mark == Some(Mark::Term) {
            apply(&mut span.children, Case::CapitalizeFirst, true);
            return;
        }
        leading = span.children.iter_mut().find(|node| !node.is_empty());
    }
}

/// Where a word is.
struct WordPosition {
    first: bool,
    last: bool,
    /// Behind a colon, question mark or exclamation mark.
    restarts: bool,
    /// Before a hyphen.
    hyphen: bool,
    /// Behind a hyphen, or a word that has one.
    hyphenated: bool,
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '–' | '—' | '/' | '‐' | ':' | '?' | '!')
}

/// Applies a function to every word, with its position; `None` leaves the word.
fn words(nodes: &mut [Node], change: &mut dyn FnMut(&str, &WordPosition) -> Option<String>) {
    let mut total = 0;
    each(nodes, &mut |text| {
        total += text.split(is_separator).filter(|word| has_letter(word)).count();
    });
    // A last word that keeps its case is the last one.
    total += usize::from(last_keeps_case(nodes));
    let mut count = 0;
    let mut restarts = false;
    let mut hyphens = false;
    each(nodes, &mut |text| {
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let end = rest.find(is_separator).unwrap_or(rest.len());
            let word = &rest[..end];
            if has_letter(word) {
                count += 1;
                let hyphen = rest[end..].starts_with('-');
                let hyphenated = hyphens;
                hyphens |= hyphen;
                let (first, last) = (count == 1, count == total);
                let position = WordPosition { first, last, restarts, hyphen, hyphenated };
                restarts = false;
                match change(word, &position) {
                    Some(changed) => out.push_str(&changed),
                    None => out.push_str(word),
                }
            } else {
                out.push_str(word);
            }
            rest = &rest[end..];
            if let Some(separator) = rest.chars().next() {
                out.push(separator);
                if matches!(separator, ':' | '?' | '!') {
                    restarts = true;
                } else if !separator.is_whitespace() {
                    restarts = false;
                }
                rest = &rest[separator.len_utf8()..];
            }
        }
        *text = out;
    });
}

/// Whether the last word is in a span that keeps its case.
fn last_keeps_case(nodes: &[Node]) -> bool {
    let last =
        nodes.iter().rev().find(|node| has_letter(&super::plain(std::slice::from_ref(*node))));
    match last {
        Some(Node::Span(span)) => keeps_case(span) || last_keeps_case(&span.children),
        _ => false,
    }
}

fn has_letter(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

fn sentence(nodes: &mut [Node]) {
    words(nodes, &mut |word, position| {
        Some(if position.first { capitalized(word) } else { word.to_lowercase() })
    });
}

fn title(nodes: &mut [Node]) {
    words(nodes, &mut |word, position| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '.');
        let edge = position.first || position.last || position.restarts;
        if bare.chars().any(char::is_uppercase) {
            return None;
        }
        let head: String = bare.split('.').next().unwrap_or_default().to_owned();
        let mut letters = head.chars();
        let (first, second) = (letters.next(), letters.next());
        if matches!(second, Some('’' | '\'')) {
            return position.first.then(|| capitalized(word));
        }
        let short = second.is_none();
        let small = SMALL.contains(&bare) || SMALL.contains(&bare.trim_end_matches('.'));
        if small && !edge && (!position.hyphen || position.hyphenated) {
            return None;
        }
        if short && !(position.first || position.restarts || (position.hyphen && bare.is_ascii())) {
            return None;
        }
        // A word behind another sign than a bracket or quotation mark keeps its case.
        let sign = word.chars().next().filter(|c| !c.is_alphanumeric());
        if sign.is_some_and(|sign| !"([“‘’\"'".contains(sign)) && !edge {
            return None;
        }
        first.is_some_and(char::is_alphabetic).then(|| capitalized(word))
    });
}
