//! Maps Europe PMC's publication types to CSL types.

use carrel_pdk::record::Text;
use carrel_pdk::record::fields::readable;

use crate::formats::article::Article;

/// The types: `core` has a list, the other forms one text with semicolons.
pub(super) fn types<'d>(article: &Article<'d>) -> Vec<Text<'d>> {
    let listed = article.pub_types.items.0.iter().filter_map(|kind| readable(kind.0.clone()?));
    let listed: Vec<Text<'d>> = listed.collect();
    if !listed.is_empty() {
        return listed;
    }
    let line = article.pub_type.0.as_deref().or(article.citation_type.0.as_deref());
    let own = |word: &str| readable(Text::Owned(word.to_owned()));
    line.unwrap_or_default().split(';').filter_map(own).collect()
}

/// The CSL type, from the publication types, else from the collection.
pub(super) fn csl(source: Option<&str>, types: &[Text<'_>], article: &Article<'_>) -> &'static str {
    let known = types.iter().find_map(|word| {
        Some(match word.to_ascii_lowercase().replace('-', " ").as_str() {
            "preprint" => "article",
            "patent" => "patent",
            "book chapter" | "chapter" => "chapter",
            "book" | "monograph" => "book",
            "thesis" | "dissertation" | "academic dissertation" => "thesis",
            "report" | "technical report" => "report",
            "dataset" => "dataset",
            _ => return None,
        })
    });
    let is_in_journal = [
        &article.journal_info.journal.title,
        &article.journal_title,
        &article.journal_abbreviation,
    ]
    .iter()
    .any(|title| title.0.as_deref().is_some_and(|title| !title.trim().is_empty()));
    known.unwrap_or(match source {
        Some("PPR") => "article",
        Some("PAT") => "patent",
        Some("ETH") => "thesis",
        Some("NBK") => "book",
        Some("MED" | "PMC" | "AGR" | "CBA") => "article-journal",
        _ if is_in_journal => "article-journal",
        _ => "document",
    })
}
