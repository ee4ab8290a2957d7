//! Article → the contract's bibliographic record: the only file that translates DOAJ's terms to
//! Carrel's.

use carrel_pdk::json::lenient;
use carrel_pdk::percent;
use carrel_pdk::record::fields::{address, doi, issn, orcid, plain, push_new, text};
use carrel_pdk::record::{Agent, Ids, Link, OpenCopy, Text, Work, language};

use crate::formats::article::{self, Article, Author, Bibjson};

/// Words after a comma that are not given names.
const SUFFIXES: [&str; 8] = ["jr", "sr", "ii", "iii", "iv", "phd", "md", "msc"];

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The record of an article. What DOAJ does not say, or writes in an invalid form, is left out.
pub(crate) fn work(article: Article<'_>) -> Work<'_> {
    let page = article.id.0.and_then(plain);
    let url =
        page.map(|id| Text::Owned(format!("https://doaj.org/article/{}", percent::segment(&id))));
    let bibjson = article.bibjson.unwrap_or_default();
    let issued = issued(&bibjson);
    let journal = bibjson.journal;
    let mut ids = Ids::default();
    for identifier in bibjson.identifiers.0 {
        let kind = identifier.kind.0.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "doi" if ids.doi.is_none() => ids.doi = identifier.id.0.and_then(doi),
            "issn" | "pissn" | "eissn" => {
                push_new(&mut ids.issn, identifier.id.0.as_deref().and_then(issn))
            }
            _ => {}
        }
    }
    for raw in journal.issns.0 {
        push_new(&mut ids.issn, raw.0.as_deref().and_then(issn));
    }
    let mut subjects = Vec::new();
    let terms = bibjson.subjects.0.into_iter().map(|subject| subject.term);
    for subject in bibjson.keywords.0.into_iter().chain(terms) {
        push_new(&mut subjects, text(subject));
    }
    // With several licences, it is uncertain which one is the article's.
    let mut licenses: Vec<Text<'_>> = Vec::new();
    for license in journal.licenses.0 {
        push_new(&mut licenses, text(license.kind).or_else(|| text(license.title)));
    }
    let license = if licenses.len() == 1 { licenses.pop() } else { None };
    let (open_copies, links) = forms(bibjson.links.0, license.as_ref());
    let mut languages: Vec<Text<'_>> = Vec::new();
    for code in journal.languages.0 {
        push_new(&mut languages, code.0.and_then(plain));
    }
    // The journal's languages: with several, it is uncertain which one is the article's.
    let language_code = if languages.len() == 1 { languages.pop() } else { None };
    Work {
        ids,
        kind: "article-journal".into(),
        source_type: article.kind.0.and_then(plain),
        title: text(bibjson.title),
        summary: text(bibjson.summary),
        authors: bibjson.authors.0.into_iter().filter_map(agent).collect(),
        container_title: text(journal.title),
        publisher: text(journal.publisher),
        issued,
        volume: text(journal.volume),
        issue: text(journal.number),
        pages: pages(bibjson.start_page, bibjson.end_page),
        language: language_code.and_then(|code| language::tag(code.to_lowercase().into())),
        subjects,
        url,
        links,
        open_copies,
        is_oa: Some(true),
        oa_status: Some("gold".into()),
        source: "doaj".into(),
        ..Work::default()
    }
}

/// An author. A name with one comma is "Family, Given"; any other is not divided.
fn agent(author: Author<'_>) -> Option<Agent<'_>> {
    let name = text(author.name)?;
    let (mut family, mut given, mut literal) = (None, None, None);
    match split(&name) {
        Some((last, first)) => {
            family = Some(Text::Owned(last.to_owned()));
            given = Some(Text::Owned(first.to_owned()));
        }
        None => literal = Some(name),
    }
    Some(Agent {
        family,
        given,
        literal,
        orcid: author.orcid.0.as_deref().and_then(orcid),
        affiliations: author.affiliations.0.into_iter().filter_map(text).collect(),
    })
}

fn split(name: &str) -> Option<(&str, &str)> {
    let (family, given) = name.split_once(',')?;
    let (family, given) = (family.trim(), given.trim());
    let is_suffix = SUFFIXES.contains(&given.trim_end_matches('.').to_ascii_lowercase().as_str());
    let right =
        !family.is_empty() && !given.is_empty() && !given.contains([',', ';']) && !is_suffix;
    right.then_some((family, given))
}

/// The date: a year, and a month as a number or a word.
fn issued(bibjson: &Bibjson<'_>) -> Option<Text<'static>> {
    let year = bibjson.year.0.as_deref()?.trim();
    if year.len() != 4 || !year.bytes().all(|byte| byte.is_ascii_digit()) || year == "0000" {
        return None;
    }
    let month = bibjson.month.0.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
    let month = month.strip_suffix('.').unwrap_or(&month);
    let number = month.parse().ok().filter(|_| month.bytes().all(|byte| byte.is_ascii_digit()));
    let named = || {
        let at = MONTHS
            .iter()
            .position(|name| *name == month || (month.len() == 3 && name.starts_with(month)))?;
        Some(at + 1)
    };
    Some(match number.or_else(named).filter(|month| (1..=12).contains(month)) {
        Some(month) => format!("{year}-{month:02}").into(),
        None => Text::Owned(year.to_owned()),
    })
}

/// The first page, and the last if it differs.
fn pages<'d>(start: lenient::Text<'d>, end: lenient::Text<'d>) -> Option<Text<'d>> {
    let start = text(start)?;
    Some(match text(end).filter(|end| *end != start) {
        Some(end) => format!("{start}-{end}").into(),
        None => start,
    })
}

/// The full texts, which are free in every journal of the directory, PDF first; and other links.
fn forms<'d>(
    links: Vec<article::Link<'d>>,
    license: Option<&Text<'d>>,
) -> (Vec<OpenCopy<'d>>, Vec<Link<'d>>) {
    let (mut copies, mut other_links) = (Vec::new(), Vec::new());
    for link in links {
        let Some(url) = link.url.0.and_then(address) else { continue };
        let mime = link.content_type.0.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
        let kind = match mime.as_str() {
            "pdf" | "application/pdf" => Some("pdf"),
            "html" | "text/html" => Some("html"),
            "xml" | "application/xml" | "text/xml" => Some("xml"),
            _ => None,
        };
        let is_full_text = |kind: &str| kind.trim().eq_ignore_ascii_case("fulltext");
        if link.kind.0.as_deref().is_none_or(is_full_text) {
            let path = url.split(['?', '#']).next().unwrap_or_default();
            let is_pdf =
                path.len() >= 4 && path.as_bytes()[path.len() - 4..].eq_ignore_ascii_case(b".pdf");
            let kind = kind.unwrap_or(if is_pdf { "pdf" } else { "html" });
            let license = license.cloned();
            let host_type = Some("publisher".into());
            copies.push(OpenCopy {
                url,
                kind: kind.into(),
                host_type,
                license,
                ..OpenCopy::default()
            });
        } else {
            let content_type = kind.map(|kind| match kind {
                "pdf" => "application/pdf".into(),
                "xml" => "application/xml".into(),
                _ => "text/html".into(),
            });
            other_links.push(Link { url, content_type, ..Link::default() });
        }
    }
    let rank = |copy: &OpenCopy<'_>| ["pdf", "xml"].iter().position(|kind| copy.kind == *kind);
    copies.sort_by_key(|copy| rank(copy).unwrap_or(2));
    (copies, other_links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_a_number_or_a_word() {
        for (month, date) in [
            ("4", "2020-04"),
            ("04", "2020-04"),
            ("March", "2020-03"),
            ("sept", "2020"),
            ("Dec.", "2020-12"),
            ("13", "2020"),
            ("", "2020"),
        ] {
            let text = |text: &'static str| lenient::Text(Some(text.into()));
            let bibjson = Bibjson { year: text("2020"), month: text(month), ..Bibjson::default() };
            assert_eq!(issued(&bibjson).as_deref(), Some(date), "{month}");
        }
    }

    #[test]
    fn only_a_family_and_a_given_name_are_split() {
        assert_eq!(split("Núñez, Ana"), Some(("Núñez", "Ana")));
        for name in ["Ana Núñez", "Smith, Jr.", "Institute, Desk, City", ", Ana", "Núñez,"] {
            assert_eq!(split(name), None, "{name}");
        }
    }
}
