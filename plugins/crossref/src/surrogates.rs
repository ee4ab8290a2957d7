//! Escapes of half a character: `\ud83d` without its other half. JSON's grammar allows them, no text can
//! hold them, and one of them in a page of a hundred works should cost a character, not the page.

use std::borrow::Cow;

use memchr::memmem::Finder;

/// `json` with every such escape replaced by the one of U+FFFD, which is as long, so that places stay
/// where they are. Borrows when there is none.
pub(crate) fn replaced(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let escape = Finder::new(b"\\u");
    let mut lone = Vec::new();
    let mut from = 0;
    while let Some(found) = bytes.get(from..).and_then(|rest| escape.find(rest)) {
        let at = from + found;
        // A backslash that is itself escaped starts nothing; it takes an odd number of them.
        let before = bytes[..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
        if before % 2 == 1 {
            from = at + 2;
            continue;
        }
        from = match half(bytes, at) {
            None => at + 2,
            Some(Half::High) if half(bytes, at + 6) == Some(Half::Low) => at + 12,
            Some(_) => {
                lone.push(at);
                at + 6
            }
        };
    }
    if lone.is_empty() {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut done = 0;
    for at in lone {
        out.push_str(&json[done..at]);
        out.push_str("\\ufffd");
        done = at + 6;
    }
    out.push_str(&json[done..]);
    Cow::Owned(out)
}

#[derive(PartialEq)]
enum Half {
    High,
    Low,
}

/// Which half of a character the escape at `at` is, if it is one.
fn half(bytes: &[u8], at: usize) -> Option<Half> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let code = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    match code {
        0xD800..=0xDBFF => Some(Half::High),
        0xDC00..=0xDFFF => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_without_their_other_half_are_replaced() {
        for (given, expected) in [
            (r#""\ud83d\udc18""#, r#""\ud83d\udc18""#),
            (r#""\uD83D x""#, r#""\ufffd x""#),
            (r#""\udc18\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\udc18""#, r#""\ufffd\ud83d\udc18""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\u00fc \u+123 \u""#, r#""\u00fc \u+123 \u""#),
            ("\\ud83", "\\ud83"),
            ("é\\ud83dé", "é\\ufffdé"),
        ] {
            assert_eq!(replaced(given), expected, "{given}");
        }
        assert!(matches!(replaced(r#""\ud83d\udc18""#), Cow::Borrowed(_)));
    }
}
