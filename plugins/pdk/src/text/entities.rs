//! Entities: the five of XML, numeric ones, and the named ones of HTML that sources use without
//! declaring them.

use std::borrow::Cow;

use super::named::NAMED;
use crate::scan;

/// The character of `&name;`, `name` being `amp`, `#38`, `#x26`, `eacute` and so on; `None` for an
/// unknown name and for a number that is not a character of XML.
pub fn entity(name: &str) -> Option<char> {
    // Fast path for XML's own entities, which nearly all are.
    match name {
        "amp" => return Some('&'),
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        _ => {}
    }
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix('x') {
            Some(hex) if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                u32::from_str_radix(hex, 16).ok()?
            }
            None if number.bytes().all(|byte| byte.is_ascii_digit()) => number.parse().ok()?,
            _ => return None,
        };
        return char::from_u32(code).filter(|&character| allowed(character));
    }
    let at = NAMED.binary_search_by(|(candidate, _)| candidate.cmp(&name)).ok()?;
    Some(NAMED[at].1)
}

/// Whether XML 1.0 allows the character in a document.
fn allowed(character: char) -> bool {
    !matches!(character, '\0'..='\x08' | '\x0B' | '\x0C' | '\x0E'..='\x1F' | '\u{FFFE}' | '\u{FFFF}')
}

/// Decodes entities that upstream escaped twice: after XML's own decoding, `&amp;amp;` has become
/// `&amp;`, and a reader should see `&`. An ampersand that starts no known entity is kept. Borrows
/// if nothing changes.
pub fn decode_entities(text: &str) -> Cow<'_, str> {
    /// The longest name with its ampersand and semicolon; keeps the work linear.
    const LONGEST: usize = 12;
    let mut out = String::new();
    let mut done = 0;
    let mut from = 0;
    while let Some(at) = scan::find(text.as_bytes(), from, |here| here.is(b'&')) {
        let name_end = text.as_bytes()[at..].iter().take(LONGEST).position(|&byte| byte == b';');
        if let Some((end, character)) =
            name_end.and_then(|length| Some((at + length, entity(text.get(at + 1..at + length)?)?)))
        {
            out.push_str(&text[done..at]);
            out.push(character);
            done = end + 1;
            from = done;
        } else {
            from = at + 1;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_for_the_binary_search() {
        assert!(NAMED.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn named_and_numeric_entities_are_known() {
        for (name, character) in
            [("amp", '&'), ("#233", 'é'), ("#xE9", 'é'), ("eacute", 'é'), ("AElig", 'Æ')]
        {
            assert_eq!(entity(name), Some(character), "{name}");
        }
    }

    #[test]
    fn numbers_that_are_no_character_are_unknown() {
        for name in ["#0", "#x1F", "#xD800", "#x110000", "#", "#x", "#-1", "#+38", "#99999999999"] {
            assert_eq!(entity(name), None, "{name}");
        }
        assert_eq!(entity("nosuchname"), None);
    }

    #[test]
    fn what_upstream_escaped_twice_is_decoded_once_more() {
        assert_eq!(decode_entities("R&amp;D at &lt;1 T&#233;"), "R&D at <1 Té");
    }

    #[test]
    fn an_ampersand_of_its_own_stays() {
        for text in ["R&D", "a & b; c", "&nosuchname;", "&", "&;", "x &ééééééé;"] {
            assert!(matches!(decode_entities(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn only_one_layer_is_taken_off() {
        assert_eq!(decode_entities("&amp;lt;"), "&lt;");
    }
}
