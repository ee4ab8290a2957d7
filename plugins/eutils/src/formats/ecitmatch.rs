//! ECitMatch → PubMed identifiers of citations. Pure.
//!
//! Despite its `retmode=xml` the response is text:
//!
//! ```text
//! line      journal|year|volume|first page|author|key|OUTCOME
//! OUTCOME   31452104
//!           NOT_FOUND;INVALID_JOURNAL            any other text is a reason as well
//!           AMBIGUOUS 1111,2222                  or AMBIGUOUS (2 citations)
//! ```

use carrel_pdk::Error;
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::{article::Text, report};

/// The answers of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Matches<'d> {
    /// One answer for each citation.
    pub matches: Vec<Match<'d>>,
}

/// An answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Match<'d> {
    /// The key that was given with the citation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Text<'d>>,
    /// How it ended.
    pub status: Status,
    /// The identifier, when there is exactly one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<Text<'d>>,
    /// Candidates, when NCBI names them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Text<'d>>,
    /// NCBI's words when there is no identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text<'d>>,
}

/// How a match ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[allow(missing_docs, reason = "described one by one they would make no plain enum")]
pub enum Status {
    Matched,
    #[default]
    NotFound,
    Ambiguous,
}

/// Reads a document.
///
/// # Errors
///
/// `invalid_document` with a position for a line that is not an answer; `upstream_error` when the
/// document reports that the request failed.
pub fn parse(document: &str) -> Result<Matches<'_>, Error> {
    let body = document.trim_start_matches('\u{feff}');
    if let Some(error) = report::text(body) {
        return Err(error);
    }
    let mut matches = Vec::new();
    for line in body.split(['\n', '\r']) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let fields: Vec<&str> = line.split('|').collect();
        let [.., key, answer] = &*fields else {
            return Err(not_an_answer(document, line));
        };
        if fields.len() < 7 {
            return Err(not_an_answer(document, line));
        }
        matches.push(read(key.trim(), answer.trim()));
    }
    Ok(Matches { matches })
}

fn not_an_answer(document: &str, line: &str) -> Error {
    let at = line.as_ptr() as usize - document.as_ptr() as usize;
    let found = carrel_pdk::text::excerpt(line);
    let message =
        format!("expected a citation and its identifier between bars but found {found:?}");
    Error::invalid_document(message, at as u64, "")
}

fn read<'d>(key: &'d str, answer: &'d str) -> Match<'d> {
    let key = Some(key).filter(|key| !key.is_empty()).map(Text::from);
    if !answer.is_empty() && answer.bytes().all(|byte| byte.is_ascii_digit()) {
        return Match {
            key,
            status: Status::Matched,
            pmid: Some(answer.into()),
            ..Match::default()
        };
    }
    let reason = Some(Text::from(answer)).filter(|answer| !answer.is_empty());
    let Some(rest) = answer.strip_prefix("AMBIGUOUS") else {
        return Match { key, reason, ..Match::default() };
    };
    // "(2 citations)" is a count, not an identifier.
    let named = rest.split('(').next().unwrap_or_default();
    let candidates = named
        .split(|character: char| !character.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(Text::from)
        .collect();
    Match { key, status: Status::Ambiguous, candidates, reason, ..Match::default() }
}
