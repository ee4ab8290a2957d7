//! Entry → the contract's bibliographic record: the only file that translates arXiv's terms to
//! Carrel's.

use std::borrow::Cow;

use carrel_pdk::id::{ArxivId, Doi};
use carrel_pdk::record::{Agent, Ids, Link, Relation, Work};
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::entry::{Entry, Page};

/// A page of results as records.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Works<'d> {
    /// Matches of the query in all, not just on this page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_results: Option<u64>,
    /// 0-based index of the first result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_index: Option<u64>,
    /// Results in one page, as arXiv states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items_per_page: Option<u64>,
    /// The records.
    pub works: Vec<Work<'d>>,
}

impl<'d> From<Page<'d>> for Works<'d> {
    fn from(page: Page<'d>) -> Self {
        Self {
            total_results: page.total_results,
            start_index: page.start_index,
            items_per_page: page.items_per_page,
            works: page.entries.into_iter().map(work).collect(),
        }
    }
}

impl Works<'_> {
    /// The page as JSON text.
    pub fn to_json(&self) -> String {
        // These types have neither maps with non-string keys nor floats, so serialization cannot
        // fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The record of an entry.
///
/// The record is the e-print: its date is that of its first version. A DOI is the published
/// article's, which authors enter there; further ones are errata and the like, and become relations.
/// Names stay in one piece, because arXiv does not say where they divide, and so does the journal
/// reference, which is in the record only by way of its DOI.
pub fn work(entry: Entry<'_>) -> Work<'_> {
    let mut dois = entry.dois.into_iter().map(|doi| doi.doi).filter(|doi| Doi::parse(doi).is_ok());
    let id = entry.id.as_deref().and_then(|id| ArxivId::parse(id).ok());
    let pdf = entry.pdf_url.map(|url| Link {
        url,
        content_type: Some("application/pdf".into()),
        ..Link::default()
    });
    let source = entry.source_url.map(|url| Link {
        url: url.into(),
        application: Some("source".into()),
        ..Link::default()
    });
    Work {
        ids: Ids { doi: dois.next(), arxiv: id.map(|id| id.to_string().into()), ..Ids::default() },
        // What CSL calls a preprint.
        kind: "article".into(),
        source_type: Some("e-print".into()),
        title: entry.title,
        summary: entry.summary,
        authors: entry
            .authors
            .into_iter()
            .map(|author| Agent {
                literal: Some(author.name),
                affiliations: author.affiliations,
                ..Agent::default()
            })
            .collect(),
        issued: entry.published.and_then(day),
        subjects: entry.categories,
        url: entry.abstract_url,
        links: pdf.into_iter().chain(source).collect(),
        relations: dois
            .map(|id| Relation { kind: "related".into(), id_type: "doi".into(), id })
            .collect(),
        source: "arxiv".into(),
        ..Work::default()
    }
}

/// The day of a point in time, when it begins with one.
fn day(time: Cow<'_, str>) -> Option<Cow<'_, str>> {
    let date = time.get(..10)?;
    let right = date.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    }) && matches!(date[5..7].parse(), Ok(1..=12))
        && matches!(date[8..].parse(), Ok(1..=31));
    right.then(|| Cow::Owned(date.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::entry::Author;

    #[test]
    fn an_entry_becomes_a_record_without_anything_made_up() {
        let doi = |doi: &'static str| crate::formats::entry::Doi { doi: doi.into(), url: None };
        let entry = Entry {
            id: Some("hep-ex/0307015v1".into()),
            title: Some("Silence".into()),
            published: Some("2003-07-07T18:48:36Z".into()),
            authors: vec![Author { name: "The QUIET Collaboration".into(), affiliations: vec![] }],
            categories: vec!["hep-ex".into()],
            dois: vec![doi("10.5555/SIL.1"), doi("not a doi"), doi("10.5555/SIL.2")],
            pdf_url: Some("https://arxiv.org/pdf/hep-ex/0307015v1".into()),
            ..Entry::default()
        };
        assert_eq!(
            serde_json::to_value(work(entry)).unwrap(),
            serde_json::json!({
                "ids": {"doi": "10.5555/SIL.1", "arxiv": "hep-ex/0307015v1"},
                "type": "article",
                "source_type": "e-print",
                "title": "Silence",
                "authors": [{"literal": "The QUIET Collaboration"}],
                "issued": "2003-07-07",
                "subjects": ["hep-ex"],
                "links": [{
                    "url": "https://arxiv.org/pdf/hep-ex/0307015v1",
                    "content_type": "application/pdf"
                }],
                "relations": [{"type": "related", "id_type": "doi", "id": "10.5555/SIL.2"}],
                "source": "arxiv"
            })
        );
    }

    #[test]
    fn a_date_that_is_none_is_left_out() {
        for time in ["", "2003", "2003-13-01T00:00:00Z", "2003-07-32", "yesterday!!", "２００３-07"]
        {
            assert_eq!(day(time.into()), None, "{time}");
        }
    }
}
