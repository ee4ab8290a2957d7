//! Summaries in brief, for lists of results.

use carrel_pdk::{Error, Host};
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::{
    dates, esummary,
    updates::{self, UpdateFlags},
};
use crate::request::Query;
use crate::response;

/// Authors that are named before "et al."
const NAMED: usize = 3;

/// An article in one line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Brief {
    /// PubMed identifier.
    pub pmid: String,
    /// Whether it was retracted or corrected.
    #[serde(flatten)]
    pub updates: UpdateFlags,
    /// Title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// First authors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authors: Option<String>,
    /// Journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Date of publication as far as it is sure: YYYY, YYYY-MM or YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pub_date: Option<String>,
    /// Date of electronic publication, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epub_date: Option<String>,
    /// DOI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    /// PubMed Central identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmcid: Option<String>,
}

/// The request for the summaries of `pmids`.
pub(crate) fn by_ids<S: AsRef<str>>(pmids: &[S]) -> Query {
    Query::new("esummary").with("db", "pubmed").with("version", "2.0").ids(pmids)
}

/// The summaries that a request asks for, and what NCBI says of those that are missing.
pub(crate) fn ask(host: &dyn Host, query: &Query) -> Result<(Vec<Brief>, Vec<String>), Error> {
    response::ask(host, query, |body| {
        let found = esummary::parse(body)?;
        Ok((found.summaries.into_iter().filter_map(brief).collect(), found.errors))
    })
}

fn brief(summary: esummary::Summary<'_>) -> Option<Brief> {
    let own = |text: crate::formats::article::Text<'_>| text.into_owned();
    Some(Brief {
        pmid: summary.pmid.map(own)?,
        updates: UpdateFlags {
            is_retracted: summary.is_retracted,
            is_of_concern: summary.is_of_concern,
            updated_by: updates::in_brief(summary.updated_by),
        },
        title: summary.title.map(own),
        authors: names(&summary.authors),
        source: summary.source.map(own),
        pub_date: summary.pub_date.as_deref().and_then(dates::from_words),
        epub_date: summary.epub_date.as_deref().and_then(dates::from_words),
        doi: summary.doi.map(own),
        pmcid: summary.pmcid.map(own),
    })
}

fn names<S: AsRef<str>>(authors: &[S]) -> Option<String> {
    let named: Vec<&str> = authors.iter().take(NAMED).map(AsRef::as_ref).collect();
    match authors.len() {
        0 => None,
        few if few <= NAMED => Some(named.join(", ")),
        _ => Some(format!("{}, et al.", named.join(", "))),
    }
}
