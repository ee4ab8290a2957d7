//! Maps types of works to CSL types.

/// The CSL type of one of OpenAlex's types, which Unpaywall uses too; `document` if none is more
/// specific.
pub fn openalex(kind: &str) -> &'static str {
    match kind {
        // An `article` is in a journal; posted content is a preprint.
        "article" | "review" | "letter" | "editorial" | "erratum" | "retraction" => {
            "article-journal"
        }
        "preprint" => "article",
        "conference-paper" | "conference-abstract" => "paper-conference",
        "software" => "software",
        other => crossref(other),
    }
}

/// The CSL type of a Crossref type; `document`, CSL's most general type, if none is more specific.
pub fn crossref(kind: &str) -> &'static str {
    match kind {
        // The second names are CSL types, as returned by content negotiation.
        "journal-article" | "article-journal" => "article-journal",
        "book-chapter" | "book-section" | "book-part" | "book-track" | "chapter" => "chapter",
        "book" | "monograph" | "edited-book" | "reference-book" | "book-set" | "book-series"
        | "proceedings" | "proceedings-series" => "book",
        "proceedings-article" | "paper-conference" => "paper-conference",
        "reference-entry" | "entry" => "entry",
        "posted-content" | "article" => "article",
        "dissertation" | "thesis" => "thesis",
        "report" | "report-component" | "report-series" => "report",
        "standard" | "standard-series" => "standard",
        "dataset" | "database" => "dataset",
        "journal" | "journal-volume" | "journal-issue" | "periodical" => "periodical",
        "peer-review" | "review" => "review",
        _ => "document",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_openalex_have_their_words() {
        for (kind, word) in [
            ("article", "article-journal"),
            ("review", "article-journal"),
            ("preprint", "article"),
            ("conference-paper", "paper-conference"),
            ("book-chapter", "chapter"),
            ("dissertation", "thesis"),
            ("peer-review", "review"),
            ("dataset", "dataset"),
            ("software", "software"),
            ("paratext", "document"),
            ("libguides", "document"),
            ("", "document"),
        ] {
            assert_eq!(openalex(kind), word, "{kind}");
        }
    }

    #[test]
    fn every_type_of_the_api_has_a_word() {
        // `/types` of the API in 2023 and what has been announced since.
        for (kind, word) in [
            ("book-section", "chapter"),
            ("monograph", "book"),
            ("report-component", "report"),
            ("report", "report"),
            ("peer-review", "review"),
            ("book-track", "chapter"),
            ("journal-article", "article-journal"),
            ("book-part", "chapter"),
            ("other", "document"),
            ("book", "book"),
            ("journal-volume", "periodical"),
            ("book-set", "book"),
            ("reference-entry", "entry"),
            ("proceedings-article", "paper-conference"),
            ("journal", "periodical"),
            ("component", "document"),
            ("book-chapter", "chapter"),
            ("proceedings-series", "book"),
            ("report-series", "report"),
            ("proceedings", "book"),
            ("database", "dataset"),
            ("standard", "standard"),
            ("reference-book", "book"),
            ("posted-content", "article"),
            ("journal-issue", "periodical"),
            ("dissertation", "thesis"),
            ("grant", "document"),
            ("dataset", "dataset"),
            ("book-series", "book"),
            ("edited-book", "book"),
            ("", "document"),
        ] {
            assert_eq!(crossref(kind), word, "{kind}");
        }
    }
}
