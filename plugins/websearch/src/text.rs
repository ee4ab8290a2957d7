//! Plain texts of titles and snippets.

use std::borrow::Cow;

use carrel_pdk::text::{collapse, decode_entities};

/// Elements that only mark or break words. Other names in angle brackets are what the page is about:
/// "the <template> element".
const MARKS: &[&str] = &[
    "a", "b", "big", "br", "cite", "code", "em", "font", "i", "mark", "p", "small", "span",
    "strong", "u", "wbr",
];
/// Elements whose content is no text.
const SILENT: &[&str] = &["script", "style"];
/// The most bytes of a tag.
const LONGEST_TAG: usize = 2048;

/// `text` on one line: marking tags, comments and hidden characters removed, entities decoded,
/// whitespace collapsed.
pub fn plain(text: &str) -> String {
    let bare = if text.contains('<') { Cow::Owned(without_marks(text)) } else { text.into() };
    let decoded = decode_entities(&bare);
    let visible: Cow<'_, str> = if decoded.chars().any(is_hidden) {
        let shown = |character: char| match character {
            _ if is_control(character) => Some(' '),
            _ if is_hidden(character) => None,
            _ => Some(character),
        };
        decoded.chars().filter_map(shown).collect()
    } else {
        decoded
    };
    collapse(&visible).into_owned()
}

/// The first `most` characters, to the end of a word if one ends near; an ellipsis marks the cut.
pub(crate) fn cut(text: String, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let head = &text[..end];
    let word = head.rfind(' ').filter(|space| end - space < 40).unwrap_or(end);
    format!("{}…", head[..word].trim_end())
}

fn without_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        match tag(rest) {
            Some(end) => {
                if breaks_words(&rest[..end]) {
                    out.push(' ');
                }
                rest = &rest[end..];
            }
            None => {
                out.push('<');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Whether a tag divides the words around it: `one<br>two`.
fn breaks_words(tag: &str) -> bool {
    let name = tag.trim_start_matches(['<', '/']);
    let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    name.eq_ignore_ascii_case("br") || name.eq_ignore_ascii_case("p")
}

/// The end of the tag or comment that `text` begins with, if it is one to remove.
fn tag(text: &str) -> Option<usize> {
    if text.starts_with("<!--") {
        return Some(text.find("-->").map_or(text.len(), |end| end + 3));
    }
    let name_start = if text.starts_with("</") { 2 } else { 1 };
    let name: String = text[name_start..]
        .chars()
        .take(12)
        .take_while(char::is_ascii_alphanumeric)
        .map(|character| character.to_ascii_lowercase())
        .collect();
    let silent = SILENT.contains(&name.as_str());
    if !silent && !MARKS.contains(&name.as_str()) {
        return None;
    }
    let behind = text[name_start + name.len()..].chars().next();
    if !matches!(behind, Some('>' | '/' | ' ' | '\t' | '\n' | '\r')) {
        return None;
    }
    let end = text.bytes().take(LONGEST_TAG).position(|byte| byte == b'>')? + 1;
    if !silent || name_start == 2 {
        return Some(end);
    }
    let close = text[end..].match_indices("</").map(|(at, _)| end + at).find(|at| {
        let behind = text.as_bytes().get(at + 2..at + 2 + name.len());
        behind.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    });
    let last = close.and_then(|close| Some(close + text[close..].find('>')? + 1));
    Some(last.unwrap_or(text.len()))
}

/// Control characters and separators of lines and paragraphs.
fn is_control(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Characters that reorder or hide text, or have no glyph; the host's rule is
/// `docs/reference/characters.md`, and it removes runs of joiners and selectors too.
pub(crate) fn is_hidden(character: char) -> bool {
    is_control(character)
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_removed_and_names_of_elements_stay() {
        for (text, found) in [
            ("<strong>Walled</strong> desks&nbsp;&amp; lamps", "Walled desks & lamps"),
            ("The &lt;template&gt; element", "The <template> element"),
            ("The <template> element, Vec<T>, 1 < 2", "The <template> element, Vec<T>, 1 < 2"),
            ("a<!-- do this -->b <script>run()</script>c<br/>d", "ab c d"),
            ("a <script>run(", "a"),
            ("<b", "<b"),
            ("one<br/>two<p>three</P>four<wbr>five", "one two three fourfive"),
            ("<SPAN class='x'>desk</SPAN>s", "desks"),
            ("  two\n lines\u{0}\u{7} ", "two lines"),
            ("in\u{200b}vi\u{202e}si\u{e0041}ble\u{feff}", "invisible"),
            ("&#x202e;x&#8203;", "x"),
        ] {
            assert_eq!(plain(text), found, "{text:?}");
        }
    }

    #[test]
    fn a_long_text_is_cut_behind_a_word() {
        assert_eq!(cut("one two three".to_owned(), 9), "one two…");
        assert_eq!(cut("one".to_owned(), 3), "one");
        assert_eq!(cut("é".repeat(100), 50), format!("{}…", "é".repeat(50)));
    }
}
