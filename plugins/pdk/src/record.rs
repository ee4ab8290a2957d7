//! The bibliographic record: the normalised form of every source's items, as defined by
//! `contract/v1/record.schema.json`.
//!
//! Absent means unknown. Texts follow the rules of [`text`](crate::text).

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

pub mod corrections;
pub mod fields;
pub mod language;
pub mod page;
pub mod types;
mod write;

/// A text that borrows from the document where it can.
pub type Text<'d> = Cow<'d, str>;

/// One work: an article, a book, a data set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Work<'d> {
    /// Identifiers of this work, each as its registry writes it.
    pub ids: Ids<'d>,
    /// CSL type, such as article-journal, chapter, dataset.
    #[serde(rename = "type")]
    pub kind: Text<'d>,
    /// The type in the upstream's own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_type: Option<Text<'d>>,
    /// Title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'d>>,
    /// Subtitle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtitle: Option<Text<'d>>,
    /// Abstract.
    #[serde(rename = "abstract", skip_serializing_if = "Option::is_none")]
    pub summary: Option<Text<'d>>,
    /// Authors in the order of the source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<Agent<'d>>,
    /// Editors in the order of the source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub editors: Vec<Agent<'d>>,
    /// Journal, book or proceedings that holds the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_title: Option<Text<'d>>,
    /// Publisher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<Text<'d>>,
    /// Date of publication, as exact as it is known: YYYY, YYYY-MM or YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued: Option<Text<'d>>,
    /// Volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<Text<'d>>,
    /// Issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<Text<'d>>,
    /// Pages as printed, such as 737-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Text<'d>>,
    /// Article number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub article_number: Option<Text<'d>>,
    /// BCP 47 tag, or the upstream's code where it has no equivalent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<Text<'d>>,
    /// Subjects, categories, keywords.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<Text<'d>>,
    /// Where a person reads about the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "uri"))]
    pub url: Option<Text<'d>>,
    /// Where forms of the work are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link<'d>>,
    /// Copies that anyone may read, the best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_copies: Vec<OpenCopy<'d>>,
    /// Whether it is free to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_oa: Option<bool>,
    /// Such as gold, green or closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oa_status: Option<Text<'d>>,
    /// Licences by URL.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub licenses: Vec<Licence<'d>>,
    /// Who paid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub funding: Vec<Funder<'d>>,
    /// What the work cites, as the source lists it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference<'d>>,
    /// How many works it cites, by the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references_count: Option<u64>,
    /// How many works cite it, by the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cited_by_count: Option<u64>,
    /// This work is a notice: what it corrects, retracts or replaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updates: Vec<Update<'d>>,
    /// This work was corrected, retracted or replaced: by what.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updated_by: Vec<Update<'d>>,
    /// Other works it is related to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<Relation<'d>>,
    /// The plugin that made the record.
    pub source: Text<'d>,
}

/// Identifiers of a work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Ids<'d> {
    /// DOI without resolver prefix, as given; compared without regard to case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<Text<'d>>,
    /// arXiv identifier, with the version if one is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arxiv: Option<Text<'d>>,
    /// PubMed identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<Text<'d>>,
    /// PubMed Central identifier with its prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmcid: Option<Text<'d>>,
    /// OpenAlex identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openalex: Option<Text<'d>>,
    /// Semantic Scholar identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s2: Option<Text<'d>>,
    /// ISBNs, digits and a final X only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub isbn: Vec<Text<'d>>,
    /// ISSNs with their hyphen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issn: Vec<Text<'d>>,
}

/// A person by family and given name, or whatever cannot be split as `literal`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Agent<'d> {
    /// Family name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Text<'d>>,
    /// Given name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Text<'d>>,
    /// An organisation, a collaboration, a name in one piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub literal: Option<Text<'d>>,
    /// ORCID without resolver prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orcid: Option<Text<'d>>,
    /// Affiliations as the source words them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub affiliations: Vec<Text<'d>>,
}

/// A form of the work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Link<'d> {
    /// Where it is.
    #[schemars(extend("format" = "uri"))]
    pub url: Text<'d>,
    /// Media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<Text<'d>>,
    /// Such as vor or am.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Text<'d>>,
    /// What the link is meant for, such as text-mining.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<Text<'d>>,
}

/// A copy that anyone may read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct OpenCopy<'d> {
    /// Where it is.
    #[schemars(extend("format" = "uri"))]
    pub url: Text<'d>,
    /// pdf, html or xml.
    pub kind: Text<'d>,
    /// publisher or repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_type: Option<Text<'d>>,
    /// Such as acceptedVersion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Text<'d>>,
    /// Name or URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<Text<'d>>,
    /// Its page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "uri"))]
    pub landing_url: Option<Text<'d>>,
}

/// A licence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Licence<'d> {
    /// Its text's address.
    #[schemars(extend("format" = "uri"))]
    pub url: Text<'d>,
    /// The day it starts to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Text<'d>>,
    /// The version of the work it holds for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Text<'d>>,
}

/// A funder and its awards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Funder<'d> {
    /// Name.
    pub name: Text<'d>,
    /// The funder's DOI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<Text<'d>>,
    /// Award numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub awards: Vec<Text<'d>>,
}

/// A cited work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Reference<'d> {
    /// The source's key for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Text<'d>>,
    /// Its DOI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<Text<'d>>,
    /// The citation in one piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unstructured: Option<Text<'d>>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'d>>,
    /// Its first author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<Text<'d>>,
    /// Its year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<Text<'d>>,
    /// What holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_title: Option<Text<'d>>,
}

/// A correction, retraction or replacement. A source may know that there is one and not which work
/// it is, so no identifier is required.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Update<'d> {
    /// Such as retraction, correction, expression_of_concern.
    #[serde(rename = "type")]
    pub kind: Text<'d>,
    /// DOI of the other work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<Text<'d>>,
    /// PubMed identifier of the other work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<Text<'d>>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<Text<'d>>,
    /// Who says so, such as publisher or retraction-watch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Text<'d>>,
}

impl Update<'_> {
    /// Whether it is a retraction, withdrawal or removal of the whole work.
    pub fn is_retraction(&self) -> bool {
        ["retraction", "withdrawal", "removal"].contains(&self.plain_kind().as_str())
    }

    /// Whether it is a correction, erratum or corrigendum.
    pub fn is_correction(&self) -> bool {
        ["correction", "erratum", "corrigendum"].contains(&self.plain_kind().as_str())
    }

    /// Whether it is an expression of concern.
    pub fn is_concern(&self) -> bool {
        self.plain_kind() == "expression_of_concern"
    }

    /// The kind in its canonical spelling.
    pub fn plain_kind(&self) -> String {
        self.kind.to_lowercase().replace(['-', ' '], "_")
    }
}

/// A relation to another work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Relation<'d> {
    /// The upstream's word, such as is-preprint-of.
    #[serde(rename = "type")]
    pub kind: Text<'d>,
    /// Such as doi, pmid, uri.
    pub id_type: Text<'d>,
    /// The other work's identifier.
    pub id: Text<'d>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    const CONTRACT: &str = include_str!("../../../contract/v1/record.schema.json");

    /// Compares names and requiredness of all members, recursively.
    fn compare(path: &str, ours: &Value, contract: &Value, root: &Value) {
        let resolved = contract["$ref"].as_str().and_then(|r| root.pointer(r.strip_prefix('#')?));
        let contract = resolved.unwrap_or(contract);
        if let (Some(our_members), Some(members)) =
            (ours["properties"].as_object(), contract["properties"].as_object())
        {
            let names = |members: &serde_json::Map<String, Value>| {
                let mut names: Vec<String> = members.keys().cloned().collect();
                names.sort();
                names
            };
            assert_eq!(names(our_members), names(members), "{path}");
            let required = |schema: &Value| {
                let mut names: Vec<String> =
                    serde_json::from_value(schema["required"].clone()).unwrap_or_default();
                names.sort();
                names
            };
            assert_eq!(required(ours), required(contract), "{path}");
            for (name, member) in our_members {
                compare(&format!("{path}/{name}"), member, &members[name], root);
            }
        } else {
            assert_eq!(ours["properties"], contract["properties"], "{path}");
            if ours["items"].is_object() {
                compare(&format!("{path}[]"), &ours["items"], &contract["items"], root);
            }
        }
    }

    #[test]
    fn the_record_has_the_members_that_the_contract_gives_it() {
        let contract: Value = serde_json::from_str(CONTRACT).unwrap();
        compare("", &crate::schema::output::<Work<'_>>(), &contract, &contract);
    }

    #[test]
    fn what_is_unknown_is_left_out() {
        let work = Work { kind: "article".into(), source: "test".into(), ..Work::default() };
        assert_eq!(
            serde_json::to_string(&work).unwrap(),
            r#"{"ids":{},"type":"article","source":"test"}"#
        );
    }
}
