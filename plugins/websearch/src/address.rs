//! Checks the URLs of results.

use std::borrow::Cow;

use carrel_pdk::url;

use crate::text::is_hidden;

/// The most bytes of a URL.
const LONGEST: usize = 4096;

/// `text` as an http or https URL, or `None` when it is not one. Characters behind the host are
/// encoded as a browser does. A host in another script is kept as it is: the host of the plugin
/// writes it in punycode.
pub(crate) fn address(text: &str) -> Option<Cow<'_, str>> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    if let Some(url) = url::well_formed(text) {
        return Some(url);
    }
    let colon = text.find("://")?;
    let scheme = &text[..colon];
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let start = colon + 3;
    let end = text[start..].find(['/', '?', '#']).map_or(text.len(), |end| start + end);
    let host = &text[start..end];
    if host.is_ascii() || !is_name(host) {
        return None;
    }
    // Only the part behind the host is checked and encoded.
    let tail = url::well_formed(&format!("https://host.example{}", &text[end..]))?
        .into_owned()
        .split_off("https://host.example".len());
    Some(Cow::Owned(format!("{}{tail}", &text[..end])))
}

/// Whether a host in another script has labels, and nothing that hides or divides.
fn is_name(host: &str) -> bool {
    let labels = || host.split(['.', '。']);
    host.chars().count() <= 253
        && labels().all(|label| !label.is_empty())
        && !host.chars().any(|character| {
            is_hidden(character)
                || character.is_whitespace()
                || (character.is_ascii_punctuation() && !matches!(character, '.' | '-' | '_'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_addresses_are_kept_and_others_are_not() {
        for (text, found) in [
            (" https://example.org/a b ", None),
            ("https://example.org/desk", Some("https://example.org/desk")),
            ("https://example.org/Möbel", Some("https://example.org/M%C3%B6bel")),
            (
                "https://möbel.example/Tür?x=ü#ß",
                Some("https://möbel.example/T%C3%BCr?x=%C3%BC#%C3%9F"),
            ),
            ("https://пример.example", Some("https://пример.example")),
            ("https://möbel.example@evil.example/", None),
            ("https://mö\u{202e}bel.example/", None),
            ("ftp://example.org/desk", None),
            ("javascript:alert(1)", None),
            ("data:text/html,x", None),
            ("/desk", None),
            ("", None),
        ] {
            assert_eq!(address(text).as_deref(), found, "{text}");
        }
        assert_eq!(address(&format!("https://example.org/{}", "a".repeat(5000))), None);
    }
}
