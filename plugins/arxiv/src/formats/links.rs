//! Matches links to DOIs.
//!
//! An entry lists its DOIs and their links separately, without saying which link is for which DOI
//! (gr-qc/9910091 has five of each). A link belongs to a DOI when its percent-decoded path is the
//! DOI.

use std::borrow::Cow;

use carrel_pdk::{percent, url};

use crate::formats::entry::Doi;

/// The links of an entry that are called `doi`.
#[derive(Default)]
pub(crate) struct DoiLinks<'d>(Vec<Cow<'d, str>>);

impl<'d> Extend<Cow<'d, str>> for DoiLinks<'d> {
    fn extend<T: IntoIterator<Item = Cow<'d, str>>>(&mut self, links: T) {
        self.0.extend(links);
    }
}

impl<'d> DoiLinks<'d> {
    /// Sets each DOI's link to the first link that belongs to it.
    pub(crate) fn pair(self, dois: &mut [Doi<'d>]) {
        if dois.is_empty() || self.0.is_empty() {
            return;
        }
        // Sorted once, so that an entry with thousands of each costs no more per byte.
        let mut links: Vec<(String, Cow<'d, str>)> =
            self.0.into_iter().map(|link| (key_of_link(&link), link)).collect();
        links.sort_by(|left, right| left.0.cmp(&right.0));
        for doi in dois {
            let key = doi.doi.to_ascii_lowercase();
            let at = links.partition_point(|(candidate, _)| *candidate < key);
            doi.url = links.get(at).filter(|(found, _)| *found == key).map(|(_, url)| url.clone());
        }
    }
}

/// The DOI that a link leads to, in the form for comparison.
fn key_of_link(link: &str) -> String {
    let path = url::after_host(link).unwrap_or_default();
    percent::decode(path.strip_prefix('/').unwrap_or(path)).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paired(dois: &[&'static str], links: &[&'static str]) -> Vec<Option<String>> {
        let mut dois: Vec<Doi<'_>> =
            dois.iter().map(|doi| Doi { doi: Cow::Borrowed(doi), url: None }).collect();
        let mut collected = DoiLinks::default();
        collected.extend(links.iter().map(|link| Cow::Borrowed(*link)));
        collected.pair(&mut dois);
        dois.into_iter().map(|doi| doi.url.map(Cow::into_owned)).collect()
    }

    #[test]
    fn each_doi_gets_its_own_link_in_whatever_order() {
        assert_eq!(
            paired(
                &["10.1103/PhysRevD.61.084004", "10.1103/PhysRevD.63.049902"],
                &[
                    "https://doi.org/10.1103/PhysRevD.63.049902",
                    "http://dx.doi.org/10.1103/PhysRevD.61.084004"
                ],
            ),
            [
                Some("http://dx.doi.org/10.1103/PhysRevD.61.084004".to_owned()),
                Some("https://doi.org/10.1103/PhysRevD.63.049902".to_owned())
            ]
        );
    }

    #[test]
    fn an_encoded_link_is_compared_by_what_it_means() {
        let link =
            "https://doi.org/10.1002/%28SICI%291097-0258%2819980815%2917%3A1%3C1%3E1.0.CO%3B2-1";
        assert_eq!(
            paired(&["10.1002/(SICI)1097-0258(19980815)17:1<1>1.0.CO;2-1"], &[link]),
            [Some(link.to_owned())]
        );
    }

    #[test]
    fn a_link_that_only_begins_like_the_doi_is_not_its_own() {
        assert_eq!(paired(&["10.1000/1"], &["https://doi.org/10.1000/12"]), [None]);
        assert_eq!(paired(&["10.1000/12"], &["https://doi.org/10.1000/1"]), [None]);
    }

    #[test]
    fn a_doi_without_a_link_stays_without() {
        assert_eq!(
            paired(&["10.1000/1", "10.1000/2"], &["https://doi.org/10.1000/2"]),
            [None, Some("https://doi.org/10.1000/2".to_owned())]
        );
    }
}
