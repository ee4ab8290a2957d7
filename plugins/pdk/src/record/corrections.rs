//! PubMed's kinds of correction, which E-utilities and Europe PMC spell differently
//! (`RetractionIn`, `Retraction in`).

use crate::id::Doi;

/// The canonical spelling of a kind of correction.
pub fn plain(ref_type: &str) -> String {
    ref_type.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase()
}

/// The record's term for a kind of correction, and whether the article is the notice.
pub fn meaning(ref_type: &str) -> Option<(&'static str, bool)> {
    Some(match plain(ref_type).as_str() {
        "retractionof" => ("retraction", true),
        "retractionin" => ("retraction", false),
        "partialretractionof" => ("partial_retraction", true),
        "partialretractionin" => ("partial_retraction", false),
        "erratumfor" => ("correction", true),
        "erratumin" => ("correction", false),
        "expressionofconcernfor" => ("expression_of_concern", true),
        "expressionofconcernin" => ("expression_of_concern", false),
        "correctedandrepublishedfrom"
        | "correctedrepublishedfrom"
        | "republishedfrom"
        | "retractedandrepublishedfrom" => ("republication", true),
        "correctedandrepublishedin"
        | "correctedrepublishedin"
        | "republishedin"
        | "retractedandrepublishedin" => ("republication", false),
        "updateof" => ("new_version", true),
        "updatein" => ("new_version", false),
        _ => return None,
    })
}

/// The DOI that a citation ends with: `Nature. 2020 Mar;5(1):1. doi: 10.5555/x.`
pub fn doi_in(citation: &str) -> Option<String> {
    let (_, rest) = citation.rsplit_once("doi:")?;
    let word = rest.split_whitespace().next()?.trim_end_matches(['.', ';', ',']);
    Doi::parse(word).ok().map(|doi| doi.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_doi_at_the_end_of_a_citation_is_found() {
        assert_eq!(doi_in("J X. 2020;5(1):1. doi: 10.5555/x.1.").as_deref(), Some("10.5555/x.1"));
        assert_eq!(doi_in("J X. 2020;5(1):1"), None);
    }

    #[test]
    fn a_kind_states_which_side_is_the_notice() {
        assert_eq!(meaning("RetractionOf"), Some(("retraction", true)));
        assert_eq!(meaning("Retraction in"), Some(("retraction", false)));
        assert_eq!(meaning("Comment on"), None);
    }
}
