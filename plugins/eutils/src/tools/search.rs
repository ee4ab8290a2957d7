//! The tool `search`: ESearch, and ESummary for the first results.

use carrel_pdk::{Code, Error, Host, args};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::summaries::{self, Brief};
use super::{invalid, present, ranged, syntax};
use crate::formats::{
    dates,
    esearch::{self, Found},
};
use crate::request::Query;
use crate::response;

/// The number of results that PubMed returns at most, over all pages.
const REACH: u32 = 9_999;
/// Characters of a replaced term that a notice shows.
const SHOWN: usize = 160;

/// What to search PubMed for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchArguments {
    /// In PubMed's syntax: asthma[mh] AND smith j[au], "gene therapy"[tiab].
    #[schemars(length(min = 3, max = 20_000))]
    pub query_term: String,
    /// PMIDs to return at most.
    #[serde(default = "twenty", deserialize_with = "args::whole_number")]
    #[schemars(range(min = 1, max = 1000))]
    pub max_results: u32,
    /// Results to skip.
    #[serde(default, deserialize_with = "args::whole_number")]
    #[schemars(range(max = 9998))]
    pub offset: u32,
    // Order of the results.
    #[serde(default)]
    pub sort_by: SortBy,
    // Dates to keep to.
    #[serde(default)]
    #[schemars(with = "DateRange")]
    pub date_range: Option<DateRange>,
    /// Any of these will do: Review, Clinical Trial.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub filter_by_publication_types: Vec<String>,
    /// How many of the first results to summarise.
    #[serde(default, deserialize_with = "args::whole_number")]
    #[schemars(range(max = 100))]
    pub fetch_brief_summaries: u32,
    /// Keep the result for web_env.
    #[serde(default)]
    pub use_history: bool,
    /// Session of an earlier search, to search within its result.
    #[serde(default)]
    #[schemars(with = "String")]
    pub web_env: Option<String>,
    /// Of that result.
    #[serde(default)]
    #[schemars(with = "String")]
    pub query_key: Option<String>,
}

/// Dates to keep to; an end that is left out is open.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct DateRange {
    /// YYYY, YYYY/MM or YYYY/MM/DD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = "^[0-9]{4}([/.-][0-9]{2}([/.-][0-9]{2})?)?$"))]
    pub min_date: Option<String>,
    /// Likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = "^[0-9]{4}([/.-][0-9]{2}([/.-][0-9]{2})?)?$"))]
    pub max_date: Option<String>,
    /// Date of publication, of modification, or of entry into PubMed.
    #[serde(default)]
    pub date_type: DateType,
}

/// Which date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(missing_docs, reason = "NCBI's words; described one by one they would make no plain enum")]
pub(crate) enum DateType {
    #[default]
    Pdat,
    Mdat,
    Edat,
}

/// Order of results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[allow(missing_docs, reason = "described one by one they would make no plain enum")]
pub(crate) enum SortBy {
    #[default]
    Relevance,
    PubDate,
    Author,
    JournalName,
}

/// A page of results.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SearchResult {
    /// What was asked.
    pub search_parameters: SearchParameters,
    /// The term that NCBI was sent.
    pub effective_e_search_term: String,
    /// The query as NCBI understood it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_translation: Option<String>,
    /// Matches in all.
    pub total_found: u64,
    /// PMIDs in this page.
    pub retrieved_pmid_count: usize,
    /// 0-based index of the first one.
    pub offset: u32,
    /// The PMIDs.
    pub pmids: Vec<String>,
    /// Summaries of the first of them.
    pub brief_summaries: Vec<Brief>,
    /// The `offset` that continues this page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u32>,
    /// History session that holds the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_env: Option<String>,
    /// The result's number in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_key: Option<String>,
    /// The request, without key and address.
    pub e_search_url: String,
    /// The request for summaries, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e_summary_url: Option<String>,
    /// Terms that NCBI ignored, did not find or replaced, and limits that were met.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// The arguments that hold, defaults included.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SearchParameters {
    /// As given.
    pub query_term: String,
    /// As given.
    pub max_results: u32,
    /// As given.
    pub sort_by: SortBy,
    /// As given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_range: Option<DateRange>,
    /// As given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filter_by_publication_types: Vec<String>,
    /// As given.
    pub fetch_brief_summaries: u32,
}

fn twenty() -> u32 {
    20
}

/// Runs the tool.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments: SearchArguments = carrel_pdk::arguments(arguments)?;
    let (query, term, retmax) = plan(&arguments)?;
    let loose = syntax::loose_end(&term);
    let steps = 1 + u64::from(arguments.fetch_brief_summaries > 0);
    host.progress(0, steps, "searching PubMed");
    let found = response::ask(host, &query, |body| {
        let found = esearch::parse(body)?;
        let reachable = found.count.min(u64::from(REACH));
        if found.pmids.is_empty() && u64::from(arguments.offset) < reachable {
            let message = format!("NCBI answered with no results of {}", found.count);
            return Err(Error::new(Code::UpstreamInvalid, message));
        }
        Ok(found.into_owned())
    })?;
    let mut notices = notices(&found, &arguments, retmax);
    notices.extend(loose.map(|fault| {
        format!("query_term has {fault}; query_translation shows how PubMed read it")
    }));
    let summarized = found.pmids.len().min(arguments.fetch_brief_summaries as usize);
    let (mut summaries, mut summary_url) = (Vec::new(), None);
    if summarized > 0 {
        host.progress(1, steps, "reading summaries");
        let pmids = found.pmids.get(..summarized).unwrap_or_default();
        let (found_summaries, url, missing) = summarise(host, &found, pmids, &arguments);
        (summaries, summary_url) = (found_summaries, Some(url));
        notices.extend(missing);
    }
    let next = arguments.offset + u32::try_from(found.pmids.len()).unwrap_or(u32::MAX);
    let more = !found.pmids.is_empty() && u64::from(next) < found.count && next < REACH;
    let own = |text: crate::formats::article::Text<'static>| text.into_owned();
    let result = SearchResult {
        effective_e_search_term: term,
        query_translation: found.query_translation.map(own),
        total_found: found.count,
        retrieved_pmid_count: found.pmids.len(),
        offset: arguments.offset,
        pmids: found.pmids.into_iter().map(own).collect(),
        brief_summaries: summaries,
        next_offset: more.then_some(next),
        web_env: found.web_env.map(own),
        query_key: found.query_key.map(own),
        e_search_url: query.url(),
        e_summary_url: summary_url,
        notices,
        search_parameters: SearchParameters {
            query_term: arguments.query_term,
            max_results: arguments.max_results,
            sort_by: arguments.sort_by,
            date_range: arguments.date_range,
            filter_by_publication_types: arguments.filter_by_publication_types,
            fetch_brief_summaries: arguments.fetch_brief_summaries,
        },
    };
    host.progress(steps, steps, "done");
    Ok(crate::to_json(&result))
}

/// The request, the term in it, and how many results it asks for.
fn plan(arguments: &SearchArguments) -> Result<(Query, String, u32), Error> {
    let term = present(Some(&arguments.query_term))
        .filter(|term| term.chars().count() >= 3)
        .ok_or_else(|| invalid("query_term: at least 3 characters are needed"))?;
    ranged("max_results", arguments.max_results, 1, 1000)?;
    ranged("fetch_brief_summaries", arguments.fetch_brief_summaries, 0, 100)?;
    // Limited to the results that PubMed returns.
    ranged("offset", arguments.offset, 0, REACH - 1)?;
    let (web_env, query_key) =
        (present(arguments.web_env.as_deref()), present(arguments.query_key.as_deref()));
    if web_env.is_some() != query_key.is_some() {
        return Err(invalid("web_env and query_key belong together: give both or none"));
    }
    let types: Vec<String> = arguments
        .filter_by_publication_types
        .iter()
        .filter_map(|kind| present(Some(&kind.replace('"', " "))))
        .map(|kind| format!("\"{kind}\"[Publication Type]"))
        .collect();
    if let (Some(fault), false) = (syntax::loose_end(&term), types.is_empty()) {
        return Err(invalid(format!(
            "query_term: {fault}, so that filter_by_publication_types would not hold for all of it"
        )));
    }
    let term = match &*types {
        [] => term,
        [filter] => format!("({term}) AND {filter}"),
        several => format!("({term}) AND ({})", several.join(" OR ")),
    };
    let retmax = arguments.max_results.min(REACH - arguments.offset);
    let sort = match arguments.sort_by {
        SortBy::Relevance => "relevance",
        SortBy::PubDate => "pub_date",
        SortBy::Author => "Author",
        SortBy::JournalName => "JournalName",
    };
    let history = arguments.use_history || arguments.fetch_brief_summaries > 0 || web_env.is_some();
    let (min, max) = range(arguments.date_range.as_ref())?;
    let kind = arguments.date_range.as_ref().filter(|_| min.is_some()).map(|range| {
        match range.date_type {
            DateType::Pdat => "pdat",
            DateType::Mdat => "mdat",
            DateType::Edat => "edat",
        }
    });
    let query = Query::new("esearch")
        .with("db", "pubmed")
        .with("term", term.as_str())
        .with("retmode", "xml")
        .with("retmax", retmax.to_string())
        .with("retstart", arguments.offset.to_string())
        .with("sort", sort)
        .maybe("datetype", kind)
        .maybe("mindate", min)
        .maybe("maxdate", max)
        .maybe("usehistory", history.then_some("y"))
        .maybe("WebEnv", web_env)
        .maybe("query_key", query_key);
    Ok((query, term, retmax))
}

/// Both ends of the range in NCBI's date format. NCBI requires both or none, so an open end becomes
/// a year outside all records.
fn range(range: Option<&DateRange>) -> Result<(Option<String>, Option<String>), Error> {
    let Some(range) = range else { return Ok((None, None)) };
    let read = |name: &str, text: Option<&String>| {
        let Some(text) = present(text.map(String::as_str)) else { return Ok(None) };
        let parts: Vec<&str> = text.split(['/', '-', '.']).collect();
        let number = |at: usize, length: usize, most: u32| {
            parts.get(at).is_none_or(|part| {
                part.len() == length
                    && part.bytes().all(|byte| byte.is_ascii_digit())
                    && part.parse().is_ok_and(|value: u32| (1..=most).contains(&value))
            })
        };
        if parts.len() > 3 || !number(0, 4, 9999) || !number(1, 2, 12) || !number(2, 2, 31) {
            let form = "YYYY, YYYY/MM or YYYY/MM/DD";
            return Err(invalid(format!("{name}: expected {form} but found {text:?}")));
        }
        let part = |at: usize| parts.get(at).and_then(|part| part.parse::<u16>().ok());
        if let (Some(year), Some(month), Some(day)) = (part(0), part(1), part(2))
            && day > dates::days(year, month)
        {
            let days = dates::days(year, month);
            return Err(invalid(format!("{name}: {text} is no day; that month has {days}")));
        }
        Ok(Some(parts.join("/")))
    };
    let min = read("date_range.min_date", range.min_date.as_ref())?;
    let max = read("date_range.max_date", range.max_date.as_ref())?;
    match (min, max) {
        (None, None) => Ok((None, None)),
        (min, max) => {
            let (min, max) = (min.unwrap_or("1000".into()), max.unwrap_or("3000".into()));
            // A shorter date is a prefix of the dates that it contains.
            let common = min.len().min(max.len());
            if min.get(..common) > max.get(..common) {
                return Err(invalid(format!("date_range: min_date {min} is after max_date {max}")));
            }
            Ok((Some(min), Some(max)))
        }
    }
}

/// Summaries of `pmids` in their order, by way of the history server, and of those it does not give
/// by identifier; the request; and notices of what is missing.
///
/// The PMIDs are the result, so a failure here does not fail the call.
fn summarise(
    host: &dyn Host,
    found: &Found<'_>,
    pmids: &[crate::formats::article::Text<'_>],
    arguments: &SearchArguments,
) -> (Vec<Brief>, String, Vec<String>) {
    let history = match (&found.web_env, &found.query_key) {
        (Some(web_env), Some(query_key)) => Some(
            Query::new("esummary")
                .with("db", "pubmed")
                .with("version", "2.0")
                .with("query_key", query_key.as_ref())
                .with("WebEnv", web_env.as_ref())
                .with("retstart", arguments.offset.to_string())
                .with("retmax", pmids.len().to_string()),
        ),
        _ => None,
    };
    let mut url = String::new();
    let (mut summaries, mut errors, mut failure) = (Vec::new(), Vec::new(), None);
    if let Some(query) = history {
        url = query.url();
        match summaries::ask(host, &query) {
            Ok((found, reported)) => (summaries, errors) = (found, reported),
            // If the session has expired, the known identifiers are used.
            Err(error) if matches!(error.code, Code::UpstreamError | Code::UpstreamInvalid) => {}
            Err(error) => failure = Some(error),
        }
    }
    let has = |summaries: &[Brief], pmid: &str| summaries.iter().any(|brief| brief.pmid == pmid);
    let reported = |errors: &[String], pmid: &str| {
        errors.iter().any(|error| error.split(':').next() == Some(pmid))
    };
    let missing: Vec<&str> = pmids
        .iter()
        .map(AsRef::as_ref)
        .filter(|pmid| !has(&summaries, pmid) && !reported(&errors, pmid))
        .collect();
    // No second request to an unreachable upstream.
    if !missing.is_empty() && failure.is_none() {
        let query = summaries::by_ids(&missing);
        url = query.url();
        match summaries::ask(host, &query) {
            Ok((more, reported)) => {
                summaries.extend(more);
                errors.extend(reported);
            }
            Err(error) => failure = Some(error),
        }
    }
    let mut notices: Vec<String> =
        errors.into_iter().map(|error| format!("no summary of {error}")).collect();
    if let Some(error) = failure {
        let lost = pmids.iter().filter(|pmid| !has(&summaries, pmid)).count();
        notices.push(format!(
            "no summaries of {lost} articles, so retractions among them are not known: {}",
            error.message
        ));
    }
    let mut ordered = Vec::with_capacity(pmids.len());
    for pmid in pmids {
        if let Some(at) = summaries.iter().position(|brief| brief.pmid == *pmid) {
            ordered.push(summaries.swap_remove(at));
        }
    }
    (ordered, url, notices)
}

/// What a reader of the result should know.
fn notices(found: &Found<'_>, arguments: &SearchArguments, retmax: u32) -> Vec<String> {
    let mut notices = Vec::new();
    for words in found.errors.iter().chain(&found.warnings) {
        notices.push(match words.split_once(": ") {
            Some(("PhraseNotFound", term)) => format!("PubMed does not know the phrase {term:?}"),
            Some(("FieldNotFound", field)) => format!("PubMed does not know the field {field:?}"),
            Some(("PhraseIgnored", term)) => format!("PubMed ignored {term:?}"),
            Some(("QuotedPhraseNotFound", term)) => {
                format!("PubMed has no phrase {term} and searched for its words")
            }
            _ => format!("PubMed says: {words}"),
        });
    }
    for translation in &found.translations {
        let mut to: String = translation.to.chars().take(SHOWN).collect();
        if to.len() < translation.to.len() {
            to.push('…');
        }
        notices.push(format!("PubMed read {:?} as {to}", translation.from));
    }
    if retmax < arguments.max_results {
        notices.push(format!("max_results was lowered to {retmax}, where PubMed's pages end"));
    }
    if found.count > u64::from(REACH) {
        notices.push(format!(
            "PubMed gives the first {REACH} of {} results; narrow the search for the others",
            found.count
        ));
    }
    notices
}
