//! arXiv identifiers, <https://info.arxiv.org/help/arxiv_identifier.html>.

use std::fmt;
use std::str::FromStr;

use super::{IdError, path_of_url, strip_ignoring_case};

const HOSTS: &[&str] = &["arxiv.org", "www.arxiv.org", "export.arxiv.org"];

/// An arXiv identifier with or without a version: `2301.00001v2`, or until March 2007
/// `hep-ex/0307015v1`.
///
/// Accepts the forms that people paste: an `arXiv:` prefix, addresses of abstract, PDF, HTML and
/// source pages, arXiv's own DOIs, and old identifiers with a subject class (`math.GT/0309136`,
/// which arXiv itself writes as `math/0309136`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArxivId {
    /// Without the version.
    base: String,
    version: Option<u32>,
}

impl ArxivId {
    /// Parses an identifier.
    ///
    /// # Errors
    ///
    /// When the text does not have the form of an identifier. Does not check whether the paper
    /// exists.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let problem = || IdError::new("an arXiv id such as 2301.00001 or hep-ex/0307015", text);
        let bare = bare(text.trim());
        let (base, version) = split_version(bare);
        let version = match version {
            Some(digits) => Some(digits.parse().map_err(|_| problem())?),
            None => None,
        };
        let base = new_style(base).or_else(|| old_style(base)).ok_or_else(problem)?;
        Ok(Self { base, version })
    }

    /// The identifier without its version.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The version, if there is one.
    pub fn version(&self) -> Option<u32> {
        self.version
    }

    /// Where the source bundle is, if there is one.
    pub fn source_url(&self) -> String {
        format!("https://arxiv.org/e-print/{self}")
    }
}

impl fmt::Display for ArxivId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.base)?;
        match self.version {
            Some(version) => write!(formatter, "v{version}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ArxivId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::parse(text)
    }
}

/// The text without prefixes and URLs around the identifier.
fn bare(text: &str) -> &str {
    if let Some(path) = path_of_url(text, HOSTS) {
        for page in ["abs/", "pdf/", "html/", "e-print/", "src/", "format/"] {
            if let Some(id) = path.strip_prefix(page) {
                let id = id.strip_suffix('/').unwrap_or(id);
                return id.strip_suffix(".pdf").unwrap_or(id);
            }
        }
    }
    let doi = path_of_url(text, &["doi.org", "dx.doi.org", "www.doi.org"]).unwrap_or(text);
    strip_ignoring_case(doi, "10.48550/arxiv.")
        .or_else(|| strip_ignoring_case(text, "arxiv:"))
        .unwrap_or(text)
        .trim()
}

/// Splits off the version: the digits after the last `v`, if only digits follow it.
fn split_version(bare: &str) -> (&str, Option<&str>) {
    match bare.rsplit_once(['v', 'V']) {
        Some((base, digits))
            if base.ends_with(|last: char| last.is_ascii_digit())
                && is_digits(digits)
                && !digits.starts_with('0') =>
        {
            (base, Some(digits))
        }
        _ => (bare, None),
    }
}

/// Year, month, dot, four or (since 2015) five digits.
fn new_style(base: &str) -> Option<String> {
    let (date, number) = base.split_once('.')?;
    let right = date.len() == 4
        && is_digits(date)
        && is_month(&date[2..])
        && (4..=5).contains(&number.len())
        && is_digits(number);
    right.then(|| base.to_owned())
}

/// Archive, slash, year, month, three digits; a subject class after the archive is dropped.
fn old_style(base: &str) -> Option<String> {
    let (archive, number) = base.split_once('/')?;
    let archive = archive.split_once('.').map_or(archive, |(archive, class)| {
        let is_class = class.len() == 2 && class.bytes().all(|byte| byte.is_ascii_alphabetic());
        if is_class { archive } else { "" }
    });
    let right = archive.starts_with(|first: char| first.is_ascii_alphabetic())
        && archive.ends_with(|last: char| last.is_ascii_alphabetic())
        && archive.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
        && archive.len() <= 20
        && number.len() == 7
        && is_digits(number)
        && is_month(&number[2..4]);
    right.then(|| format!("{}/{number}", archive.to_ascii_lowercase()))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_month(text: &str) -> bool {
    matches!(text.parse::<u8>(), Ok(1..=12))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_people_paste_becomes_canonical() {
        for (text, canonical) in [
            ("2301.00001", "2301.00001"),
            (" 2301.00001v2 ", "2301.00001v2"),
            ("arXiv:0704.0001", "0704.0001"),
            ("ARXIV: 0704.0001v3", "0704.0001v3"),
            ("http://arxiv.org/abs/2301.00001v1", "2301.00001v1"),
            ("https://arxiv.org/pdf/2301.00001v1.pdf", "2301.00001v1"),
            ("https://www.arxiv.org/pdf/2301.00001?download=1#page=2", "2301.00001"),
            ("https://export.arxiv.org/e-print/hep-ex/0307015", "hep-ex/0307015"),
            ("hep-ex/0307015v1", "hep-ex/0307015v1"),
            ("math.GT/0309136", "math/0309136"),
            ("Cond-Mat/0011267", "cond-mat/0011267"),
            ("10.48550/arXiv.2301.00001", "2301.00001"),
            ("https://doi.org/10.48550/arxiv.hep-ex/0307015", "hep-ex/0307015"),
        ] {
            assert_eq!(ArxivId::parse(text).map(|id| id.to_string()), Ok(canonical.to_owned()));
        }
    }

    #[test]
    fn legacy_id_keeps_its_slash() {
        let id = ArxivId::parse("http://arxiv.org/abs/hep-ex/0307015v1").unwrap();
        assert_eq!(id.base(), "hep-ex/0307015");
        assert_eq!(id.version(), Some(1));
        assert_eq!(id.source_url(), "https://arxiv.org/e-print/hep-ex/0307015v1");
    }

    #[test]
    fn other_texts_are_refused_with_what_was_expected() {
        for text in [
            "",
            "abc",
            "2301",
            "2301.123",
            "2313.00001",
            "2300.00001",
            "2301.000001",
            "2301.00001v",
            "2301.00001v0",
            "2301.00001v99999999999",
            "hep-ex/030701",
            "hep-ex/0313015",
            "/0307015",
            "-x/0307015",
            "10.1103/PhysRevD.61.084004",
            "https://example.org/abs/2301.00001",
            "math.GTX/0309136",
            "２３０１.00001",
        ] {
            assert!(ArxivId::parse(text).is_err(), "{text:?}");
        }
        assert_eq!(
            ArxivId::parse("abc").unwrap_err().to_string(),
            r#"expected an arXiv id such as 2301.00001 or hep-ex/0307015 but found "abc""#
        );
    }

    proptest! {
        #[test]
        fn display_and_parse_are_inverse(
            id in r"(([0-9]{2}(0[1-9]|1[0-2])\.[0-9]{4,5})|([a-z]{2,8}(-[a-z]{2,4})?/[0-9]{2}(0[1-9]|1[0-2])[0-9]{3}))(v[1-9][0-9]?)?"
        ) {
            prop_assert_eq!(ArxivId::parse(&id).unwrap().to_string(), id);
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in r"\PC{0,40}") {
            if let Ok(id) = ArxivId::parse(&text) {
                prop_assert_eq!(ArxivId::parse(&id.to_string()), Ok(id));
            }
        }
    }
}
