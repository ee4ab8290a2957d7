//! Character references by the HTML standard: `&amp;`, `&#8217;`, `&copy` without a semicolon.

use std::borrow::Cow;

use html5ever::data::C1_REPLACEMENTS;

use crate::entities::ENTITIES;

/// Letters of the longest name.
const LONGEST: usize = 31;

/// Replaces the references in a text; in attributes, fewer names are accepted without a semicolon.
pub(crate) fn decode(text: &str, in_attribute: bool) -> Cow<'_, str> {
    let Some(first) = text.find('&') else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(behind) = rest.strip_prefix('&') {
        if let Some((length, character)) = behind.strip_prefix('#').and_then(numeric) {
            out.push(character);
            rest = &behind[1 + length..];
        } else if let Some((length, characters)) = named(behind, in_attribute) {
            out.push_str(characters);
            rest = &behind[length..];
        } else {
            out.push('&');
            rest = behind;
        }
        let next = rest.find('&').unwrap_or(rest.len());
        out.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    Cow::Owned(out)
}

fn numeric(text: &str) -> Option<(usize, char)> {
    let hexadecimal = text.starts_with(['x', 'X']);
    let (digits, base) = if hexadecimal { (&text[1..], 16) } else { (text, 10) };
    let length = digits.find(|character: char| !character.is_digit(base)).unwrap_or(digits.len());
    if length == 0 {
        return None;
    }
    let number = u32::from_str_radix(&digits[..length], base).unwrap_or(u32::MAX);
    let semicolon = digits[length..].starts_with(';');
    let character = match number {
        0 => None,
        0x80..=0x9F => C1_REPLACEMENTS[number as usize - 0x80].or(char::from_u32(number)),
        _ => char::from_u32(number),
    };
    let length = length + usize::from(hexadecimal) + usize::from(semicolon);
    Some((length, character.unwrap_or('\u{fffd}')))
}

/// The longest name that the text begins with, and its characters.
fn named(text: &str, in_attribute: bool) -> Option<(usize, &'static str)> {
    let letters = text.bytes().take(LONGEST).take_while(u8::is_ascii_alphanumeric).count();
    let (length, characters) = (2..=letters + 1).rev().find_map(|length| {
        let name = text.get(..length)?;
        let at = ENTITIES.binary_search_by(|&(known, _)| known.cmp(name)).ok()?;
        Some((length, ENTITIES[at].1))
    })?;
    let next = text[length..].bytes().next();
    let continues = next.is_some_and(|byte| byte == b'=' || byte.is_ascii_alphanumeric());
    let is_old = !text[..length].ends_with(';');
    (!(is_old && in_attribute && continues)).then_some((length, characters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_decoded_and_other_text_is_kept() {
        for (text, decoded) in [
            ("a &amp; b", "a & b"),
            ("&amp&lt", "&<"),
            ("&notit; &notin;", "¬it; ∉"),
            ("&#65;&#x42;&#X43 D", "ABC D"),
            ("&#0; &#x110000; &#xD800;", "\u{fffd} \u{fffd} \u{fffd}"),
            ("&#150;&#129;", "–\u{81}"),
            ("& &; &# &#; &#x; &unknown;", "& &; &# &#; &#x; &unknown;"),
            ("&NotEqualTilde;&", "≂\u{338}&"),
        ] {
            assert_eq!(decode(text, false), decoded);
        }
    }

    #[test]
    fn every_name_is_known_and_in_order() {
        assert!(ENTITIES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let mut known = 0;
        for (name, &(first, second)) in html5ever::data::NAMED_ENTITIES.entries() {
            let characters = [first, second].into_iter().filter(|&code_point| code_point != 0);
            let text: String = characters.filter_map(char::from_u32).collect();
            if !text.is_empty() {
                known += 1;
                assert_eq!(decode(&format!("&{name}"), false), text, "{name}");
                assert_eq!(decode(&format!("&{name}\u{e9}"), true), format!("{text}\u{e9}"));
            }
        }
        assert_eq!(known, ENTITIES.len());
        assert!(ENTITIES.iter().all(|(name, _)| name.trim_end_matches(';').len() <= LONGEST));
    }

    #[test]
    fn an_address_keeps_its_parameters() {
        assert_eq!(decode("?a=1&copy=2&lt2&amp;x&reg", true), "?a=1&copy=2&lt2&x®");
    }
}
