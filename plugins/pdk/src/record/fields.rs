//! Values of documents → members of the record; an invalid value becomes absent.
//!
//! ```
//! use carrel_pdk::record::fields;
//!
//! assert_eq!(fields::readable("  A <i>title</i> ".into()).as_deref(), Some("A title"));
//! assert_eq!(fields::doi("https://doi.org/10.5555/x".into()).as_deref(), Some("10.5555/x"));
//! assert_eq!(fields::orcid("https://orcid.org/0000-0001-2345-678x").as_deref(), Some("0000-0001-2345-678X"));
//! assert_eq!(fields::date("2024-02-00").as_deref(), Some("2024-02"));
//! ```

use std::borrow::Cow;

use crate::id::Doi;
use crate::json::lenient;
use crate::record::Text;
use crate::text::{marked_up, trim};
use crate::url;

/// How many previous items are searched for duplicates; keeps the work linear.
const MOST_COMPARED: usize = 256;

/// A text for readers.
pub fn text(text: lenient::Text<'_>) -> Option<Text<'_>> {
    text.0.and_then(readable)
}

/// A text as a reader would see it, by the rules of [`text`](crate::text).
pub fn readable(text: Text<'_>) -> Option<Text<'_>> {
    match text {
        Cow::Borrowed(text) => marked_up(text),
        Cow::Owned(text) => match marked_up(&text)? {
            Cow::Borrowed(same) if same.len() == text.len() => Some(Cow::Owned(text)),
            seen => Some(Cow::Owned(seen.into_owned())),
        },
    }
}

/// A machine-readable text, trimmed; `None` if it is blank.
pub fn plain(text: Text<'_>) -> Option<Text<'_>> {
    let trimmed = trim(&text);
    match text {
        _ if trimmed.is_empty() => None,
        Cow::Borrowed(text) => Some(Cow::Borrowed(trim(text))),
        Cow::Owned(_) => Some(Cow::Owned(trimmed.to_owned())),
    }
}

/// An http or https address, by the rules of [`url::well_formed`].
pub fn address(text: Text<'_>) -> Option<Text<'_>> {
    let text = plain(text)?;
    let well_formed = url::well_formed(&text)?;
    match well_formed {
        Cow::Borrowed(_) => Some(text),
        Cow::Owned(url) => Some(Cow::Owned(url)),
    }
}

/// A DOI, without resolver; `None` for another text.
pub fn doi(text: Text<'_>) -> Option<Text<'_>> {
    let text = plain(text)?;
    let doi = Doi::parse(&text).ok()?;
    Some(if doi.as_str() == text { text } else { Cow::Owned(doi.as_str().to_owned()) })
}

/// An ORCID without resolver.
pub fn orcid(text: &str) -> Option<Text<'static>> {
    let last = text.trim().trim_end_matches('/').rsplit('/').next()?.to_ascii_uppercase();
    let right = last.len() == 19
        && last.bytes().enumerate().all(|(at, byte)| match at {
            4 | 9 | 14 => byte == b'-',
            18 => byte.is_ascii_digit() || byte == b'X',
            _ => byte.is_ascii_digit(),
        });
    right.then(|| last.into())
}

/// A date with the text's precision: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, also in front of a time of
/// day. An invalid month or day is cut off.
pub fn date(text: &str) -> Option<Text<'static>> {
    let day = text.trim().split(['T', ' ']).next()?;
    let mut parts = day.splitn(3, '-');
    let mut part = |length: usize, range: std::ops::RangeInclusive<u32>| {
        let digits = parts.next()?;
        let right = digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|number| right && range.contains(number))
    };
    let year: u32 = part(4, 1..=9999)?;
    let Some(month) = part(2, 1..=12) else { return Some(format!("{year:04}").into()) };
    let Some(day) = part(2, 1..=31) else { return Some(format!("{year:04}-{month:02}").into()) };
    Some(format!("{year:04}-{month:02}-{day:02}").into())
}

/// A date from its text, else from a year.
pub fn date_or_year(date: &lenient::Text<'_>, year: lenient::Count) -> Option<Text<'static>> {
    let year = year.0.filter(|year| (1..=9999).contains(year));
    let date = date.0.as_deref().and_then(self::date);
    date.or_else(|| Some(format!("{:04}", year?).into()))
}

/// An ISBN, without hyphens and without a URL prefix.
pub fn isbn(text: &str) -> Option<String> {
    let number = number(text);
    let right = match number.len() {
        10 => is_number(&number),
        13 => number.bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    };
    right.then_some(number)
}

/// An ISSN with its hyphen.
pub fn issn(text: &str) -> Option<String> {
    let number = number(text);
    (number.len() == 8 && is_number(&number)).then(|| format!("{}-{}", &number[..4], &number[4..]))
}

/// Adds a text unless it is among the latest ones; bounded, because hostile documents have
/// thousands.
pub fn push_new<'d>(list: &mut Vec<Text<'d>>, text: Option<impl Into<Text<'d>>>) {
    let latest = &list[list.len().saturating_sub(MOST_COMPARED)..];
    if let Some(text) = text.map(Into::into)
        && !latest.contains(&text)
    {
        list.push(text);
    }
}

/// The last part of an address such as `http://id.crossref.org/isbn/…`, without hyphens.
fn number(text: &str) -> String {
    let last = text.rsplit('/').next().unwrap_or_default();
    last.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_uppercase()
}

/// Digits, the last of which may be an X.
fn is_number(text: &str) -> bool {
    let digits = text.strip_suffix('X').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_as_exact_as_its_text() {
        for (text, date) in [
            ("2024", Some("2024")),
            ("2024-02", Some("2024-02")),
            ("2024-02-29", Some("2024-02-29")),
            (" 2024-02-29T10:00:00Z ", Some("2024-02-29")),
            ("2024-02-29 00:00:00", Some("2024-02-29")),
            ("2024-13-01", Some("2024")),
            ("2024-12-00", Some("2024-12")),
            ("2024-1-1", Some("2024")),
            ("0000-01-01", None),
            ("+024-01-01", None),
            ("24", None),
            ("spring", None),
            ("", None),
        ] {
            assert_eq!(super::date(text).as_deref(), date, "{text}");
        }
        let year = |year| date_or_year(&lenient::Text(Some("".into())), lenient::Count(year));
        assert_eq!(year(Some(1999)).as_deref(), Some("1999"));
        assert_eq!(year(Some(0)), None);
        assert_eq!(year(None), None);
    }

    #[test]
    fn numbers_of_books_and_serials_have_one_form() {
        assert_eq!(isbn("978-0-19-852663-6").as_deref(), Some("9780198526636"));
        assert_eq!(isbn("0-19-852663-x").as_deref(), Some("019852663X"));
        assert_eq!(isbn("X198526636"), None);
        assert_eq!(issn("0028 083x").as_deref(), Some("0028-083X"));
        assert_eq!(issn("028-0836"), None);
    }

    #[test]
    fn what_is_known_is_not_added_twice() {
        let mut list: Vec<Text<'_>> = Vec::new();
        for text in ["a", "b", "a"] {
            push_new(&mut list, Some(text));
        }
        push_new(&mut list, None::<&str>);
        assert_eq!(list, ["a", "b"]);
    }
}
