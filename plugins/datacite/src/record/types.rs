//! Maps DataCite's types to CSL types.

use carrel_pdk::json::lenient::Text;

use crate::formats::resource::Types;

/// The CSL type: from the general type if that is specific enough, else the term that DataCite
/// derives for CSL; `document`, CSL's most general type, if there is none.
pub(super) fn csl(types: &Types<'_>) -> &'static str {
    let word = |text: &Text<'_>| text.0.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
    let derived = word(&types.citeproc);
    match word(&types.general).as_str() {
        "book" => "book",
        "bookchapter" => "chapter",
        "conferencepaper" => "paper-conference",
        "conferenceproceeding" => "book",
        "datapaper" | "journalarticle" => "article-journal",
        "dataset" => "dataset",
        "dissertation" => "thesis",
        "journal" => "periodical",
        "peerreview" => "review",
        "preprint" => "article",
        "report" => "report",
        "standard" => "standard",
        "software" | "computationalnotebook" => "software",
        "collection" => "collection",
        "image" => "graphic",
        "poster" | "presentation" => "speech",
        "event" => "event",
        // Where DataCite derives nothing more specific, it writes `article`, CSL's term for a
        // preprint.
        _ if derived == "article" => "document",
        _ => KNOWN.iter().find(|known| **known == derived).copied().unwrap_or("document"),
    }
}

/// The CSL types that DataCite derives.
const KNOWN: [&str; 22] = [
    "article-journal",
    "article-magazine",
    "article-newspaper",
    "bill",
    "book",
    "chapter",
    "dataset",
    "entry",
    "figure",
    "graphic",
    "interview",
    "manuscript",
    "map",
    "motion_picture",
    "paper-conference",
    "patent",
    "post-weblog",
    "report",
    "review",
    "song",
    "thesis",
    "webpage",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_general_type_decides_unless_it_is_too_general() {
        for (general, citeproc, word) in [
            ("Dataset", "dataset", "dataset"),
            ("Text", "article-journal", "article-journal"),
            ("Text", "thesis", "thesis"),
            ("Text", "report", "report"),
            ("Text", "article", "document"),
            ("Software", "article", "software"),
            ("Preprint", "article", "article"),
            ("ConferencePaper", "", "paper-conference"),
            ("InteractiveResource", "article", "document"),
            ("Audiovisual", "motion_picture", "motion_picture"),
            ("Other", "nonsense", "document"),
            ("", "", "document"),
        ] {
            let text = |text: &'static str| Text(Some(text.into()));
            let types =
                Types { general: text(general), citeproc: text(citeproc), ..Types::default() };
            assert_eq!(csl(&types), word, "{general} {citeproc}");
        }
    }
}
