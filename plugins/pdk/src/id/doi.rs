//! Digital object identifiers, <https://www.doi.org/doi-handbook/>.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::{IdError, path_of_url, strip_ignoring_case};
use crate::percent;
use crate::scan::{self, Lanes};
use crate::text::trim;

/// A DOI: compared case-insensitively, displayed as given.
///
/// Accepts the forms that people paste: `doi:` in front, addresses at doi.org (whose
/// percent-encoding is undone). The suffix may hold anything printable: the brackets and semicolons
/// of a SICI, colons, commas, parentheses, percent signs, letters of any script.
#[derive(Debug, Clone)]
pub struct Doi {
    text: String,
}

impl Doi {
    /// Parses a DOI.
    ///
    /// # Errors
    ///
    /// When the text is not `10.`, a registrant, a slash and a suffix.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let problem = || IdError::new("a DOI such as 10.1000/182", text);
        let trimmed = trim(text);
        let bare = if trimmed.starts_with("10.") {
            trimmed.to_owned()
        } else if let Some(path) = path_of_resolver(trimmed) {
            percent::decode(path).into_owned()
        } else {
            let prefixes = ["doi:", "info:doi/", "urn:doi:"];
            let bare = prefixes.iter().find_map(|prefix| strip_ignoring_case(trimmed, prefix));
            bare.unwrap_or(trimmed).trim().to_owned()
        };
        let (prefix, suffix) = bare.split_once('/').ok_or_else(problem)?;
        let registrant = prefix.strip_prefix("10.").ok_or_else(problem)?;
        let registrant_right = registrant.len() >= 4
            && registrant
                .split('.')
                .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        let is_plain = |here: Lanes| here.in_range(0x21, 0x7F - 0x21);
        let suffix_right = !suffix.is_empty()
            && (scan::find(suffix.as_bytes(), 0, |here| is_plain(here).not()).is_none()
                || !suffix
                    .chars()
                    .any(|character| character.is_whitespace() || character.is_control()));
        if registrant_right && suffix_right { Ok(Self { text: bare }) } else { Err(problem()) }
    }

    /// The DOI as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The form for comparison and storage: ASCII letters in lower case, by the handbook's case
    /// folding.
    pub fn folded(&self) -> String {
        self.text.to_ascii_lowercase()
    }

    /// The URL that resolves it.
    pub fn url(&self) -> String {
        format!("https://doi.org/{}", percent::path(&self.text))
    }

    /// The DOI as one segment of a path, as Crossref's API wants it.
    pub fn segment(&self) -> String {
        percent::segment(&self.text)
    }
}

/// The path of an address at a resolver. Removes a fragment or query only if it cannot be part of
/// the DOI: resolvers accept neither, and old suffixes contain both characters, encoded.
fn path_of_resolver(text: &str) -> Option<&str> {
    let with_scheme = ["doi.org", "dx.doi.org", "www.doi.org", "doi.acm.org", "hdl.handle.net"];
    path_of_url(text, &with_scheme).or_else(|| {
        let bare = ["doi.org/", "dx.doi.org/", "www.doi.org/"];
        bare.iter().find_map(|host| strip_ignoring_case(text, host))
    })
}

impl fmt::Display for Doi {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl FromStr for Doi {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::parse(text)
    }
}

impl PartialEq for Doi {
    fn eq(&self, other: &Self) -> bool {
        self.text.eq_ignore_ascii_case(&other.text)
    }
}

impl Eq for Doi {}

impl Hash for Doi {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded().hash(state);
    }
}

impl PartialOrd for Doi {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Doi {
    fn cmp(&self, other: &Self) -> Ordering {
        self.folded().cmp(&other.folded())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SICI: &str = "10.1002/(SICI)1096-8644(199601)99:1<1::AID-AJPA1>3.0.CO;2-1";

    #[test]
    fn what_people_paste_becomes_the_bare_doi() {
        for (text, bare) in [
            ("10.1000/182", "10.1000/182"),
            ("doi:10.1000/182", "10.1000/182"),
            ("DOI: 10.1000/182 ", "10.1000/182"),
            ("https://doi.org/10.1103/PhysRevD.61.084004", "10.1103/PhysRevD.61.084004"),
            ("http://dx.doi.org/10.1000/a%3Cb%3E", "10.1000/a<b>"),
            ("doi.org/10.1000/182", "10.1000/182"),
            ("info:doi/10.1000/182", "10.1000/182"),
            ("urn:doi:10.1000/182", "10.1000/182"),
            ("www.doi.org/10.1000/182", "10.1000/182"),
            ("https://hdl.handle.net/10.1000/182", "10.1000/182"),
            ("10.1000.10/123/456", "10.1000.10/123/456"),
        ] {
            assert_eq!(Doi::parse(text).unwrap().as_str(), bare);
        }
    }

    #[test]
    fn case_does_not_count_but_is_kept() {
        let doi = Doi::parse("10.1103/PhysRevD.61.084004").unwrap();
        let lower = Doi::parse("10.1103/physrevd.61.084004").unwrap();
        assert_eq!(doi, lower);
        assert_eq!(doi.cmp(&lower), Ordering::Equal);
        assert_eq!(doi.to_string(), "10.1103/PhysRevD.61.084004");
        assert_eq!(doi.folded(), "10.1103/physrevd.61.084004");
    }

    #[test]
    fn awkward_suffixes_survive_a_url() {
        for text in [
            SICI,
            "10.1000/a%b",
            "10.1000/a%20b",
            "10.1000/colon:comma,(paren)",
            "10.2001/日本語",
            "10.1000/a#b?c&d",
            "10.1000/sla/sh",
        ] {
            let doi = Doi::parse(text).unwrap();
            assert_eq!(Doi::parse(&doi.url()).unwrap().as_str(), text);
            assert_eq!(percent::decode(&doi.segment()), text);
            assert!(!doi.segment().contains('/'));
        }
    }

    #[test]
    fn sici_brackets_are_encoded_in_a_url() {
        assert_eq!(
            Doi::parse(SICI).unwrap().url(),
            "https://doi.org/10.1002/(SICI)1096-8644(199601)99:1%3C1::AID-AJPA1%3E3.0.CO;2-1"
        );
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "10.1000",
            "10.1000/",
            "10./x",
            "10.12/x",
            "11.1000/x",
            "10.1000/a b",
            "10.10a0/x",
            "10.1000\u{0}/x",
            "https://example.org/10.1000/182",
        ] {
            assert!(Doi::parse(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn display_and_parse_are_inverse(doi in r"10\.[0-9]{4,9}/[!-~é日]{1,30}") {
            let parsed = Doi::parse(&doi).unwrap();
            prop_assert_eq!(parsed.to_string(), doi.clone());
            let through_url = Doi::parse(&parsed.url()).unwrap();
            prop_assert_eq!(through_url.as_str(), doi);
        }
    }
}
