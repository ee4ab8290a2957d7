//! The tool `convert_ids`: PMID ↔ PMCID ↔ DOI.

use std::collections::HashSet;

use carrel_pdk::{Error, Host};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pmid::IdText;
use super::{counted, invalid, summaries, unique};
use crate::tools::resolve::{self, Id, Resolved};

/// The most identifiers in one call.
const MOST: usize = 100;

/// What to convert.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConvertArguments {
    /// PMIDs, PMCIDs and DOIs, mixed; a bare number is a PMID.
    #[schemars(length(min = 1, max = 100))]
    pub ids: Vec<IdText>,
}

/// The identifiers of each.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ConvertResult {
    /// One record for each identifier that is known.
    pub records: Vec<Record>,
    /// Identifiers that neither PMC nor PubMed has.
    pub not_found: Vec<String>,
    /// Texts that are no identifier.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<String>,
    /// What a reader of the result should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// The identifiers of one article.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Record {
    /// As given.
    pub requested_id: String,
    /// PubMed identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<String>,
    /// PubMed Central identifier; absent when the article is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmcid: Option<String>,
    /// DOI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
}

/// Runs the tool.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments: ConvertArguments = carrel_pdk::arguments(arguments)?;
    counted("ids", arguments.ids.len(), MOST)?;
    let ids: Vec<String> = arguments.ids.into_iter().map(|id| id.0).collect();
    let mut requested: Vec<(&str, Id)> = Vec::new();
    let mut wrong = Vec::new();
    for text in unique(&ids) {
        match Id::parse(text) {
            Some(id) => requested.push((text, id)),
            None => wrong.push(text.to_owned()),
        }
    }
    if requested.is_empty() {
        let first = carrel_pdk::text::excerpt(wrong.first().map_or("", String::as_str));
        return Err(invalid(format!("ids: expected PMIDs, PMCIDs or DOIs but found {first:?}")));
    }
    // Two spellings of one identifier are looked up once.
    let mut seen = HashSet::new();
    let distinct = requested.iter().map(|(_, id)| id).filter(|id| seen.insert(id.key()));
    let ids: Vec<Id> = distinct.cloned().collect();
    let (mut known, failures) = resolve::convert(host, &ids);
    let unknown: Vec<&Id> = ids.iter().filter(|id| !known.contains_key(&id.key())).collect();
    let mut notices = Vec::new();
    if !unknown.is_empty() {
        match in_pubmed(host, &unknown) {
            Ok(found) => known.extend(found),
            // One of the two services suffices; without both, the call fails.
            Err(error) if known.is_empty() => {
                return Err(failures.into_iter().next().unwrap_or(error));
            }
            Err(error) => notices.push(format!("PubMed was not asked: {}", error.message)),
        }
    }
    notices.extend(failures.iter().map(|error| {
        format!("PMC's converter could not be asked, so PMCIDs may be missing: {}", error.message)
    }));
    let (mut records, mut not_found) = (Vec::new(), Vec::new());
    for (text, id) in requested {
        match known.get(&id.key()) {
            Some(resolved) => records.push(Record {
                requested_id: text.to_owned(),
                pmid: resolved.pmid.clone(),
                pmcid: resolved.pmcid.clone(),
                doi: resolved.doi.clone(),
            }),
            None => not_found.push(text.to_owned()),
        }
    }
    Ok(crate::to_json(&ConvertResult { records, not_found, invalid: wrong, notices }))
}

/// What PubMed knows of identifiers, by their keys.
fn in_pubmed(host: &dyn Host, ids: &[&Id]) -> Result<Vec<(String, Resolved)>, Error> {
    let mut pmids: Vec<String> = ids
        .iter()
        .filter_map(|id| match id {
            Id::Pmid(pmid) => Some(pmid.clone()),
            _ => None,
        })
        .collect();
    let others: Vec<&Id> = ids.iter().copied().filter(|id| !matches!(id, Id::Pmid(_))).collect();
    if !others.is_empty() {
        pmids.extend(resolve::search(host, &others)?);
    }
    if pmids.is_empty() {
        return Ok(Vec::new());
    }
    let (summaries, _) = summaries::ask(host, &summaries::by_ids(&pmids))?;
    let mut found = Vec::new();
    for summary in summaries {
        let resolved = Resolved {
            pmid: Some(summary.pmid.clone()),
            pmcid: summary.pmcid.clone(),
            doi: summary.doi.clone(),
        };
        let keys =
            [Some(summary.pmid), summary.pmcid, summary.doi.map(|doi| doi.to_ascii_lowercase())];
        found.extend(keys.into_iter().flatten().map(|key| (key, resolved.clone())));
    }
    // A summary counts only for the requested identifiers.
    found.retain(|(key, _)| ids.iter().any(|id| id.key() == *key));
    Ok(found)
}
