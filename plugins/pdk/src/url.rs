//! Checks URLs without the tables of a full URL library: host names in other scripts, which need
//! Unicode data, do not occur in the sources and are refused.

use std::borrow::Cow;

use crate::scan::{self, Lanes};

/// `text` as an http or https URL that RFC 3986 allows, or `None` when it is not one.
///
/// Like a browser, encodes characters that are not allowed in a path, query or fragment (`<`, `>`,
/// quotes, a percent sign that starts no escape, letters of other scripts); unlike a browser,
/// refuses user info, addresses in brackets, and anything but a DNS name as host. Borrows when
/// nothing changes.
pub fn well_formed(text: &str) -> Option<Cow<'_, str>> {
    let host_start = host_start(text)?;
    let scheme = &text[..host_start - 3];
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let tail_start = host_end(text, host_start);
    if !is_authority(&text[host_start..tail_start]) {
        return None;
    }
    let tail = &text[tail_start..];
    if all_plain(tail.as_bytes()) {
        return Some(Cow::Borrowed(text));
    }
    if tail.chars().any(|character| character.is_control() || character.is_whitespace()) {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..tail_start]);
    let mut in_fragment = false;
    for (at, character) in tail.char_indices() {
        let allowed = match character {
            '%' => is_escape(tail.as_bytes(), at),
            '#' => !std::mem::replace(&mut in_fragment, true),
            _ => character.is_ascii() && is_plain(character as u8),
        };
        if allowed {
            out.push(character);
        } else {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    Some(Cow::Owned(out))
}

/// What follows the host of a URL: path, query and fragment.
pub fn after_host(url: &str) -> Option<&str> {
    Some(&url[host_end(url, host_start(url)?)..])
}

/// Where the host begins, behind `://`.
fn host_start(url: &str) -> Option<usize> {
    let colon = scan::find(url.as_bytes(), 0, |here| here.is(b':'))?;
    url[colon..].starts_with("://").then_some(colon + 3)
}

fn host_end(url: &str, host_start: usize) -> usize {
    let ends = |here: Lanes| here.is(b'/').or(here.is(b'?')).or(here.is(b'#'));
    scan::find(url.as_bytes(), host_start, ends).unwrap_or(url.len())
}

/// A character that is allowed unencoded after the host. `%` and `#` depend on their context.
fn is_plain(byte: u8) -> bool {
    all_plain(&[byte])
}

fn all_plain(bytes: &[u8]) -> bool {
    let is_not_plain = |here: Lanes| {
        let letters = here.with_bits(0x20).in_range(b'a', 26);
        // &'()*+,-./0123456789:; and ?@
        let middle = here.in_range(b'&', b'<' - b'&').or(here.in_range(b'?', 2));
        let others = here.is(b'!').or(here.is(b'$')).or(here.is(b'='));
        letters.or(middle).or(others).or(here.is(b'_')).or(here.is(b'~')).not()
    };
    scan::find(bytes, 0, is_not_plain).is_none()
}

fn is_escape(bytes: &[u8], at: usize) -> bool {
    bytes.get(at + 1..at + 3).is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit))
}

/// A DNS name, with or without a port.
fn is_authority(authority: &str) -> bool {
    const LONGEST_NAME: usize = 253;
    const LONGEST_LABEL: usize = 63;
    let bytes = authority.as_bytes();
    let colon = scan::find(bytes, 0, |here| here.is(b':'));
    let port_right = colon.is_none_or(|colon| {
        let port = &authority[colon + 1..];
        port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
    });
    let host = &bytes[..colon.unwrap_or(bytes.len())];
    let name = host.strip_suffix(b".").unwrap_or(host);
    if port_right && name.len() <= LONGEST_LABEL && is_short_name(name) {
        return true;
    }
    let mut label = 0;
    for &byte in name {
        match byte {
            b'.' if (1..=LONGEST_LABEL).contains(&label) => label = 0,
            b'-' | b'_' => label += 1,
            _ if byte.is_ascii_alphanumeric() => label += 1,
            _ => return false,
        }
    }
    port_right && name.len() <= LONGEST_NAME && (1..=LONGEST_LABEL).contains(&label)
}

/// Whether a name that is no longer than a label may be is labels with a dot between them.
fn is_short_name(name: &[u8]) -> bool {
    let is_not_allowed = |here: Lanes| {
        let letters = here.with_bits(0x20).in_range(b'a', 26);
        let digits = here.in_range(b'0', 10);
        letters.or(digits).or(here.in_range(b'-', 2)).or(here.is(b'_')).not()
    };
    let dots = matches!(name, [] | [b'.', ..] | [.., b'.']);
    !dots && scan::find_or_twice(name, 0, is_not_allowed, b'.').is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_characters_are_those_of_the_standard() {
        let plain =
            b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?@!$&'()*+,;=";
        for byte in 0..=255 {
            assert_eq!(is_plain(byte), plain.contains(&byte), "{byte}");
        }
    }

    proptest! {
        #[test]
        fn a_short_host_is_judged_as_a_long_one(host in "[a-cZ0_.:-]{0,12}") {
            // Padded with leading labels, so that the fast path is not taken.
            let long = format!("{0}.{0}.{host}", "a".repeat(40));
            let whole = format!("x.{host}");
            prop_assert_eq!(is_authority(&whole), is_authority(&long));
        }
    }

    #[test]
    fn what_is_well_formed_is_borrowed() {
        for url in [
            "http://arxiv.org/abs/hep-ex/0307015v1",
            "https://arxiv.org",
            "https://doi.org/10.1000/(a)b:c,d;e",
            "HTTPS://example.org:8080/a?b=c&d=e",
            "https://example.org./",
        ] {
            assert!(matches!(well_formed(url), Some(Cow::Borrowed(same)) if same == url), "{url}");
        }
    }

    #[test]
    fn what_a_browser_would_encode_is_encoded() {
        for (url, encoded) in [
            ("https://doi.org/10.1/a<b>c", "https://doi.org/10.1/a%3Cb%3Ec"),
            ("https://doi.org/10.1/a%b", "https://doi.org/10.1/a%25b"),
            ("https://doi.org/10.1/a%3Cb", "https://doi.org/10.1/a%3Cb"),
            ("https://doi.org/10.1/日", "https://doi.org/10.1/%E6%97%A5"),
            ("https://example.org/a#b#c", "https://example.org/a#b%23c"),
            ("https://example.org/[a]|\"b\"", "https://example.org/%5Ba%5D%7C%22b%22"),
        ] {
            assert_eq!(well_formed(url).as_deref(), Some(encoded));
        }
    }

    #[test]
    fn what_is_malformed_is_refused() {
        for text in [
            "",
            "not a url",
            "arxiv.org/abs/2301.00001",
            "/abs/2301.00001",
            "//arxiv.org/abs",
            "http:/arxiv.org",
            "http://",
            "https:///path",
            "https://exa mple.org/",
            "https://example.org/a b",
            "https://example.org/a\nb",
            "https://user@example.org/",
            "https://user:pw@example.org/",
            "https://[::1]/",
            "https://[bad/",
            "https://example.org:port/",
            "https://example.org:99999/",
            "https://exämple.org/",
            "https://.example.org/",
            "https://example..org/",
            "ftp://example.org/",
            "javascript:alert(1)",
            "javascript://example.org/%0Aalert(1)",
        ] {
            assert_eq!(well_formed(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_result_is_ascii_and_stable(tail in r"\PC{0,40}") {
            let text = format!("https://example.org/{tail}");
            if let Some(url) = well_formed(&text) {
                prop_assert!(url.bytes().all(|byte| is_plain(byte) || b"%#".contains(&byte)));
                let again = well_formed(&url);
                prop_assert_eq!(again.as_deref(), Some(&*url));
            }
        }
    }
}
