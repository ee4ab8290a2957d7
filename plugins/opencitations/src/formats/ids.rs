//! Parses OpenCitations' texts of several identifiers.
//!
//! ```text
//! 10.1145/3197026.3197050                                        version 1 of the index of Crossref's DOIs
//! coci => 10.1145/3197026.3197050; doci => 10.5281/zenodo.1      version 1 of all indexes
//! omid:br/061103 doi:10.1145/3197026.3197050 pmid:31857888       version 2
//! ```

use carrel_pdk::id::{Doi, Pmcid, Pmid};
use schemars::JsonSchema;
use serde::Serialize;

/// Identifiers of a work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Ids {
    /// DOI without resolver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    /// PubMed identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<String>,
    /// PubMed Central identifier with its prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmcid: Option<String>,
    /// OpenAlex identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openalex: Option<String>,
    /// OpenCitations' own identifier, such as br/061103.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omid: Option<String>,
}

impl Ids {
    /// The identifiers in a text. The first of each kind counts.
    pub(crate) fn read(text: &str) -> Self {
        let mut ids = Self::default();
        let of_indexes = text.contains("=>");
        for word in text.split_whitespace() {
            // A semicolon between indexes separates; any other is part of the DOI.
            let word = if of_indexes { word.strip_suffix(';').unwrap_or(word) } else { word };
            let (kind, id) = word.split_once(':').unwrap_or((word, ""));
            match kind.to_ascii_lowercase().as_str() {
                _ if word.starts_with("10.") => ids.doi = ids.doi.take().or_else(|| doi(word)),
                "doi" | "http" | "https" => ids.doi = ids.doi.take().or_else(|| doi(word)),
                "pmid" => {
                    let pmid = || Some(Pmid::parse(id).ok()?.to_string());
                    ids.pmid = ids.pmid.take().or_else(pmid);
                }
                "pmcid" | "pmc" => {
                    let pmcid = || Some(format!("PMC{}", Pmcid::parse(id).ok()?.number()));
                    ids.pmcid = ids.pmcid.take().or_else(pmcid);
                }
                "openalex" if is_work_of_openalex(id) => {
                    ids.openalex = ids.openalex.take().or_else(|| Some(id.to_owned()));
                }
                "omid" if !id.is_empty() => {
                    ids.omid = ids.omid.take().or_else(|| Some(id.to_owned()));
                }
                _ => {}
            }
        }
        ids
    }

    /// The work's main identifier: the bare DOI, else another one with its kind in front.
    pub(crate) fn name(&self) -> Option<String> {
        let with = |kind: &str, id: &Option<String>| Some(format!("{kind}:{}", id.as_deref()?));
        self.doi
            .clone()
            .or_else(|| with("pmid", &self.pmid))
            .or_else(|| with("pmcid", &self.pmcid))
            .or_else(|| with("openalex", &self.openalex))
            .or_else(|| with("omid", &self.omid))
    }

    /// Whether there is more than the DOI.
    pub(crate) fn has_others(&self) -> bool {
        *self != Self { doi: self.doi.clone(), ..Self::default() }
    }
}

fn doi(text: &str) -> Option<String> {
    Some(Doi::parse(text).ok()?.to_string())
}

fn is_work_of_openalex(id: &str) -> bool {
    id.strip_prefix('W').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_api_is_read() {
        for (text, name, others) in [
            ("10.1145/3197026.3197050", Some("10.1145/3197026.3197050"), false),
            ("coci => 10.5555/a; doci => 10.5555/b", Some("10.5555/a"), false),
            ("omid:br/061103 doi:10.5555/a pmid:31857888 openalex:W12", Some("10.5555/a"), true),
            ("omid:br/061103 pmid:31857888", Some("pmid:31857888"), true),
            ("omid:br/061103", Some("omid:br/061103"), true),
            (
                "10.1002/(sici)1097-4571(198909)40:5<342::aid-asi7>3.0.co;2-u",
                Some("10.1002/(sici)1097-4571(198909)40:5<342::aid-asi7>3.0.co;2-u"),
                false,
            ),
            ("10.5555/a;", Some("10.5555/a;"), false),
            ("nothing at all", None, false),
            ("", None, false),
        ] {
            let ids = Ids::read(text);
            assert_eq!((ids.name().as_deref(), ids.has_others()), (name, others), "{text}");
        }
    }
}
