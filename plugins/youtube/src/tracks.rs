//! Chooses the transcript to read.

use crate::watch::Track;

/// The tracks in the order in which they are tried: in the wanted language, in the spoken one (that of
/// the recognised speech), in English, in others; written ones before recognised ones.
pub(crate) fn ordered<'t>(tracks: &'t [Track], language: Option<&str>) -> Vec<&'t Track> {
    let spoken =
        tracks.iter().find(|track| track.generated).and_then(|track| track.language.as_deref());
    let rank = |track: &Track| {
        let own = track.language.as_deref().unwrap_or_default();
        let fits = |wanted: Option<&str>| wanted.is_some_and(|wanted| is_same(own, wanted));
        let place = if fits(language) {
            0
        } else if fits(spoken) {
            1
        } else if is_same(own, "en") {
            2
        } else {
            3
        };
        (place, track.generated)
    };
    let mut ordered: Vec<&Track> = tracks.iter().collect();
    ordered.sort_by_key(|track| rank(track));
    ordered
}

/// Whether two tags are of one language, whatever the region.
fn is_same(one: &str, other: &str) -> bool {
    let language =
        |tag: &str| tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    !one.is_empty() && language(one) == language(other)
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
        let told = |wanted: Option<&str>| -> Vec<(String, bool)> {
            let ordered = ordered(&tracks, wanted);
            ordered
                .iter()
                .map(|one| (one.language.clone().unwrap_or_default(), one.generated))
                .collect()
        };
        let names = |wanted| told(wanted).into_iter().map(|one| one.0).collect::<Vec<_>>();
        assert_eq!(names(None), ["de-AT", "de", "en-GB", "fr"]);
        assert_eq!(names(Some("fr-CA"))[0], "fr");
        assert_eq!(names(Some("es"))[0], "de-AT");
        assert_eq!(ordered(&[], Some("en")).len(), 0);
    }
}
