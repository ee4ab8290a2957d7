//! RIS: lines of a tag and a value.

use super::retraction::Retraction;
use super::{Kind, inverted, kind, page_range, pages, pubmed_url, year};
use crate::formats::article::Article;

/// The article as one record of RIS.
pub fn ris(article: &Article<'_>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut line = |tag: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            // Some readers begin a new line at Unicode's line separators.
            let value: String = value
                .chars()
                .map(|character| {
                    if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
                        ' '
                    } else {
                        character
                    }
                })
                .collect();
            lines.push(format!("{tag}  - {value}"));
        }
    };
    let kind = kind(article);
    line(
        "TY",
        Some(match kind {
            Kind::Article => "JOUR",
            Kind::Book => "BOOK",
            Kind::Chapter => "CHAP",
        }),
    );
    for author in &article.authors {
        line("AU", Some(&inverted(author, ", ")));
    }
    let retraction = Retraction::of(article);
    line("TI", retraction.title(article).as_deref());
    let (journal, book) = (article.journal_info.as_ref(), article.book_info.as_ref());
    if let Some(journal) = journal {
        line("T2", journal.title.as_deref());
        line("JO", journal.iso_abbreviation.as_deref().or(journal.medline_ta.as_deref()));
        line("VL", journal.volume.as_deref());
        line("IS", journal.issue.as_deref());
        line("SN", journal.issn.as_deref());
    }
    if let Some(book) = book {
        if kind == Kind::Chapter {
            line("T2", book.title.as_deref());
        }
        for editor in &book.editors {
            line("ED", Some(&inverted(editor, ", ")));
        }
        line("T3", book.collection_title.as_deref());
        line("PB", book.publisher.as_deref());
        line("CY", book.publisher_location.as_deref());
        line("VL", book.volume.as_deref());
        line("ET", book.edition.as_deref());
        for isbn in &book.isbns {
            line("SN", Some(isbn));
        }
    }
    line("PY", year(article));
    line("DA", article.issued.as_deref().map(|date| date.replace('-', "/")).as_deref());
    if let Some((first, last)) = pages(article).map(page_range) {
        line("SP", Some(&first));
        line("EP", last.as_deref());
    }
    line("DO", article.doi.as_deref());
    line("AN", article.pmid.as_deref());
    line("C2", article.pmcid.as_deref());
    line("UR", pubmed_url(article).as_deref());
    line("LA", article.languages.first().map(AsRef::as_ref));
    for keyword in &article.keywords {
        line("KW", Some(keyword));
    }
    for note in retraction.notes() {
        line("N1", Some(&note));
    }
    line("AB", article.abstract_text.as_deref());
    lines.push("ER  - ".to_owned());
    lines.join("\n") + "\n"
}
