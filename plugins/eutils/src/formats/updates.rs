//! Updates of a published article: retractions, concerns, corrections, new editions.
//!
//! EFetch states them in `CommentsCorrections` and in the publication type `Retracted Publication`,
//! ESummary in `References` and in the same type, each in its own spelling (`RetractionIn`,
//! `Retraction in`). Either can occur without the other, so both are read.

use carrel_pdk::record::corrections::{doi_in, meaning, plain};
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::article::{Article, Correction, Text};

/// The publication type of an article that was retracted.
const RETRACTED: &str = "Retracted Publication";

/// A notice about an article.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Notice<'d> {
    /// retraction, partial_retraction, expression_of_concern, correction, republication or new_version.
    #[serde(rename = "type")]
    pub kind: Text<'static>,
    /// PubMed identifier of the notice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<Text<'d>>,
    /// DOI of the notice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<Text<'d>>,
    /// Citation of the notice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation: Option<Text<'d>>,
}

/// What became of an article.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Updates<'d> {
    /// The notices about it, retractions first.
    pub notices: Vec<Notice<'d>>,
    /// Whether it was retracted, with or without a notice on record.
    pub is_retracted: bool,
}

impl<'d> Updates<'d> {
    /// Reads publication types and corrections.
    pub fn new<'t>(
        types: impl IntoIterator<Item = &'t str>,
        corrections: impl IntoIterator<Item = &'t Correction<'d>>,
    ) -> Self
    where
        'd: 't,
    {
        let mut is_retracted = types.into_iter().any(|kind| kind == RETRACTED);
        let mut notices: Vec<Notice<'d>> = Vec::new();
        for item in corrections {
            let Some(ref_type) = item.ref_type.as_deref() else { continue };
            let Some((kind, false)) = meaning(ref_type) else { continue };
            is_retracted |= kind == "retraction" || plain(ref_type).starts_with("retracted");
            let doi = item.ref_source.as_deref().and_then(doi_in).map(Text::Owned);
            let citation = item.ref_source.clone();
            notices.push(Notice { kind: kind.into(), pmid: item.pmid.clone(), doi, citation });
        }
        notices.sort_by_key(|notice| match &*notice.kind {
            "retraction" => 0,
            "partial_retraction" | "republication" => 1,
            "expression_of_concern" => 2,
            _ => 3,
        });
        Self { notices, is_retracted }
    }

    /// Reads an EFetch record.
    pub fn of(article: &Article<'d>) -> Self {
        let types = article.publication_types.iter().map(AsRef::as_ref);
        Self::new(types, &article.comments_corrections)
    }

    /// Whether an expression of concern is on record.
    pub fn is_of_concern(&self) -> bool {
        self.notices.iter().any(|notice| notice.kind == "expression_of_concern")
    }
}

/// What a list of results says of an article's retraction and corrections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct UpdateFlags {
    /// True when it was retracted, with or without a notice on record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_retracted: bool,
    /// True when an expression of concern about it is on record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_of_concern: bool,
    /// Notices about it: retractions, concerns, corrections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updated_by: Vec<Notice<'static>>,
}

impl From<Updates<'_>> for UpdateFlags {
    fn from(updates: Updates<'_>) -> Self {
        Self {
            is_retracted: updates.is_retracted,
            is_of_concern: updates.is_of_concern(),
            updated_by: in_brief(updates.notices),
        }
    }
}

/// Notices in brief: the citation only of those that have no identifier.
pub(crate) fn in_brief(notices: Vec<Notice<'_>>) -> Vec<Notice<'static>> {
    let own = |text: Text<'_>| Text::Owned(text.into_owned());
    let brief = |notice: Notice<'_>| {
        let known = notice.pmid.is_some() || notice.doi.is_some();
        Notice {
            kind: notice.kind,
            citation: notice.citation.filter(|_| !known).map(own),
            pmid: notice.pmid.map(own),
            doi: notice.doi.map(own),
        }
    };
    notices.into_iter().map(brief).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn correction(ref_type: &'static str, source: Option<&'static str>) -> Correction<'static> {
        Correction {
            ref_type: Some(ref_type.into()),
            pmid: source.is_none().then(|| "9".into()),
            ref_source: source.map(Text::from),
            note: None,
        }
    }

    #[test]
    fn a_retraction_counts_from_either_place_and_in_either_spelling() {
        let by_type = Updates::new(["Journal Article", "Retracted Publication"], &[]);
        assert!(by_type.is_retracted && by_type.notices.is_empty());
        for spelling in ["RetractionIn", "Retraction in", "Retracted and republished in"] {
            let found = Updates::new([], &[correction(spelling, None)]);
            assert!(found.is_retracted, "{spelling}");
            assert_eq!(found.notices[0].pmid.as_deref(), Some("9"));
        }
        // A notice is not retracted; neither are a corrected article or an article of which a part
        // was retracted.
        for spelling in ["RetractionOf", "ErratumIn", "PartialRetractionIn", "Cites", "CommentIn"] {
            assert!(!Updates::new([], &[correction(spelling, None)]).is_retracted, "{spelling}");
        }
    }

    #[test]
    fn retractions_come_first_and_a_citation_replaces_a_missing_identifier() {
        let found = Updates::new(
            [],
            &[
                correction("ErratumIn", Some("Ann Desks. 2024;1(2):3. doi: 10.5555/e.")),
                correction("RetractionIn", Some("Ann Desks. 2025;1(2):4")),
            ],
        );
        assert_eq!(
            serde_json::to_value(in_brief(found.notices)).unwrap(),
            serde_json::json!([
                {"type": "retraction", "citation": "Ann Desks. 2025;1(2):4"},
                {"type": "correction", "doi": "10.5555/e"}
            ])
        );
    }
}
