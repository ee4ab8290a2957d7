//! The tool `spell`: ESpell.

use carrel_pdk::{Error, Host};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{invalid, present};
use crate::formats::espell;
use crate::request::Query;
use crate::response;

/// What to check.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpellArguments {
    /// Words of a query.
    #[schemars(length(min = 1, max = 2000))]
    pub term: String,
}

/// What NCBI suggests.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SpellResult {
    /// As given.
    pub term: String,
    /// Whether NCBI would write it otherwise.
    pub has_suggestion: bool,
    /// The term with NCBI's corrections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_term: Option<String>,
    /// The words that were put in.
    pub replaced: Vec<String>,
}

/// Runs the tool.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments: SpellArguments = carrel_pdk::arguments(arguments)?;
    let term = present(Some(&arguments.term))
        .ok_or_else(|| invalid("term: at least 1 character is needed"))?;
    let query = Query::new("espell").with("db", "pubmed").with("term", term.as_str());
    let result = response::ask(host, &query, |body| {
        let found = espell::parse(body)?;
        let corrected = found.corrected_query.filter(|corrected| *corrected != term);
        Ok(SpellResult {
            term: term.clone(),
            has_suggestion: corrected.is_some(),
            corrected_term: corrected.map(|text| text.into_owned()),
            replaced: found.replaced.into_iter().map(|text| text.into_owned()).collect(),
        })
    })?;
    Ok(crate::to_json(&result))
}
