//! Percent-encoding of text in URLs.

use std::borrow::Cow;

/// Encodes the value of a query parameter: everything but letters, digits and `-._~:,/@`, which no
/// server reads as syntax there, so that logs and recordings are readable.
pub fn query(value: &str) -> String {
    encode(value, b":,/@")
}

/// Encodes one segment of a path: everything but letters, digits and `-._~`.
pub fn segment(value: &str) -> String {
    encode(value, b"")
}

/// Encodes a path: like [`segment`], but keeps slashes and the characters without a meaning in a
/// path, `:;,()@!$'*=`.
pub fn path(value: &str) -> String {
    encode(value, b"/:;,()@!$'*=")
}

fn encode(value: &str, allowed: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || allowed.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
    out
}

/// Decodes every `%XX`. Other percent signs are kept; if the decoded bytes are not UTF-8, the whole
/// text is returned unchanged.
pub fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = if byte == b'%' { bytes.get(at + 1..at + 3) } else { None };
        match escaped.and_then(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)) {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_query_keeps_what_servers_do_not_read_as_syntax() {
        assert_eq!(query("au:del_maestro AND ti:\"a&b\""), "au:del_maestro%20AND%20ti:%22a%26b%22");
        assert_eq!(query("C++ é"), "C%2B%2B%20%C3%A9");
    }

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(decode("100% %zz %4"), "100% %zz %4");
        assert_eq!(decode("%ff"), "%ff");
    }

    proptest! {
        #[test]
        fn decoding_undoes_every_encoding(text in ".{0,40}") {
            for encoded in [query(&text), segment(&text), path(&text)] {
                prop_assert_eq!(decode(&encoded), text.as_str());
            }
        }

        #[test]
        fn a_segment_is_one_segment(text in ".{0,40}") {
            let encoded = segment(&text);
            prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)));
        }
    }
}
