//! Chooses the transcript to read.

use crate::watch::Track;

/// The tracks in the order in which they are tried: in the requested language, in the spoken one
/// (that of the recognised speech), in English, in others; written ones before recognised ones.
pub(crate) fn ordered<'t>(tracks: &'t [Track], language: Option<&str>) -> Vec<&'t Track> {
    let spoken =
        tracks.iter().find(|track| track.generated).and_then(|track| track.language.as_deref());
    let rank = |track: &Track| {
        let own = track.language.as_deref().unwrap_or_default();
        let fits = |tag: Option<&str>| tag.is_some_and(|tag| is_same(own, tag));
        let priority = if fits(language) {
            0
        } else if fits(spoken) {
            1
        } else if is_same(own, "en") {
            2
        } else {
            3
        };
        (priority, track.generated)
    };
    let mut ordered: Vec<&Track> = tracks.iter().collect();
    ordered.sort_by_key(|track| rank(track));
    ordered
}

/// Whether two tags are of one language, whatever the region.
fn is_same(left: &str, right: &str) -> bool {
    let language =
        |tag: &str| tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    !left.is_empty() && language(left) == language(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_words_in_the_right_language_come_first() {
        let track = |language: &str, generated: bool| Track {
            language: Some(language.to_owned()),
            generated,
            ..Track::default()
        };
        let tracks =
            [track("fr", false), track("de", true), track("en-GB", false), track("de-AT", false)];
        let listed = |language: Option<&str>| -> Vec<(String, bool)> {
            let ordered = ordered(&tracks, language);
            ordered
                .iter()
                .map(|track| (track.language.clone().unwrap_or_default(), track.generated))
                .collect()
        };
        let names = |language| {
            listed(language).into_iter().map(|(language, _)| language).collect::<Vec<_>>()
        };
        assert_eq!(names(None), ["de-AT", "de", "en-GB", "fr"]);
        assert_eq!(names(Some("fr-CA"))[0], "fr");
        assert_eq!(names(Some("es"))[0], "de-AT");
        assert_eq!(ordered(&[], Some("en")).len(), 0);
    }
}
