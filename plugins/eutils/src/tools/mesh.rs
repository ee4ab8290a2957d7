//! The tool `mesh`: descriptors of MeSH by ESearch and ESummary.

use carrel_pdk::{Error, Host, args};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{invalid, present, ranged};
use crate::formats::{
    esearch,
    esummary::{self, Summary},
};
use crate::request::Query;
use crate::response;

/// What to look up.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MeshArguments {
    /// A word, an entry term, or an identifier such as D009369.
    #[schemars(length(min = 2, max = 500))]
    pub term: String,
    /// Terms to return at most.
    #[serde(default = "five", deserialize_with = "args::whole_number")]
    #[schemars(range(min = 1, max = 50))]
    pub max_results: u32,
}

/// What MeSH has.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct MeshResult {
    /// As given.
    pub term: String,
    /// Matches in all.
    pub total_found: u64,
    /// The terms, best first.
    pub terms: Vec<Heading>,
    /// What NCBI says of the query.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// A term of MeSH.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Heading {
    /// Its identifier, such as D009369.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ui: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// descriptor, qualifier, supplementary-record, publication-type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_type: Option<String>,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_note: Option<String>,
    /// Other words for it.
    pub entry_terms: Vec<String>,
    /// Its places in the tree, such as C04.
    pub tree_numbers: Vec<String>,
    /// How to search PubMed for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_term: Option<String>,
}

fn five() -> u32 {
    5
}

/// Runs the tool.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments: MeshArguments = carrel_pdk::arguments(arguments)?;
    let term = present(Some(&arguments.term))
        .filter(|term| term.chars().count() >= 2)
        .ok_or_else(|| invalid("term: at least 2 characters are needed"))?;
    ranged("max_results", arguments.max_results, 1, 50)?;
    let query = Query::new("esearch")
        .with("db", "mesh")
        .with("term", term.as_str())
        .with("retmax", arguments.max_results.to_string())
        .with("sort", "relevance");
    let found = response::ask(host, &query, |body| Ok(esearch::parse(body)?.into_owned()))?;
    let terms = if found.pmids.is_empty() {
        Vec::new()
    } else {
        let query =
            Query::new("esummary").with("db", "mesh").with("version", "2.0").ids(&found.pmids);
        response::ask(host, &query, |body| {
            Ok(esummary::parse(body)?.summaries.iter().map(heading).collect())
        })?
    };
    let notices = found.errors.into_iter().chain(found.warnings).collect();
    Ok(crate::to_json(&MeshResult { term, total_found: found.count, terms, notices }))
}

fn heading(summary: &Summary<'_>) -> Heading {
    // The names differ between the two versions of ESummary.
    let values = |name: &str| {
        let mut named = summary.fields.iter();
        let found = named.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map_or(&[][..], |(_, values)| values.as_slice())
    };
    let own = |values: &[crate::formats::article::Text<'_>]| -> Vec<String> {
        values.iter().map(|text| text.to_string()).collect()
    };
    let first = |name: &str| values(name).first().map(|text| text.to_string());
    let mut names = own(values("DS_MeSHTerms"));
    let name = if names.is_empty() {
        summary.title.as_deref().map(str::to_owned)
    } else {
        Some(names.remove(0))
    };
    let ui = first("DS_MeSHUI").or_else(|| ui(&summary.uid));
    let mut tree_numbers = own(values("TreeNum"));
    tree_numbers.retain(|number| !number.is_empty());
    Heading {
        search_term: name.as_ref().map(|name| format!("\"{name}\"[MeSH Terms]")),
        ui,
        name,
        record_type: first("DS_RecordType"),
        scope_note: first("DS_ScopeNote"),
        entry_terms: names,
        tree_numbers,
    }
}

/// MeSH's identifier for Entrez's number: 68 is D, 67 is C, 81 is Q.
fn ui(uid: &str) -> Option<String> {
    let (kind, number) = (uid.get(..2)?, uid.get(2..)?);
    let letter = match kind {
        "68" => 'D',
        "67" => 'C',
        "81" => 'Q',
        _ => return None,
    };
    (number.len() >= 6).then(|| format!("{letter}{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_entrez_become_identifiers_of_mesh() {
        assert_eq!(ui("68009369").as_deref(), Some("D009369"));
        assert_eq!(ui("67040721").as_deref(), Some("C040721"));
        assert_eq!(ui("81000628").as_deref(), Some("Q000628"));
        assert_eq!(ui("1"), None);
        assert_eq!(ui("99000628"), None);
    }
}
