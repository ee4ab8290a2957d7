//! Lines joined to running text, and patterns at the start of a text.

use std::collections::HashSet;

use crate::lines::{Line, is_wide};

/// Words of the document, to decide about hyphens at line ends.
#[derive(Debug, Default)]
pub(crate) struct Words(HashSet<String>);

impl Words {
    /// Adds the words of a line except its last, which may be divided.
    pub(crate) fn add(&mut self, line: &str) {
        let mut words: Vec<&str> = line.split(' ').collect();
        words.pop();
        for word in words {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            if word.len() > 3 {
                self.0.insert(word.to_lowercase());
            }
        }
    }

    /// Adds a line's text to a text, with a hyphen at its end joined.
    pub(crate) fn append(&self, text: &mut String, line: &str) {
        let Some(last) = text.chars().next_back() else {
            text.push_str(line);
            return;
        };
        let first = line.chars().next().unwrap_or(' ');
        let is_hyphen = matches!(last, '-' | '\u{2010}' | '\u{2011}' | '\u{ad}');
        let letter = text.chars().rev().nth(1).is_some_and(char::is_alphabetic);
        if is_hyphen && letter && first.is_lowercase() {
            let before = text.rsplit(' ').next().unwrap_or_default();
            let before = before.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            let behind = line.split(' ').next().unwrap_or_default();
            let behind = behind.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            let stem = before.trim_end_matches(['-', '\u{2010}', '\u{2011}', '\u{ad}']);
            // A compound that has its hyphen elsewhere in the document keeps it.
            let keeps = self.0.contains(&format!("{stem}-{behind}"))
                && !self.0.contains(&format!("{stem}{behind}"));
            if !keeps {
                text.pop();
            }
        } else if last == '/' && is_address(text) {
            // A URL or identifier that is divided at the line's end.
        } else if is_hyphen && letter && first.is_alphanumeric() || is_wide(last) && is_wide(first)
        {
            // A compound whose second part is a name or a number, or a script without spaces.
        } else {
            text.push(' ');
        }
        text.push_str(line);
    }

    /// Lines as one running text.
    pub(crate) fn join<'l>(&self, lines: impl Iterator<Item = &'l Line>) -> String {
        let mut text = String::new();
        for line in lines {
            self.append(&mut text, &line.text);
        }
        text
    }
}

/// Whether a text ends with the start of a URL or a DOI.
fn is_address(text: &str) -> bool {
    let word = text.rsplit(' ').next().unwrap_or_default();
    word.contains("://") || word.contains("10.") || word.starts_with("www.")
}

/// A text for comparison: letters and digits in lower case.
pub(crate) fn key(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A text with its numbers replaced by `#`, to find running headers.
pub(crate) fn pattern(text: &str) -> String {
    let mut out = String::new();
    for word in text.to_lowercase().split_whitespace() {
        let core = word.trim_matches(|c: char| !c.is_alphanumeric());
        // A page number, also as 3/10; not a decimal fraction.
        let counts = core.split(['/', '-']).all(|part| is_number(part) && part.len() < 6);
        out.push_str(if counts || is_roman(core) && core.len() < 9 { "#" } else { word });
        out.push(' ');
    }
    out
}

pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

pub(crate) fn is_roman(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| matches!(c.to_ascii_lowercase(), 'i' | 'v' | 'x' | 'l' | 'c'))
}

/// The number in front of a heading: `2.1`, `A.`, `IV.`; and the rest.
pub(crate) fn numbered(text: &str) -> Option<(&str, &str)> {
    let (label, rest) = text.split_once(' ')?;
    let rest = rest.trim_start();
    let core = label.trim_end_matches(['.', ')']);
    let parts: Vec<&str> = core.split('.').collect();
    let first = parts.first()?;
    let dotted = label.len() > core.len();
    let is_letter = first.len() == 1 && first.chars().all(|c| c.is_ascii_uppercase());
    let is_first = is_number(first) && first.len() <= 2
        || is_letter && (dotted || parts.len() > 1)
        || is_roman(first) && first.chars().all(|c| c.is_ascii_uppercase()) && dotted;
    let rest_fits =
        rest.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_ascii() && c.is_alphabetic());
    let others = parts.iter().skip(1).all(|part| is_number(part) && part.len() <= 2);
    (is_first && others && rest_fits && parts.len() <= 5).then_some((label, rest))
}

/// Words that start a caption.
const CAPTIONS: [&str; 27] = [
    "figure",
    "fig.",
    "fig",
    "table",
    "tab.",
    "scheme",
    "algorithm",
    "listing",
    "plate",
    "chart",
    "box",
    "map",
    "exhibit",
    "extended data figure",
    "extended data fig.",
    "extended data table",
    "supplementary figure",
    "supplementary fig.",
    "supplementary table",
    "abbildung",
    "abb.",
    "tabelle",
    "tableau",
    "figura",
    "tabla",
    "tabela",
    "рис.",
];

/// The label of a caption, such as `Figure 2`, and where the rest starts; none if the text is not a
/// caption.
pub(crate) fn caption(text: &str) -> Option<(usize, bool)> {
    let lower =
        text.get(..text.char_indices().nth(40).map_or(text.len(), |(at, _)| at))?.to_lowercase();
    let word =
        CAPTIONS.iter().filter(|word| lower.starts_with(*word)).max_by_key(|word| word.len())?;
    let rest = text.get(word.len()..)?;
    let spaces = rest.len() - rest.trim_start().len();
    if spaces == 0 && !word.ends_with('.') || !text.chars().next().is_some_and(char::is_uppercase) {
        return None;
    }
    let number = rest.trim_start();
    let end = number
        .find(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '-'))
        .unwrap_or(number.len());
    let core = number.get(..end)?.trim_end_matches(['.', '-']);
    let digits = core.trim_start_matches(|c: char| c.is_ascii_uppercase() || c == '.');
    let numeric = digits.chars().next().is_some_and(|c| c.is_ascii_digit()) && core.len() <= 6;
    if !(numeric || is_roman(core) && core.chars().all(|c| c.is_ascii_uppercase())) {
        return None;
    }
    let at = word.len() + spaces + core.len();
    let behind = text.get(at..)?;
    let is_table = word.contains("tab");
    let next = behind.trim_start().chars().next();
    let punctuated = behind.starts_with(['.', ':', '|'])
        || behind.trim_start().starts_with([':', '|', '–', '—', '-', '.']);
    let capital = behind.starts_with(' ') && next.is_some_and(|c| c.is_uppercase() || c == '(');
    (punctuated || capital || behind.trim().is_empty()).then_some((at, is_table))
}

/// Bullets of lists.
pub(crate) fn bullet(text: &str) -> Option<&str> {
    let mut characters = text.chars();
    let first = characters.next()?;
    let known = matches!(
        first,
        '•' | '◦'
            | '▪'
            | '‣'
            | '●'
            | '○'
            | '■'
            | '□'
            | '∙'
            | '⋅'
            | '►'
            | '➢'
            | '✓'
            | '\u{f0b7}'
            | '\u{f0a7}'
    );
    let dash = matches!(first, '–' | '—' | '-' | '*' | '·');
    let rest = characters.as_str();
    let spaced = rest.starts_with(' ');
    let rest = rest.trim_start();
    (known && !rest.is_empty()
        || dash && spaced && rest.chars().next().is_some_and(char::is_alphabetic))
    .then_some(rest)
}
