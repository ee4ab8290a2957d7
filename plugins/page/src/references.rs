//! Character references by the HTML standard: `&amp;`, `&#8217;`, `&copy` without a semicolon.

use std::borrow::Cow;

use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};

/// Replaces the references in a text; in attributes, fewer names are accepted without a semicolon.
pub(crate) fn decode(text: &str, in_attribute: bool) -> Cow<'_, str> {
    let Some(first) = text.find('&') else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(behind) = rest.strip_prefix('&') {
        match reference(behind, in_attribute) {
            Some((length, characters)) => {
                out.extend(characters.into_iter().flatten());
                rest = &behind[length..];
            }
            None => {
                out.push('&');
                rest = behind;
            }
        }
        let next = rest.find('&').unwrap_or(rest.len());
        out.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    Cow::Owned(out)
}

/// The length of the reference after an ampersand, and its one or two characters.
fn reference(text: &str, in_attribute: bool) -> Option<(usize, [Option<char>; 2])> {
    match text.strip_prefix('#') {
        Some(number) => numeric(number).map(|(length, one)| (length + 1, [Some(one), None])),
        None => named(text, in_attribute),
    }
}

fn numeric(text: &str) -> Option<(usize, char)> {
    let hexadecimal = text.starts_with(['x', 'X']);
    let (digits, base) = if hexadecimal { (&text[1..], 16) } else { (text, 10) };
    let length = digits.find(|one: char| !one.is_digit(base)).unwrap_or(digits.len());
    if length == 0 {
        return None;
    }
    let number = u32::from_str_radix(&digits[..length], base).unwrap_or(u32::MAX);
    let semicolon = digits[length..].starts_with(';');
    let one = match number {
        0 => None,
        0x80..=0x9F => C1_REPLACEMENTS[number as usize - 0x80].or(char::from_u32(number)),
        _ => char::from_u32(number),
    };
    let length = length + usize::from(hexadecimal) + usize::from(semicolon);
    Some((length, one.unwrap_or('\u{fffd}')))
}

/// The longest name that the text begins with.
fn named(text: &str, in_attribute: bool) -> Option<(usize, [Option<char>; 2])> {
    let mut best = None;
    for length in 1..=text.len() {
        // The table also has prefixes of names, with no characters.
        let Some(&(first, second)) = text.get(..length).and_then(|it| NAMED_ENTITIES.get(it))
        else {
            break;
        };
        if first != 0 {
            let second = char::from_u32(second).filter(|&one| one != '\0');
            best = Some((length, [char::from_u32(first), second]));
        }
    }
    let (length, _) = best?;
    let next = text[length..].chars().next();
    let continues = next.is_some_and(|one| one == '=' || one.is_ascii_alphanumeric());
    best.filter(|_| text[..length].ends_with(';') || !(in_attribute && continues))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_what_is_neither_are_told_apart() {
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
    fn an_address_keeps_its_parameters() {
        assert_eq!(decode("?a=1&copy=2&lt2&amp;x&reg", true), "?a=1&copy=2&lt2&x®");
    }
}
