//! Marks citations of works that were retracted or have an expression of concern.
//!
//! Every style marks the title of a retracted work, because lists and reference managers show the
//! title: `[Retracted]` after it, where APA puts bracketed descriptions, so that sorting and
//! matching by title still work. Every style then names the notice: APA by the rule of its 7th
//! edition (section 10.1, "Retraction published …" in parentheses at the end), MLA as an optional
//! element at the end, RIS in `N1`, BibTeX in `note`, which bibliography styles print. An
//! expression of concern is named in the same places; the title is not marked. Corrections are not
//! cited, by APA's rule: a citation of a corrected article cites the corrected version.

use std::borrow::Cow;

use carrel_pdk::id::Doi;

use super::{page_range, title};
use crate::formats::{
    article::Article,
    updates::{Notice, Updates},
};

/// The additions to the citation of one article.
pub(crate) struct Retraction<'d> {
    /// The word in brackets after the title.
    mark: Option<&'static str>,
    /// The notices that are named.
    notices: Vec<Notice<'d>>,
}

impl<'d> Retraction<'d> {
    /// Reads the article's record.
    pub(crate) fn of(article: &Article<'d>) -> Self {
        let Updates { notices, is_retracted } = Updates::of(article);
        let in_part = notices.iter().any(|notice| notice.kind == "partial_retraction");
        let mark = match (is_retracted, in_part) {
            (true, _) => Some("Retracted"),
            (false, true) => Some("Partially retracted"),
            (false, false) => None,
        };
        let named = |notice: &Notice<'_>| match &*notice.kind {
            "republication" => is_retracted,
            kind => noun(kind).is_some(),
        };
        Self { mark, notices: notices.into_iter().filter(named).collect() }
    }

    /// The title with its mark. A title that already has one is unchanged.
    pub(crate) fn title<'a>(&self, article: &'a Article<'_>) -> Option<Cow<'a, str>> {
        let title = title(article)?;
        let Some(mark) = self.mark else { return Some(Cow::Borrowed(title)) };
        let lower = title.to_lowercase();
        let is_marked = lower.starts_with("retracted") || lower.contains("[retracted");
        Some(match is_marked {
            true => Cow::Borrowed(title),
            false => Cow::Owned(format!("{title} [{mark}]")),
        })
    }

    /// The notes for fields of their own: `Retraction in: Ann Desks. 2025;1(2):3. PMID: 9`.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.notices.iter().map(note).collect();
        if notes.is_empty() {
            notes.extend(self.mark.map(str::to_owned));
        }
        notes
    }

    /// APA's addition at the end, with the space before it.
    pub(crate) fn apa(&self) -> String {
        let mut out: String = self
            .notices
            .iter()
            .map(|notice| {
                format!(" ({} published {})", noun_of(notice), published_in(notice, apa_issue))
            })
            .collect();
        if let (Some(mark), true) = (self.mark, out.is_empty()) {
            out = format!(" ({mark})");
        }
        out
    }

    /// MLA's addition at the end, with the space before it.
    pub(crate) fn mla(&self) -> String {
        let sentence =
            |notice| format!(" {} published {}.", noun_of(notice), published_in(notice, mla_issue));
        let mut out: String = self.notices.iter().map(sentence).collect();
        if let (Some(mark), true) = (self.mark, out.is_empty()) {
            out = format!(" {mark}.");
        }
        out
    }
}

/// The noun for a kind of notice that citations name.
fn noun(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "retraction" => "Retraction",
        "partial_retraction" => "Partial retraction",
        "expression_of_concern" => "Expression of concern",
        _ => return None,
    })
}

fn noun_of(notice: &Notice<'_>) -> &'static str {
    noun(&notice.kind).unwrap_or("Corrected version")
}

fn note(notice: &Notice<'_>) -> String {
    let mut parts: Vec<String> = Vec::new();
    if let Some(citation) = &notice.citation {
        parts.push(citation.trim_end_matches('.').to_owned());
    }
    if let Some(pmid) = &notice.pmid {
        parts.push(format!("PMID: {pmid}"));
    }
    format!("{} in: {}", noun_of(notice), parts.join(". ")).trim_end_matches(" in: ").to_owned()
}

/// Where a notice was published, and its address.
fn published_in(notice: &Notice<'_>, write: fn(&CitedIssue<'_>) -> String) -> String {
    let words = notice.citation.as_deref().map(without_doi);
    let shown = words.map(|words| match CitedIssue::read(words) {
        Some(cited) => write(&cited),
        None => format!("in {}", words.trim_end_matches('.')),
    });
    let doi = notice.doi.as_deref().and_then(|doi| Doi::parse(doi).ok()).map(|doi| doi.url());
    let page = notice.pmid.as_deref();
    let page = page.map(|pmid| format!("https://pubmed.ncbi.nlm.nih.gov/{pmid}/"));
    let parts: Vec<String> = shown.into_iter().chain(doi.or(page)).collect();
    parts.join(", ")
}

fn without_doi(citation: &str) -> &str {
    citation.split(" doi:").next().unwrap_or(citation).trim_end()
}

fn apa_issue(cited: &CitedIssue<'_>) -> String {
    let mut out = format!("{}, {}", cited.year, cited.journal);
    if let Some(volume) = cited.volume {
        out.push_str(&format!(", {volume}"));
    }
    if let Some(issue) = cited.issue {
        // Brackets, because the whole text is in parentheses.
        out.push_str(&format!("[{issue}]"));
    }
    match cited.pages.map(page_range) {
        Some((first, Some(last))) => out.push_str(&format!(", pp. {first}–{last}")),
        Some((first, None)) => out.push_str(&format!(", p. {first}")),
        None => {}
    }
    out
}

fn mla_issue(cited: &CitedIssue<'_>) -> String {
    let mut parts = vec![format!("in {}", cited.journal)];
    parts.extend(cited.volume.map(|volume| format!("vol. {volume}")));
    parts.extend(cited.issue.map(|issue| format!("no. {issue}")));
    parts.push(cited.year.to_owned());
    parts.extend(cited.pages.map(|pages| match page_range(pages) {
        (first, Some(last)) => format!("pp. {first}-{last}"),
        (first, None) => format!("p. {first}"),
    }));
    parts.join(", ")
}

/// The parts of a citation in NLM's form: `Reader AM. Ann Desks. 2025 Jan;13(1):2-3.`
#[derive(Debug, PartialEq, Eq)]
struct CitedIssue<'c> {
    journal: &'c str,
    year: &'c str,
    volume: Option<&'c str>,
    issue: Option<&'c str>,
    pages: Option<&'c str>,
}

impl<'c> CitedIssue<'c> {
    /// `None` for a citation of another form, which is then shown as it is.
    fn read(citation: &'c str) -> Option<Self> {
        let is_year = |text: &str| {
            text.get(..4).is_some_and(|year| year.bytes().all(|byte| byte.is_ascii_digit()))
                && !text
                    .get(4..)
                    .is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_digit()))
        };
        let (at, _) = citation
            .match_indices(". ")
            .find(|(at, _)| citation.get(at + 2..).is_some_and(is_year))?;
        let (before, after) = (citation.get(..at)?, citation.get(at + 2..)?);
        let present = |text: &'c str| Some(text.trim()).filter(|text| !text.is_empty());
        let (_, numbers) = after.split_once(';').unwrap_or((after, ""));
        let (numbers, pages) = numbers.split_once(':').unwrap_or((numbers, ""));
        let (volume, issue) = numbers.split_once('(').unwrap_or((numbers, ""));
        Some(Self {
            journal: present(before.rsplit(". ").next().unwrap_or(before))?,
            year: after.get(..4)?,
            volume: present(volume.trim_end_matches('.')),
            issue: present(issue.trim_end_matches(['.', ')'])),
            pages: present(pages.split(';').next().unwrap_or(pages).trim_end_matches('.')),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::article::Correction;

    fn retracted(ref_type: &'static str, source: Option<&'static str>) -> Article<'static> {
        Article {
            title: Some("On desks.".into()),
            comments_corrections: vec![Correction {
                ref_type: Some(ref_type.into()),
                pmid: Some("99".into()),
                ref_source: source.map(Into::into),
                note: None,
            }],
            ..Article::default()
        }
    }

    #[test]
    fn citations_of_notices_are_taken_apart() {
        for (citation, journal, numbers) in [
            ("Ginekol Pol. 1998 Jul;69(7):559-60", "Ginekol Pol", (Some("69"), Some("7"))),
            (
                "Wu D, Lau YT. Mol Pharmacol. 1998 Feb;53(2):346",
                "Mol Pharmacol",
                (Some("53"), Some("2")),
            ),
            ("PLoS One. 2015;10:e0120211.", "PLoS One", (Some("10"), None)),
            ("Proc Natl Acad Sci U S A. 2019 Dec 6", "Proc Natl Acad Sci U S A", (None, None)),
        ] {
            let cited = CitedIssue::read(citation).unwrap();
            assert_eq!(
                (cited.journal, (cited.volume, cited.issue)),
                (journal, numbers),
                "{citation}"
            );
        }
        assert_eq!(CitedIssue::read("Retraction note in the same issue"), None);
        assert_eq!(CitedIssue::read("J. 20201"), None);
    }

    #[test]
    fn a_retraction_marks_the_title_and_names_its_notice_in_every_style() {
        let article =
            retracted("RetractionIn", Some("Ann Desks. 2025 Jan;13(1):2-3. doi: 10.5555/n."));
        let retraction = Retraction::of(&article);
        assert_eq!(retraction.title(&article).as_deref(), Some("On desks [Retracted]"));
        assert_eq!(
            retraction.apa(),
            " (Retraction published 2025, Ann Desks, 13[1], pp. 2–3, https://doi.org/10.5555/n)"
        );
        assert_eq!(
            retraction.mla(),
            " Retraction published in Ann Desks, vol. 13, no. 1, 2025, pp. 2-3, https://doi.org/10.5555/n."
        );
        assert_eq!(
            retraction.notes(),
            ["Retraction in: Ann Desks. 2025 Jan;13(1):2-3. doi: 10.5555/n. PMID: 99"]
        );
    }

    #[test]
    fn a_concern_is_named_and_marks_no_title() {
        let article = retracted("ExpressionOfConcernIn", None);
        let retraction = Retraction::of(&article);
        assert_eq!(retraction.title(&article).as_deref(), Some("On desks"));
        assert_eq!(
            retraction.apa(),
            " (Expression of concern published https://pubmed.ncbi.nlm.nih.gov/99/)"
        );
        assert_eq!(retraction.notes(), ["Expression of concern in: PMID: 99"]);
        // A correction is not cited.
        let corrected = Retraction::of(&retracted("ErratumIn", None));
        assert!(corrected.notes().is_empty() && corrected.apa().is_empty());
    }

    #[test]
    fn a_retraction_without_a_notice_and_one_that_the_title_states() {
        let mut article = Article {
            title: Some("On desks.".into()),
            publication_types: vec!["Retracted Publication".into()],
            ..Article::default()
        };
        let retraction = Retraction::of(&article);
        assert_eq!(
            (retraction.apa().as_str(), retraction.mla().as_str()),
            (" (Retracted)", " Retracted.")
        );
        assert_eq!(retraction.notes(), ["Retracted"]);
        article.title = Some("RETRACTED: On desks.".into());
        assert_eq!(retraction.title(&article).as_deref(), Some("RETRACTED: On desks"));
        let partly = Retraction::of(&retracted("PartialRetractionIn", None));
        assert_eq!(partly.title(&article).as_deref(), Some("RETRACTED: On desks"));
    }
}
