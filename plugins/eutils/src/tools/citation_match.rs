//! The tool `citation_match`: ECitMatch.

use carrel_pdk::{Error, Host, args};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{counted, invalid, present};
use crate::formats::ecitmatch::{self, Status};
use crate::request::Query;
use crate::response;

/// The most citations in one call.
const MOST: usize = 50;

/// What to match.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MatchArguments {
    /// Citations; each needs a journal or a year, and matches best with volume and first page.
    #[schemars(length(min = 1, max = 50))]
    pub citations: Vec<Citation>,
}

/// A citation in parts.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct Citation {
    /// Title or abbreviation of the journal.
    #[serde(default)]
    #[schemars(with = "String")]
    pub journal: Option<String>,
    // Year.
    #[serde(default, deserialize_with = "year")]
    #[schemars(with = "u32", range(min = 1500, max = 2200))]
    pub year: Option<u32>,
    // Volume.
    #[serde(default)]
    #[schemars(with = "String")]
    pub volume: Option<String>,
    // First page.
    #[serde(default)]
    #[schemars(with = "String")]
    pub first_page: Option<String>,
    /// First author: smith j.
    #[serde(default)]
    #[schemars(with = "String")]
    pub author_name: Option<String>,
    /// Comes back with the answer.
    #[serde(default)]
    #[schemars(with = "String")]
    pub key: Option<String>,
}

fn year<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    args::whole_number(deserializer).map(Some)
}

/// The answers.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct MatchResult {
    /// One for each citation, in their order.
    pub matches: Vec<Answer>,
    /// Citations that have exactly one PMID.
    pub total_matched: usize,
    /// Citations.
    pub total_submitted: usize,
}

/// An answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Answer {
    /// 0-based place of the citation in the arguments.
    pub index: usize,
    /// As given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How it ended.
    pub status: Status,
    /// PubMed identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<String>,
    /// PMIDs it could be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// NCBI's words when there is no PMID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Runs the tool.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments: MatchArguments = carrel_pdk::arguments(arguments)?;
    let count = arguments.citations.len();
    counted("citations", count, MOST)?;
    let mut lines = Vec::with_capacity(count);
    for (index, citation) in arguments.citations.iter().enumerate() {
        let clean = |text: Option<&String>| {
            present(text.map(String::as_str)).unwrap_or_default().replace('|', " ")
        };
        let journal = clean(citation.journal.as_ref());
        let year = citation.year.map(|year| year.to_string()).unwrap_or_default();
        if journal.is_empty() && year.is_empty() {
            return Err(invalid(format!("citations[{index}]: a journal or a year is needed")));
        }
        lines.push(format!(
            "{journal}|{year}|{}|{}|{}|c{index}|",
            clean(citation.volume.as_ref()),
            clean(citation.first_page.as_ref()),
            clean(citation.author_name.as_ref()),
        ));
    }
    let query = Query::new("ecitmatch")
        .with("db", "pubmed")
        .with("retmode", "xml")
        .with("bdata", lines.join("\r"));
    let matches = response::ask(host, &query, |body| {
        let found = ecitmatch::parse(body)?.matches;
        Ok((0..count)
            .map(|index| {
                let name = format!("c{index}");
                let answer = found.iter().find(|entry| entry.key.as_deref() == Some(name.as_str()));
                let answer = answer.cloned().unwrap_or_default();
                Answer {
                    index,
                    key: arguments.citations.get(index).and_then(|c| present(c.key.as_deref())),
                    status: answer.status,
                    pmid: answer.pmid.map(|pmid| pmid.into_owned()),
                    candidates: answer.candidates.into_iter().map(|id| id.into_owned()).collect(),
                    reason: answer.reason.map(|words| words.into_owned()),
                }
            })
            .collect::<Vec<_>>())
    })?;
    let total_matched = matches.iter().filter(|answer| answer.status == Status::Matched).count();
    Ok(crate::to_json(&MatchResult { matches, total_matched, total_submitted: count }))
}
