//! Maps error reports in response bodies to the contract's codes.
//!
//! A document passed to `parse` has no status, so the report's text decides: the status that it
//! names, else its wording. If there is a status, [`answer`](crate::answer) reads that first.

use crate::text::{collapse, decode_entities};
use crate::{Action, Code, Error};

/// The most characters of a report in a message.
const LONGEST: usize = 500;
/// The bytes of a page that are searched for its title.
const HEAD: usize = 4096;

/// The error of a report's text, from the upstream called `source`; `status` is the status that the
/// body names, if any.
pub fn report(source: &str, status: Option<u64>, words: &str) -> Error {
    let words: String = collapse(words)
        .chars()
        .take(LONGEST)
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    let error = |code| {
        let shown = if words.is_empty() { "an error without words" } else { words.trim() };
        Error::new(code, format!("{source} reports: {shown}"))
    };
    match status.or_else(|| status_of(&words)) {
        Some(404 | 410) => error(Code::NotFound),
        Some(429) => error(Code::RateLimited),
        Some(401..=403 | 407 | 451) => error(Code::UpstreamError).action(Action::AskOperator),
        Some(408 | 425 | 500..) => error(Code::UpstreamUnavailable),
        _ => error(Code::UpstreamError),
    }
}

/// The error that a page of markup represents, if its title or first heading is the text of a
/// status; `None` for any other text.
pub fn page(source: &str, text: &str) -> Option<Error> {
    let start = text.trim_start();
    if !start.starts_with('<') {
        return None;
    }
    let mut end = start.len().min(HEAD);
    while !start.is_char_boundary(end) {
        end -= 1;
    }
    let head = &start[..end];
    ["title", "h1", "h2"].iter().find_map(|name| {
        let words = element(head, name)?;
        let status = status_of(&words)?;
        Some(report(source, Some(status), &words))
    })
}

/// The text of the first element of that name.
fn element(head: &str, name: &str) -> Option<String> {
    // Only ASCII letters change their case, so offsets in both texts are equal.
    let lower = head.to_ascii_lowercase();
    let open = lower.find(&format!("<{name}"))?;
    let start = open + lower[open..].find('>')? + 1;
    let length = lower[start..].find("</")?;
    let words = decode_entities(&head[start..start + length]).into_owned();
    Some(collapse(&words).into_owned())
}

/// The status in a text, by its number or its meaning.
fn status_of(words: &str) -> Option<u64> {
    let lower = words.to_ascii_lowercase();
    let numbers = lower.split(|character: char| !character.is_ascii_alphanumeric());
    let number = numbers
        .take(2)
        .filter(|word| word.len() == 3)
        .find_map(|word| word.parse().ok().filter(|status| (400..600).contains(status)));
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    number.or_else(|| {
        if has(&["too many requests", "rate limit", "rate-limit", "quota", "budget"]) {
            Some(429)
        } else if has(&["forbidden", "unauthorized", "access denied", "api key", "api_key"]) {
            Some(403)
        } else if has(&["not found", "does not exist", "no such", "isn't in", "invalid doi"]) {
            Some(404)
        } else if has(&["unavailable", "internal server", "bad gateway", "timed out", "timeout"]) {
            Some(503)
        } else {
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_report_decide_its_code() {
        for (words, code, action) in [
            ("Paper with id 0 not found", Code::NotFound, None),
            ("'10.5555/x' isn't in Unpaywall.", Code::NotFound, None),
            ("Too Many Requests. Please wait.", Code::RateLimited, None),
            ("Rate limit exceeded", Code::RateLimited, None),
            ("Forbidden", Code::UpstreamError, Some(Action::AskOperator)),
            ("Internal Server Error", Code::UpstreamUnavailable, None),
            ("Unrecognized or unsupported fields: [x]", Code::UpstreamError, None),
            ("", Code::UpstreamError, None),
        ] {
            let error = report("Lists", None, words);
            assert_eq!((error.code, error.action), (code, action), "{words}");
            assert!(error.message.starts_with("Lists reports: "), "{}", error.message);
        }
        assert_eq!(report("Lists", Some(429), "Slow down").code, Code::RateLimited);
        assert_eq!(
            report("Lists", Some(422), "not found in your address").code,
            Code::UpstreamError
        );
    }

    #[test]
    fn a_report_is_one_line_of_reasonable_length() {
        let error = report("Lists", None, &format!("a\nb\u{0}c\u{2028}d{}", "é".repeat(10_000)));
        assert!(error.message.starts_with("Lists reports: a b c d"), "{}", error.message);
        assert!(error.message.chars().count() < 600);
    }

    #[test]
    fn an_error_page_is_recognized_by_its_title_or_heading() {
        for (page, code) in [
            ("<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>", Some(Code::NotFound)),
            ("<html><head><title>429 Too Many Requests</title></head>", Some(Code::RateLimited)),
            ("<html><TITLE>Oh</TITLE><h1>Bad Gateway</h1>", Some(Code::UpstreamUnavailable)),
            ("<title>503 Service Temporarily Unavailable</title>", Some(Code::UpstreamUnavailable)),
            ("<title>Just a moment...</title>", None),
            ("<title>404", None),
            ("<p>404 Not Found</p>", None),
            ("404 Not Found", None),
        ] {
            assert_eq!(super::page("Lists", page).map(|error| error.code), code, "{page}");
        }
    }
}
