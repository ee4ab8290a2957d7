//! Citations as sentences: APA, 7th edition, and MLA, 9th edition, without italics.

use super::retraction::Retraction;
use super::{Kind, date, doi_url, initials, inverted, kind, page_range, pages, pubmed_url, year};
use crate::formats::{
    article::{Article, Author},
    dates,
};

/// Authors that APA names; of more, the first nineteen and the last.
const APA_AUTHORS: usize = 20;

/// The article in the style of the American Psychological Association.
pub fn apa(article: &Article<'_>) -> String {
    let mut out = apa_authors(&article.authors);
    let year = year(article).unwrap_or("n.d.");
    let retraction = Retraction::of(article);
    let title = retraction.title(article);
    let title = title.as_deref().unwrap_or("[Untitled]");
    if out.is_empty() {
        // Without authors the title comes first.
        sentence(&mut out, title);
        sentence(&mut out, &format!("({year})"));
    } else {
        if !out.ends_with('.') {
            out.push('.');
        }
        out.push_str(&format!(" ({year})."));
        sentence(&mut out, title);
    }
    match kind(article) {
        Kind::Article => {
            if let Some(journal) = &article.journal_info {
                let mut source = journal.title.as_deref().unwrap_or_default().to_owned();
                if let Some(volume) = &journal.volume {
                    source.push_str(&format!(", {volume}"));
                }
                if let Some(issue) = &journal.issue {
                    let gap = if journal.volume.is_none() { ", " } else { "" };
                    source.push_str(&format!("{gap}({issue})"));
                }
                if let Some(pages) = pages(article) {
                    let range = match page_range(pages) {
                        (first, Some(last)) => format!("{first}–{last}"),
                        (first, None) => first,
                    };
                    source.push_str(&format!(", {range}"));
                }
                sentence(&mut out, source.trim_start_matches(", "));
            }
        }
        Kind::Chapter | Kind::Book => {
            let book = article.book_info.as_ref();
            if kind(article) == Kind::Chapter
                && let Some(book) = book
                && let Some(title) = &book.title
            {
                let editors: Vec<String> = book.editors.iter().filter_map(plain_apa).collect();
                let editors = match &*editors {
                    [] => String::new(),
                    [name] => format!("{name} (Ed.), "),
                    several => format!("{} (Eds.), ", listed(several, ", & ", " & ")),
                };
                sentence(&mut out, &format!("In {editors}{title}"));
            }
            if let Some(publisher) = book.and_then(|book| book.publisher.as_deref()) {
                sentence(&mut out, publisher);
            }
        }
    }
    if let Some(url) = doi_url(article).or_else(|| pubmed_url(article)) {
        out.push(' ');
        out.push_str(&url);
    }
    out.push_str(&retraction.apa());
    out
}

/// The article in the style of the Modern Language Association.
pub fn mla(article: &Article<'_>) -> String {
    let mut out = String::new();
    let natural = |author: &Author<'_>| {
        let given = author.first_name.as_deref().or(author.initials.as_deref());
        let suffix = suffix(author);
        let parts = [given, author.last_name.as_deref(), suffix.as_deref()];
        match author.last_name {
            Some(_) => parts.into_iter().flatten().collect::<Vec<_>>().join(" "),
            None => inverted(author, ", "),
        }
    };
    match &*article.authors {
        [] => {}
        [author] => sentence(&mut out, &inverted(author, ", ")),
        [one, two] => sentence(&mut out, &format!("{}, and {}", inverted(one, ", "), natural(two))),
        [first, ..] => sentence(&mut out, &format!("{}, et al", inverted(first, ", "))),
    }
    let kind = kind(article);
    let retraction = Retraction::of(article);
    if let Some(title) = retraction.title(article) {
        let stop = if title.ends_with(['.', '?', '!']) { "" } else { "." };
        let gap = if out.is_empty() { "" } else { " " };
        match kind {
            Kind::Book => out.push_str(&format!("{gap}{title}{stop}")),
            _ => out.push_str(&format!("{gap}“{title}{stop}”")),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    if let Some(book) = &article.book_info {
        if kind == Kind::Chapter {
            parts.extend(book.title.as_deref().map(str::to_owned));
        }
        parts.extend(book.publisher.as_deref().map(str::to_owned));
    }
    if let Some(journal) = &article.journal_info {
        parts.extend(journal.title.as_deref().map(str::to_owned));
        parts.extend(journal.volume.as_deref().map(|volume| format!("vol. {volume}")));
        parts.extend(journal.issue.as_deref().map(|issue| format!("no. {issue}")));
    }
    parts.extend(mla_date(article));
    if let Some(pages) = pages(article) {
        parts.push(match page_range(pages) {
            (first, Some(last)) => format!("pp. {first}-{}", shortened(&first, &last)),
            (first, None) => format!("p. {first}"),
        });
    }
    parts.extend(doi_url(article).or_else(|| pubmed_url(article)));
    if !parts.is_empty() {
        out.push(' ');
        out.push_str(&parts.join(", "));
        out.push('.');
    }
    out.push_str(&retraction.mla());
    out.trim_start().to_owned()
}

/// Appends a sentence with its full stop.
fn sentence(out: &mut String, text: &str) {
    if text.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push(' ');
    }
    out.push_str(text);
    if !text.ends_with(['.', '?', '!']) {
        out.push('.');
    }
}

fn apa_name(author: &Author<'_>) -> String {
    let Some(last) = author.last_name.as_deref() else { return inverted(author, ", ") };
    let mut name = last.to_owned();
    if let Some(initials) = initials(author) {
        name.push_str(&format!(", {initials}"));
    }
    if let Some(suffix) = suffix(author) {
        name.push_str(&format!(", {suffix}"));
    }
    name
}

/// The suffix with the stop that NLM leaves out: Jr., but III.
fn suffix(author: &Author<'_>) -> Option<String> {
    let suffix = author.suffix.as_deref()?;
    Some(if matches!(suffix, "Jr" | "Sr") { format!("{suffix}.") } else { suffix.to_owned() })
}

/// An editor, whose initials APA puts first.
fn plain_apa(author: &Author<'_>) -> Option<String> {
    match (author.last_name.as_deref(), initials(author)) {
        (Some(last), Some(initials)) => Some(format!("{initials} {last}")),
        (Some(last), None) => Some(last.to_owned()),
        (None, _) => author.collective_name.as_deref().map(str::to_owned),
    }
}

fn apa_authors(authors: &[Author<'_>]) -> String {
    let names: Vec<String> = authors.iter().map(apa_name).collect();
    match names.split_last() {
        Some((last, _)) if names.len() > APA_AUTHORS => {
            let first = names.get(..APA_AUTHORS - 1).unwrap_or_default().join(", ");
            format!("{first}, . . . {last}")
        }
        _ => listed(&names, ", & ", ", & "),
    }
}

/// Names as a list; `before_last` separates the last of several names, `between` separates two.
fn listed(names: &[String], before_last: &str, between: &str) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        [first, second] => format!("{first}{between}{second}"),
        [first @ .., last] => format!("{}{before_last}{last}", first.join(", ")),
    }
}

fn mla_date(article: &Article<'_>) -> Option<String> {
    const NAMES: [&str; 12] = [
        "Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.",
        "Dec.",
    ];
    let year = year(article)?;
    let Some(date) = date(article).filter(|date| date.year.is_some()) else {
        return Some(year.to_owned());
    };
    let month = date.month.as_deref().and_then(dates::month);
    match month.and_then(|month| NAMES.get(usize::from(month) - 1)) {
        Some(month) => Some(match date.day {
            Some(day) => format!("{day} {month} {year}"),
            None => format!("{month} {year}"),
        }),
        None => Some(match &date.season {
            Some(season) => format!("{season} {year}"),
            None => year.to_owned(),
        }),
    }
}

/// The last page as MLA shortens it: from three digits on, the last two digits and those before
/// them that differ.
fn shortened<'l>(first: &str, last: &'l str) -> &'l str {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if first.len() != last.len() || last.len() < 3 || !digits(first) || !digits(last) {
        return last;
    }
    let same = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
    last.get(same.min(last.len() - 2)..).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_pages_are_shortened_as_mla_has_it() {
        for (first, last, shown) in [
            ("737", "738", "38"),
            ("1071", "1108", "108"),
            ("89", "103", "103"),
            ("5", "9", "9"),
            ("S12", "S19", "S19"),
        ] {
            assert_eq!(shortened(first, last), shown, "{first}-{last}");
        }
    }
}
