//! BibTeX: an entry whose key is `pmid` and the number.

use super::retraction::Retraction;
use super::{Kind, inverted, kind, page_range, pages, pubmed_url};
use crate::formats::{
    article::{Article, Author},
    dates,
};

/// The article as one entry of BibTeX. Letters are written in UTF-8, not as LaTeX commands.
pub fn bibtex(article: &Article<'_>) -> String {
    let kind = kind(article);
    let word = match kind {
        Kind::Article => "article",
        Kind::Book => "book",
        Kind::Chapter => "incollection",
    };
    let key = match (article.pmid.as_deref(), article.pmcid.as_deref()) {
        (Some(pmid), _) => format!("pmid{pmid}"),
        (None, Some(pmcid)) => pmcid.to_owned(),
        (None, None) => "pubmed".to_owned(),
    };
    let mut fields: Vec<(&str, String)> = Vec::new();
    let mut field = |name: &'static str, value: Option<String>| {
        fields.extend(value.filter(|value| !value.is_empty()).map(|value| (name, value)));
    };
    let (journal, book) = (article.journal_info.as_ref(), article.book_info.as_ref());
    field("author", people(&article.authors));
    let retraction = Retraction::of(article);
    field("title", retraction.title(article).map(|title| format!("{{{}}}", escaped(&title))));
    let of_journal = |get: fn(&crate::formats::article::JournalInfo<'_>) -> Option<String>| {
        journal.and_then(get)
    };
    field("journal", of_journal(|journal| journal.title.as_deref().map(escaped)));
    if kind == Kind::Chapter {
        field("booktitle", book.and_then(|book| book.title.as_deref()).map(escaped));
    }
    field("editor", book.and_then(|book| people(&book.editors)));
    field("publisher", book.and_then(|book| book.publisher.as_deref()).map(escaped));
    field("address", book.and_then(|book| book.publisher_location.as_deref()).map(escaped));
    field("edition", book.and_then(|book| book.edition.as_deref()).map(escaped));
    field("series", book.and_then(|book| book.collection_title.as_deref()).map(escaped));
    field("year", super::year(article).map(str::to_owned));
    field(
        "month",
        super::date(article).and_then(|date| dates::month(date.month.as_deref()?)).and_then(
            |month| dates::MONTHS.get(usize::from(month) - 1).map(|name| (*name).to_owned()),
        ),
    );
    field("volume", of_journal(|journal| journal.volume.as_deref().map(escaped)));
    field("number", of_journal(|journal| journal.issue.as_deref().map(escaped)));
    field(
        "pages",
        pages(article).map(|pages| match page_range(pages) {
            (first, Some(last)) => format!("{}--{}", escaped(&first), escaped(&last)),
            (first, None) => escaped(&first),
        }),
    );
    field("issn", of_journal(|journal| journal.issn.as_deref().map(escaped)));
    field("isbn", book.and_then(|book| book.isbns.first()).map(|isbn| escaped(isbn)));
    // BibTeX reads URLs and identifiers verbatim; only braces would end the field.
    let verbatim = |text: &str| text.replace('{', "%7B").replace('}', "%7D");
    field("doi", article.doi.as_deref().map(verbatim));
    field("pmid", article.pmid.as_deref().map(verbatim));
    field("pmcid", article.pmcid.as_deref().map(verbatim));
    field("url", pubmed_url(article).as_deref().map(verbatim));
    field("note", Some(escaped(&retraction.notes().join("; "))));
    let mut out = format!("@{word}{{{key}");
    for (name, value) in fields {
        // The names of months are BibTeX's macros and are written without braces.
        if name == "month" {
            out.push_str(&format!(",\n  {name} = {value}"));
        } else {
            out.push_str(&format!(",\n  {name} = {{{value}}}"));
        }
    }
    out.push_str("\n}\n");
    out
}

fn people(people: &[Author<'_>]) -> Option<String> {
    let names: Vec<String> = people.iter().map(person).collect();
    Some(names.join(" and ")).filter(|names| !names.is_empty())
}

fn person(author: &Author<'_>) -> String {
    let Some(last) = author.last_name.as_deref() else {
        // In braces, so that BibTeX does not divide the name of a group.
        return format!("{{{}}}", escaped(&inverted(author, ", ")));
    };
    let last =
        if last.contains(" and ") { format!("{{{}}}", escaped(last)) } else { escaped(last) };
    let given = author.first_name.as_deref().or(author.initials.as_deref()).map(escaped);
    let suffix = author.suffix.as_deref().map(escaped);
    [Some(last), suffix, given].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The text with LaTeX's characters escaped.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(character);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_latex_are_escaped() {
        assert_eq!(
            escaped(r"R&D 5% of $x_1^2$ #1 {a} ~ \"),
            r"R\&D 5\% of \$x\_1\textasciicircum{}2\$ \#1 \{a\} \textasciitilde{} \textbackslash{}"
        );
    }
}
