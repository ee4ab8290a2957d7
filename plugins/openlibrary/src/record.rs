//! Book → the contract's bibliographic record: the only file that translates Open Library's terms to
//! Carrel's.

use std::borrow::Cow;

use carrel_pdk::id::Isbn;
use carrel_pdk::record::fields::{address, plain, push_new, text};
use carrel_pdk::record::{Agent, Ids, Text, Work, language};

use crate::dates;
use crate::formats::book::{Book, Named};
use crate::names;

const SITE: &str = "https://openlibrary.org";

/// The record of a book.
///
/// `key` is the one by which it was requested, such as `ISBN:9780000000002`: the book's own list of
/// ISBNs need not have it. What Open Library does not say, or writes in an invalid form, is left out.
pub(crate) fn work<'d>(key: Option<Cow<'d, str>>, book: Book<'d>) -> Work<'d> {
    let mut ids = Ids::default();
    let requested = key.as_deref().and_then(|key| key.strip_prefix("ISBN:"));
    push_new(&mut ids.isbn, requested.and_then(isbn));
    let own = book.identifiers;
    for list in [book.isbn_13.0, own.isbn_13.0, book.isbn_10.0, own.isbn_10.0, book.isbn.0] {
        for number in list {
            push_new(&mut ids.isbn, number.0.as_deref().and_then(isbn));
        }
    }
    let mut authors: Vec<Agent<'d>> = book.authors.0.into_iter().filter_map(agent).collect();
    if authors.is_empty() {
        authors = book.author_names.0.into_iter().filter_map(text).map(names::agent).collect();
    }
    let mut subjects = Vec::new();
    for subject in book.subjects.0 {
        push_new(&mut subjects, text(subject.name));
    }
    for subject in book.subject.0 {
        push_new(&mut subjects, text(subject));
    }
    let mut publishers = book.publishers.0.into_iter().filter_map(|publisher| text(publisher.name));
    let publisher = publishers.next().or_else(|| book.publisher.0.into_iter().find_map(text));
    let mut codes: Vec<Text<'d>> = Vec::new();
    for language in book.languages.0 {
        let code = language.key.0.or(language.name.0).and_then(plain);
        let last = code.as_deref().and_then(|code| code.rsplit('/').next()).map(str::trim);
        push_new(&mut codes, last.filter(|code| is_code(code)).map(str::to_owned));
    }
    for code in book.language.0 {
        push_new(&mut codes, code.0.and_then(plain).filter(|code| is_code(code)));
    }
    // With several languages, it is uncertain which one is the edition's.
    let language_code = if codes.len() == 1 { codes.pop() } else { None };
    let title = text(book.title).map(|title| match text(book.title_prefix) {
        Some(prefix) => Text::Owned(format!("{prefix} {title}")),
        None => title,
    });
    let dates = book.publish_date.0.iter().filter_map(|date| date.0.as_deref());
    // A search lists the dates of all editions; the first publication is the work's.
    let mut known: Vec<Text<'static>> = dates.filter_map(dates::date).collect();
    let first = || {
        let stated = [&book.first_publish_date, &book.first_publish_year];
        stated.into_iter().find_map(|date| dates::date(date.0.as_deref()?))
    };
    let issued = if known.len() == 1 { known.pop() } else { first() };
    let page = book.key.0.and_then(plain).filter(|key| is_path(key));
    let url = page.map(|key| Text::Owned(format!("{SITE}{key}")));
    Work {
        ids,
        kind: "book".into(),
        source_type: book.kind.key.0.and_then(plain),
        title,
        subtitle: text(book.subtitle),
        summary: text(book.description.value),
        authors,
        publisher,
        issued,
        language: language_code.and_then(|code| language::tag(code.to_lowercase().into())),
        subjects,
        url: url.or_else(|| book.url.0.and_then(address)),
        source: "openlibrary".into(),
        ..Work::default()
    }
}

/// An author by name; one that is only a key has no name here.
fn agent(author: Named<'_>) -> Option<Agent<'_>> {
    text(author.name).map(names::agent)
}

/// An ISBN with a valid check digit, in thirteen digits.
fn isbn(text: &str) -> Option<Text<'static>> {
    Isbn::parse(text).ok().map(|isbn| Text::Owned(isbn.as_str().to_owned()))
}

/// Whether a text has the form of a language's code or name: one word of letters, digits and hyphens.
fn is_code(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '-')
}

/// Whether a key is the path of a page.
fn is_path(key: &str) -> bool {
    let rest = key.strip_prefix("/books/").or_else(|| key.strip_prefix("/works/"));
    rest.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}
