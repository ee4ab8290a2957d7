//! Identifiers in running text.

use carrel_pdk::id::{ArxivId, Doi};

/// The first DOI of a text, without the punctuation after it.
pub(crate) fn doi(text: &str) -> Option<String> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find("10.") {
        let at = from + found;
        from = at + 3;
        let before = text.get(..at).unwrap_or_default();
        if before.ends_with(|c: char| c.is_ascii_digit() || c == '.') {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let end = rest
            .find(|c: char| {
                c.is_whitespace()
                    || c.is_control()
                    || matches!(c, '"' | '<' | '>' | '”' | '“' | '{' | '}' | '|' | '\\' | '^' | '`')
            })
            .unwrap_or(rest.len());
        let candidate = trimmed(rest.get(..end).unwrap_or_default());
        if let Ok(doi) = Doi::parse(candidate)
            && has_registrant(doi.as_str())
        {
            return Some(doi.as_str().to_owned());
        }
    }
    None
}

/// Whether the text between the prefix and the slash is a registrant's number.
fn has_registrant(doi: &str) -> bool {
    let registrant = doi.strip_prefix("10.").and_then(|rest| rest.split_once('/'));
    registrant.is_some_and(|(number, suffix)| {
        let mut parts = number.split('.');
        let first = parts.next().unwrap_or_default();
        (4..=9).contains(&first.len())
            && first.bytes().all(|byte| byte.is_ascii_digit())
            && parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
            && suffix.chars().any(char::is_alphanumeric)
    })
}

/// A candidate without the punctuation of the sentence around it.
fn trimmed(candidate: &str) -> &str {
    let mut text = candidate;
    loop {
        let Some(last) = text.chars().next_back() else { return text };
        let count = |bracket: char| text.chars().filter(|c| *c == bracket).count();
        let ends = match last {
            '.' | ',' | ';' | ':' | '\'' | '’' | '*' | '?' | '!' => true,
            ')' => count(')') > count('('),
            ']' => count(']') > count('['),
            _ => false,
        };
        if !ends {
            return text;
        }
        text = text.get(..text.len() - last.len_utf8()).unwrap_or_default();
    }
}

/// The first arXiv identifier in a text that is labelled as one.
pub(crate) fn arxiv(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    for mark in ["arxiv:", "arxiv.org/abs/", "arxiv.org/pdf/"] {
        let mut from = 0;
        while let Some(found) = lower.get(from..).and_then(|rest| rest.find(mark)) {
            from += found + mark.len();
            let rest = text.get(from..).unwrap_or_default().trim_start();
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '-')))
                .unwrap_or(rest.len());
            let candidate = rest.get(..end).unwrap_or_default().trim_end_matches(['.', '-', '/']);
            if let Ok(id) = ArxivId::parse(candidate) {
                return Some(id.to_string());
            }
        }
    }
    None
}

/// The first web address of a text.
pub(crate) fn address(text: &str) -> Option<String> {
    let at = ["https://", "http://"].iter().filter_map(|scheme| text.find(scheme)).min()?;
    let rest = text.get(at..)?;
    let end = rest
        .find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '”'))
        .unwrap_or(rest.len());
    let address = trimmed(rest.get(..end)?);
    (address.len() > 11).then(|| address.to_owned())
}

/// The year in a reference: the last number that can be one, brackets first.
pub(crate) fn year(text: &str) -> Option<String> {
    let is_year = |word: &str| {
        let core = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
        core.len() == 4
            && word.len() <= 5
            && core.parse::<u32>().is_ok_and(|number| (1500..=2100).contains(&number))
    };
    let mut last = None;
    for (at, _) in text.match_indices('(') {
        let inside = text.get(at + 1..).and_then(|rest| rest.split([')', ',']).next());
        if let Some(inside) = inside.filter(|inside| is_year(inside.trim())) {
            return Some(inside.trim().to_owned());
        }
    }
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        if is_year(word) {
            last = Some(word.to_owned());
        }
    }
    last
}
