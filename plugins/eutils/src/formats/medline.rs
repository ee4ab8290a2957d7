//! MEDLINE's tagged text (`rettype=medline`) → records by tag. Pure.
//!
//! ```text
//! PMID- 31452104
//! TI  - A title that is continued
//!       on an indented line.
//! FAU - Reader, Ada
//!
//! PMID- 31452105
//! ```
//!
//! A tag has two to four upper-case letters and digits, padded to four characters; a hyphen and the
//! value follow. Blank lines separate records.

use std::borrow::Cow;
use std::collections::BTreeMap;

use carrel_pdk::Error;
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::article::Text;

/// The records of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Records<'d> {
    /// Records in the document's order.
    pub records: Vec<Record<'d>>,
}

/// A record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Record<'d> {
    /// PubMed identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<Text<'d>>,
    /// Values by tag, such as TI, FAU, MH, in the order of the record.
    pub fields: BTreeMap<&'d str, Vec<Text<'d>>>,
    /// The record as it stands.
    #[serde(skip)]
    #[schemars(skip)]
    pub text: &'d str,
}

/// Reads a document.
///
/// # Errors
///
/// `invalid_document` with a position when it has text and no record.
pub fn parse(document: &str) -> Result<Records<'_>, Error> {
    let body = document.trim_start_matches('\u{feff}');
    let lead = document.len() - body.len();
    let mut records = Vec::new();
    let (mut start, mut at) = (None, 0);
    for line in body.split_inclusive('\n') {
        let blank = line.trim().is_empty();
        match start {
            Some(from) if blank => {
                records.extend(record(&body[from..at]));
                start = None;
            }
            None if !blank => start = Some(at),
            _ => {}
        }
        at += line.len();
    }
    if let Some(from) = start {
        records.extend(record(&body[from..]));
    }
    if records.is_empty() && !body.trim().is_empty() {
        let at = lead + body.len() - body.trim_start().len();
        let message = "expected records in MEDLINE's format but found other text";
        return Err(Error::invalid_document(message, at as u64, ""));
    }
    Ok(Records { records })
}

/// A record; `None` when no line has a tag.
fn record(text: &str) -> Option<Record<'_>> {
    let mut fields: BTreeMap<&str, Vec<Text<'_>>> = BTreeMap::new();
    let mut last: Option<&str> = None;
    for line in text.lines() {
        let tag = line.get(..4).filter(|tag| {
            line.as_bytes().get(4) == Some(&b'-')
                && tag.trim_end().len() >= 2
                && tag.trim_end().bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        });
        let value = match tag {
            Some(_) => line.get(5..).unwrap_or_default(),
            None if line.starts_with(' ') => line,
            None => {
                last = None;
                continue;
            }
        };
        let value = carrel_pdk::text::collapse(value);
        if let Some(tag) = tag.map(str::trim_end) {
            last = Some(tag);
            if !value.is_empty() {
                fields.entry(tag).or_default().push(value);
            }
        } else if let Some(whole) =
            last.and_then(|tag| fields.get_mut(tag)).and_then(|values| values.last_mut())
        {
            let whole = whole.to_mut();
            whole.push(' ');
            whole.push_str(&value);
        }
    }
    if fields.is_empty() {
        return None;
    }
    let pmid = fields.get("PMID").and_then(|values| values.first()).cloned();
    let pmid: Option<Cow<'_, str>> = pmid;
    Some(Record { pmid, fields, text: text.trim_end() })
}
