//! Citations of articles: RIS, BibTeX, APA and MLA.
//!
//! Written from the record alone; missing fields are left out. Texts are already on one line, so no
//! field can begin a new record. `retraction` adds the marks of retracted works.

mod bibtex;
mod prose;
mod retraction;
mod ris;

pub use bibtex::bibtex;
pub use prose::{apa, mla};
pub use ris::ris;

use crate::formats::article::{Article, Author, PublicationDate};

/// What kind of work a record is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Article,
    Book,
    Chapter,
}

/// The kind of the record: a part of a book has its own title.
pub(crate) fn kind(article: &Article<'_>) -> Kind {
    match &article.book_info {
        None => Kind::Article,
        Some(book) if book.title == article.title || article.title.is_none() => Kind::Book,
        Some(_) => Kind::Chapter,
    }
}

/// The title without the full stop that PubMed ends it with, and without the brackets around a
/// translation; the title in the article's own language if there is no other.
pub(crate) fn title<'a>(article: &'a Article<'_>) -> Option<&'a str> {
    let title = article.title.as_deref().or(article.vernacular_title.as_deref())?;
    let bare = without_stop(title);
    let inside = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let inside = inside
        .filter(|inside| !inside.contains(['[', ']']))
        .map(|inside| without_stop(inside.trim()));
    Some(inside.unwrap_or(bare)).filter(|title| !title.is_empty())
}

fn without_stop(text: &str) -> &str {
    match text.strip_suffix('.') {
        Some(bare) if !bare.ends_with('.') => bare.trim_end(),
        _ => text,
    }
}

/// The date of the issue or the book.
fn date<'a>(article: &'a Article<'_>) -> Option<&'a PublicationDate<'a>> {
    let of_book = article.book_info.as_ref().map(|book| &book.publication_date);
    article.journal_info.as_ref().map(|journal| &journal.publication_date).or(of_book)
}

/// The year of publication.
pub(crate) fn year<'a>(article: &'a Article<'_>) -> Option<&'a str> {
    article.issued.as_deref().or(article.electronic_date.as_deref())?.get(..4)
}

/// Pages as printed.
pub(crate) fn pages<'a>(article: &'a Article<'_>) -> Option<&'a str> {
    let of_book = article.book_info.as_ref().and_then(|book| book.pages.as_deref());
    article.journal_info.as_ref().and_then(|journal| journal.pages.as_deref()).or(of_book)
}

/// The first and the last page, the last one written in full: `737-8` is 737 and 738. The first of
/// several ranges counts.
pub(crate) fn page_range(pages: &str) -> (String, Option<String>) {
    let first_range = pages.split([',', ';']).next().unwrap_or(pages).trim();
    let Some((start, end)) = first_range.split_once(['-', '–']) else {
        return (first_range.to_owned(), None);
    };
    let (start, end) = (start.trim(), end.trim());
    let digits_from = |text: &str| {
        let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
        text.len() - digits
    };
    let split = digits_from(start);
    let (prefix, number) = (start.get(..split).unwrap_or(""), start.get(split..).unwrap_or(""));
    let shorter = !end.is_empty()
        && end.bytes().all(|byte| byte.is_ascii_digit())
        && end.len() <= number.len();
    let whole = match number.get(..number.len().saturating_sub(end.len())) {
        Some(head) if shorter => format!("{prefix}{head}{end}"),
        _ => end.to_owned(),
    };
    (start.to_owned(), Some(whole).filter(|end| !end.is_empty() && end != start))
}

/// The name of an author as `Last, First, Suffix`, or of a group as it is.
fn inverted(author: &Author<'_>, between: &str) -> String {
    let Some(last) = author.last_name.as_deref() else {
        let name = author.collective_name.as_deref().or(author.first_name.as_deref());
        return name.or(author.initials.as_deref()).unwrap_or_default().to_owned();
    };
    let given = author.first_name.as_deref().or(author.initials.as_deref());
    let parts = [Some(last), given, author.suffix.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(between)
}

/// Initials with full stops: `J. M.`, and `J.-P.` for a double name.
fn initials(author: &Author<'_>) -> Option<String> {
    let letters = |name: &str| {
        let words = name.split_whitespace().map(|word| {
            let parts = word.split('-').filter_map(|part| part.chars().next());
            parts.map(|letter| format!("{}.", letter.to_uppercase())).collect::<Vec<_>>().join("-")
        });
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    match (author.first_name.as_deref(), author.initials.as_deref()) {
        (Some(first), _) => Some(letters(first)),
        (None, Some(initials)) => {
            let spaced: Vec<String> = initials
                .chars()
                .filter(|letter| letter.is_alphabetic())
                .map(|letter| format!("{letter}."))
                .collect();
            Some(spaced.join(" "))
        }
        (None, None) => None,
    }
    .filter(|text| !text.is_empty())
}

/// Where the article resolves.
fn doi_url(article: &Article<'_>) -> Option<String> {
    carrel_pdk::id::Doi::parse(article.doi.as_deref()?).ok().map(|doi| doi.url())
}

/// The article's page in PubMed.
pub(crate) fn pubmed_url(article: &Article<'_>) -> Option<String> {
    article.pmid.as_deref().map(|pmid| format!("https://pubmed.ncbi.nlm.nih.gov/{pmid}/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_last_pages_are_written_in_full() {
        for (pages, first, last) in [
            ("737-8", "737", Some("738")),
            ("1071-108", "1071", Some("1108")),
            ("S12-9", "S12", Some("S19")),
            ("89-103", "89", Some("103")),
            ("e1", "e1", None),
            ("e1-e5", "e1", Some("e5")),
            ("12-12", "12", None),
            ("iv-x", "iv", Some("x")),
            ("1234-5, 1250", "1234", Some("1235")),
            ("", "", None),
        ] {
            assert_eq!(page_range(pages), (first.to_owned(), last.map(str::to_owned)), "{pages}");
        }
    }

    #[test]
    fn titles_lose_pubmeds_punctuation_and_nothing_else() {
        let of = |title: &'static str| Article { title: Some(title.into()), ..Article::default() };
        for (input, shown) in [
            ("On desks.", "On desks"),
            ("[On desks].", "On desks"),
            ("[On desks.]", "On desks"),
            ("[4]Helicene [sic].", "[4]Helicene [sic]"),
            ("Why?", "Why?"),
            ("And then...", "And then..."),
        ] {
            assert_eq!(title(&of(input)), Some(shown), "{input}");
        }
    }
}
