//! PMC's identifier converter → identifiers of one article in all their kinds. Pure.
//!
//! ```text
//! {"status": "ok", "records": [RECORD…]}
//! RECORD   {"requested-id", "pmid", "pmcid", "doi", "mid", "live"}
//!          {"requested-id", "status": "error", "errmsg"}              PMC has no such article
//! failure  {"status": "error", "message": TEXT} or {"errors": [TEXT | {"message"}…]}
//! ```
//!
//! Identifiers are texts or numbers, `live` is a truth value or its text.

use std::borrow::Cow;

use carrel_pdk::{Code, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::formats::{article::Text, elements};

/// The answers of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Converted<'d> {
    /// One answer for each identifier that is known.
    pub records: Vec<Record<'d>>,
    /// Identifiers that PMC does not have.
    pub not_found: Vec<Text<'d>>,
    /// What PMC reports of them.
    pub errors: Vec<String>,
}

/// Identifiers of one article.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Record<'d> {
    /// The identifier that was asked about.
    pub requested_id: Text<'d>,
    /// PubMed identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<Text<'d>>,
    /// PubMed Central identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmcid: Option<Text<'d>>,
    /// DOI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<Text<'d>>,
    /// Identifier of the author's manuscript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mid: Option<Text<'d>>,
    /// Whether the article may be shown now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<bool>,
}

/// The document as the service writes it. Numbers are JSON numbers or strings.
#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    records: Option<Vec<RawRecord>>,
    #[serde(default)]
    errors: Option<Vec<serde_json::Value>>,
}

#[derive(Deserialize)]
struct RawRecord {
    #[serde(default, rename = "requested-id")]
    requested_id: Option<serde_json::Value>,
    #[serde(default)]
    pmid: Option<serde_json::Value>,
    #[serde(default)]
    pmcid: Option<serde_json::Value>,
    #[serde(default)]
    doi: Option<serde_json::Value>,
    #[serde(default)]
    mid: Option<serde_json::Value>,
    #[serde(default)]
    live: Option<serde_json::Value>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    errmsg: Option<String>,
}

/// Reads a document.
///
/// # Errors
///
/// `invalid_document` with a position when it is not an answer of the converter; `upstream_error`
/// when it reports that the request failed.
pub fn parse(document: &str) -> Result<Converted<'static>, Error> {
    let body = document.trim_start_matches('\u{feff}');
    let read: Document = serde_json::from_str(body).map_err(|error| {
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or(&text);
        let at = offset(document, body, error.line(), error.column());
        Error::invalid_document(format!("expected JSON of PMC's converter: {reason}"), at, "")
    })?;
    let Some(records) = read.records else {
        let words = read.message.or_else(|| {
            let first = read.errors?.into_iter().next()?;
            first.as_str().map(str::to_owned).or_else(|| {
                first.get("message").and_then(serde_json::Value::as_str).map(str::to_owned)
            })
        });
        return Err(match (words, read.status.as_deref()) {
            (Some(words), _) => Error::new(Code::UpstreamError, format!("PMC reports: {words}")),
            (None, Some("error")) => Error::new(Code::UpstreamError, "PMC reports an error"),
            _ => Error::invalid_document("expected records but found none", 0, ""),
        });
    };
    let mut converted = Converted::default();
    for record in records {
        let text = |value: Option<serde_json::Value>| match value {
            Some(serde_json::Value::String(text)) if !text.trim().is_empty() => {
                Some(Cow::Owned(text.trim().to_owned()))
            }
            Some(serde_json::Value::Number(number)) => Some(Cow::Owned(number.to_string())),
            _ => None,
        };
        let pmid = text(record.pmid).filter(|pmid| pmid != "0");
        let pmcid = text(record.pmcid);
        let doi = text(record.doi);
        let mid = text(record.mid);
        let requested = text(record.requested_id).or_else(|| {
            pmcid.clone().or_else(|| pmid.clone()).or_else(|| doi.clone()).or_else(|| mid.clone())
        });
        let Some(requested_id) = requested else { continue };
        if record.status.as_deref() == Some("error") || record.errmsg.is_some() {
            let words = record.errmsg.unwrap_or_else(|| "not found".to_owned());
            converted.errors.push(format!("{requested_id}: {words}"));
            converted.not_found.push(requested_id);
            continue;
        }
        converted.records.push(Record {
            requested_id,
            pmid,
            pmcid: pmcid.and_then(elements::pmcid),
            doi: doi.and_then(elements::doi),
            mid,
            live: match record.live {
                Some(serde_json::Value::Bool(live)) => Some(live),
                Some(serde_json::Value::String(live)) => Some(live != "false"),
                _ => None,
            },
        });
    }
    Ok(converted)
}

/// The byte offset of a line and column.
fn offset(document: &str, body: &str, line: usize, column: usize) -> u64 {
    let before: usize = body.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = document.len() - body.len() + before + column.saturating_sub(1);
    at.min(document.len()) as u64
}
