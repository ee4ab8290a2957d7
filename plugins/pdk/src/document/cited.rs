//! Finds identifiers and the year in the text of a reference.

use super::Reference;
use crate::id::{ArxivId, Doi, Pmid};

impl Reference {
    /// Makes a reference from a text alone, with its DOI, arXiv and PubMed identifiers, URL and
    /// year. A year counts if it is in parentheses or the only one.
    pub fn of_text(text: impl Into<String>) -> Self {
        let mut reference = Self { text: text.into(), ..Self::default() };
        let text = reference.text.clone();
        reference.doi = doi(&text);
        reference.arxiv = arxiv(&text);
        reference.pmid = behind(&text, "PMID").and_then(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            Pmid::parse(&digits).ok().map(|id| id.to_string())
        });
        reference.url = address(&text);
        reference.year = year(&text);
        reference
    }
}

/// The text after a word, a colon and spaces.
fn behind<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(word)?;
    Some(rest.trim_start_matches([':', ' ', '.']))
}

/// A word up to the space behind it, without punctuation that belongs to the sentence.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| c.is_whitespace() || "\"<>“”‘’".contains(c));
    let mut word = &text[..end.unwrap_or(text.len())];
    loop {
        let closing = |open: char, close: char| {
            word.ends_with(close) && word.matches(open).count() < word.matches(close).count()
        };
        if word.ends_with(['.', ',', ';', ':', '\'', '*'])
            || closing('(', ')')
            || closing('[', ']')
            || closing('{', '}')
        {
            word = &word[..word.len() - 1];
        } else {
            return word;
        }
    }
}

fn doi(text: &str) -> Option<String> {
    let mut from = 0;
    while let Some(at) = text[from..].find("10.").map(|at| at + from) {
        from = at + 3;
        let apart = !text[..at].ends_with(|last: char| last.is_alphanumeric() || last == '.');
        let found = word(&text[at..]);
        let registrant = found.split_once('/').map(|(registrant, _)| &registrant[3..]);
        let good = registrant.is_some_and(|registrant| {
            registrant.len() >= 4
                && registrant.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        });
        if let Some(doi) = Doi::parse(found).ok().filter(|_| apart && good) {
            return Some(doi.as_str().to_owned());
        }
    }
    None
}

fn arxiv(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = lower[from..].find("arxiv").map(|at| at + from) {
        from = at + 5;
        let rest = text[from..].trim_start_matches([':', ' ', '.']);
        let rest = rest.strip_prefix("org/").map_or(rest, |path| {
            path.strip_prefix("abs/").or_else(|| path.strip_prefix("pdf/")).unwrap_or(path)
        });
        let found = word(rest).split(['[', ',', ';']).next().unwrap_or_default();
        if let Ok(id) = ArxivId::parse(found.trim_end_matches(".pdf")) {
            return Some(id.to_string());
        }
    }
    None
}

fn address(text: &str) -> Option<String> {
    let at = ["https://", "http://"].iter().filter_map(|scheme| text.find(scheme)).min()?;
    let found = word(&text[at..]);
    (found.len() > "https://".len()).then(|| found.to_owned())
}

fn year(text: &str) -> Option<String> {
    let mut only: Option<&str> = None;
    let mut several = false;
    let mut from = 0;
    let bytes = text.as_bytes();
    while from < bytes.len() {
        let digits = bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            from += 1;
            continue;
        }
        let (start, end) = (from, from + digits);
        from = end;
        let Some(found) = text.get(start..end) else { continue };
        let plausible = digits == 4 && matches!(&found[..2], "16" | "17" | "18" | "19" | "20");
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        let inside = |neighbor: Option<char>| {
            neighbor.is_some_and(|c| c.is_alphanumeric() || "/.-–_:".contains(c))
        };
        if !plausible {
            continue;
        }
        let letter = text[end..].strip_prefix(|letter: char| letter.is_ascii_lowercase());
        let closes = |text: &str| text.starts_with([')', ',']);
        if before == Some('(') && (closes(&text[end..]) || letter.is_some_and(closes)) {
            return Some(found.to_owned());
        }
        let ends_sentence =
            after == Some('.') && !text[end + 1..].starts_with(char::is_alphanumeric);
        if !inside(before) && (ends_sentence || !inside(after)) {
            several |= only.is_some_and(|year| year != found);
            only = Some(found);
        }
    }
    only.filter(|_| !several).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_states_its_identifiers_and_year() {
        let text = "A. Author (2019a). Title of 1905. Journal 1, 1900-1910. \
            https://doi.org/10.5555/abc(1)x. arXiv:1901.00001v2 [cs.CL]. PMID: 123456.";
        let found = Reference::of_text(text);
        assert_eq!(found.doi.as_deref(), Some("10.5555/abc(1)x"));
        assert_eq!(found.arxiv.as_deref(), Some("1901.00001v2"));
        assert_eq!(found.pmid.as_deref(), Some("123456"));
        assert_eq!(found.year.as_deref(), Some("2019"));
        assert_eq!(found.url.as_deref(), Some("https://doi.org/10.5555/abc(1)x"));
        assert_eq!(found.text, text);
    }

    #[test]
    fn what_is_not_stated_is_absent() {
        for (text, year) in [
            ("A. Author, Title, 1998 and 1999.", None),
            ("A. Author, Title, pages 1998-2003.", None),
            ("A. Author, Title, 1998.", Some("1998")),
            ("Version 10.2/3 of 110.5555/x", None),
        ] {
            let found = Reference::of_text(text);
            assert_eq!(found.year.as_deref(), year, "{text}");
            assert_eq!((found.doi, found.arxiv, found.url), (None, None, None), "{text}");
        }
    }
}
