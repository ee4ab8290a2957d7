//! Checks the URLs of results, and reads the targets of search engines' redirects.

use std::borrow::Cow;

use carrel_pdk::{percent, url};

use crate::text::is_hidden;

/// The most bytes of a URL.
const LONGEST: usize = 4096;

/// Pages that count a click and lead to another address: the host or a part of it between dots, the
/// path, and the parameters that may have the target.
const REDIRECTS: &[(&str, &str, &[&str])] = &[
    ("duckduckgo", "/l", &["uddg"]),
    ("google", "/url", &["q", "url"]),
    ("google", "/imgres", &["imgrefurl"]),
    ("bing", "/ck/a", &["u"]),
    ("yahoo", "/RU=", &[]),
    ("yandex", "/clck/jsredir", &["url"]),
    ("youtube", "/redirect", &["q"]),
    ("facebook", "/l.php", &["u"]),
];
/// Paths of the search engines that lead to an advertiser, or have a target that cannot be read.
const ADVERTISEMENTS: &[(&str, &str)] =
    &[("duckduckgo", "/y.js"), ("google", "/aclk"), ("bing", "/aclick"), ("bing", "/aclk")];
/// The most redirects that are read inside one another.
const NESTED: usize = 3;

/// The address of a page: `text` as an http or https URL, or `None` when it is not one. Of a search
/// engine's redirect it is the target; advertisements and redirects without a target are `None`.
///
/// Characters behind the host are encoded as a browser does. A host in another script is kept as it
/// is: the host of the plugin writes it in punycode.
pub fn address(text: &str) -> Option<Cow<'_, str>> {
    let mut found = web_address(text)?;
    for _ in 0..NESTED {
        match target(&found) {
            Target::None => return Some(found),
            Target::Hidden => return None,
            Target::Url(url) => found = Cow::Owned(web_address(&url)?.into_owned()),
        }
    }
    None
}

/// Where a redirect leads.
enum Target {
    /// The address is no redirect.
    None,
    /// It leads to an advertiser, or its target cannot be read.
    Hidden,
    Url(String),
}

fn target(url: &str) -> Target {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, behind) = rest.split_at(end);
    let behind = behind.split('#').next().unwrap_or_default();
    let (path, query) = behind.split_once('?').unwrap_or((behind, ""));
    // `www.google.co.uk` is a host of `google`; `google.example.org` is not: at most a country's
    // second level follows the name.
    let host = host.to_ascii_lowercase();
    let is_of = |name: &str| {
        let labels: Vec<&str> = host.split('.').collect();
        labels.iter().position(|label| *label == name).is_some_and(|at| {
            let suffix = &labels[at + 1..];
            suffix.len() == 1 || (suffix.len() == 2 && suffix.iter().all(|label| label.len() <= 3))
        })
    };
    let path = path.trim_end_matches('/');
    if ADVERTISEMENTS.iter().any(|(name, own)| path == *own && is_of(name)) {
        return Target::Hidden;
    }
    for (name, own, parameters) in REDIRECTS {
        let in_path = own.ends_with('=');
        let fits = if in_path { path.contains(own) } else { path == *own };
        if !fits || !is_of(name) {
            continue;
        }
        let written = if in_path {
            path.split_once(own).map(|(_, rest)| rest.split('/').next().unwrap_or(rest))
        } else {
            let values = || query.split('&').filter_map(|part| part.split_once('='));
            parameters
                .iter()
                .find_map(|param| values().find(|(key, value)| key == param && !value.is_empty()))
                .map(|(_, value)| value)
        };
        return match written.and_then(decoded) {
            Some(url) => Target::Url(url),
            None => Target::Hidden,
        };
    }
    Target::None
}

/// A target as a parameter has it: encoded in percent, or in Base64 behind `a1`.
fn decoded(written: &str) -> Option<String> {
    let url = match written.strip_prefix("a1") {
        Some(rest) => String::from_utf8(base64(rest)?).ok()?,
        None => percent::decode(written).into_owned(),
    };
    // A target within the search engine is a page of its own, not of the web.
    (url.starts_with("http") || url.starts_with("//")).then_some(url)
}

/// Bytes of Base64 in the alphabet of URLs, without or with padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut buffer, mut bits) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return None,
        };
        buffer = (buffer << 6 | u32::from(value)) & 0xFFFF;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(buffer >> bits & 0xFF).ok()?);
        }
    }
    Some(bytes)
}

fn web_address(text: &str) -> Option<Cow<'_, str>> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    if text.starts_with("//") {
        let whole = format!("https:{text}");
        return web_address(&whole).map(|url| Cow::Owned(url.into_owned()));
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

    #[test]
    fn a_redirect_of_a_search_engine_is_its_target() {
        let desk = Some("https://example.org/desk?a=1&b=2");
        let encoded = "https%3A%2F%2Fexample.org%2Fdesk%3Fa%3D1%26b%3D2";
        for (text, found) in [
            (format!("//duckduckgo.com/l/?uddg={encoded}&rut=1f"), desk),
            (format!("https://html.duckduckgo.com/l?kh=-1&uddg={encoded}"), desk),
            (format!("https://www.google.com/url?q={encoded}&sa=U&ved=2a"), desk),
            (format!("https://www.google.co.uk/url?sa=t&url={encoded}#x"), desk),
            (format!("http://google.de/url?q=&url={encoded}"), desk),
            (format!("https://r.search.yahoo.com/_ylt=A/RV=2/RE=1/RO=10/RU={encoded}/RK=2/RS=x"), desk),
            (
                "https://www.bing.com/ck/a?!&&p=1f&u=a1aHR0cHM6Ly9leGFtcGxlLm9yZy9kZXNrP2E9MSZiPTI&ntb=1".to_owned(),
                desk,
            ),
            (format!("https://l.facebook.com/l.php?u={encoded}&h=A"), desk),
            // A redirect to a redirect.
            ("https://www.google.com/url?q=https%3A%2F%2Fwww.google.com%2Furl%3Fq%3Dhttps%253A%252F%252Fexample.org%252Fdesk%253Fa%253D1%2526b%253D2".to_owned(), desk),
            // Without a target, to an own page, to what is no address, to itself without end.
            ("https://www.google.com/url?q=".to_owned(), None),
            ("https://www.google.com/url?q=/search%3Fq%3Dx".to_owned(), None),
            ("https://www.google.com/url?q=javascript:alert(1)".to_owned(), None),
            ("https://www.bing.com/ck/a?u=a1%%%".to_owned(), None),
            // Advertisements.
            ("https://duckduckgo.com/y.js?ad_domain=x&u3=https%3A%2F%2Fexample.org".to_owned(), None),
            ("https://www.google.com/aclk?sa=l&adurl=https://example.org".to_owned(), None),
            // Other pages of these hosts, and hosts that only look alike.
            ("https://www.google.com/search?q=https%3A%2F%2Fexample.org".to_owned(), Some("https://www.google.com/search?q=https%3A%2F%2Fexample.org")),
            ("https://google.example.org/url?q=x".to_owned(), Some("https://google.example.org/url?q=x")),
            ("https://notgoogle.com/url?q=x".to_owned(), Some("https://notgoogle.com/url?q=x")),
            ("//example.org/desk".to_owned(), Some("https://example.org/desk")),
            ("//".to_owned(), None),
            ("////example.org".to_owned(), None),
        ] {
            assert_eq!(address(&text).as_deref(), found, "{text}");
        }
        let mut nested = "https://example.org/".to_owned();
        for _ in 0..5 {
            nested = format!("https://www.google.com/url?q={}", percent::query(&nested));
        }
        assert_eq!(address(&nested), None);
    }
}
