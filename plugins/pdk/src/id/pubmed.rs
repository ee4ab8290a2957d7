//! Identifiers of PubMed and PubMed Central.

use std::fmt;
use std::str::FromStr;

use super::{IdError, path_of_url, strip_ignoring_case};

/// A PubMed identifier: up to eight digits, as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pmid(u32);

impl Pmid {
    /// Parses an identifier, bare, behind `PMID:` or in an address of PubMed.
    ///
    /// # Errors
    ///
    /// When the text is not a number from 1 to 99,999,999.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let trimmed = text.trim();
        let path = path_of_url(trimmed, &["pubmed.ncbi.nlm.nih.gov"])
            .or_else(|| path_of_url(trimmed, &["www.ncbi.nlm.nih.gov"])?.strip_prefix("pubmed/"));
        let bare = match path {
            Some(path) => path.trim_end_matches('/'),
            None => strip_ignoring_case(trimmed, "pmid:").unwrap_or(trimmed).trim(),
        };
        number(bare, 8).map(Self).ok_or_else(|| IdError::new("a PubMed id such as 31452104", text))
    }
}

impl fmt::Display for Pmid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Pmid {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::parse(text)
    }
}

/// A PubMed Central identifier: `PMC` and a number, with or without a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pmcid {
    number: u32,
    version: Option<u32>,
}

impl Pmcid {
    /// Parses an identifier, bare, behind `PMCID:` or in an address of PubMed Central.
    ///
    /// # Errors
    ///
    /// When the text is not `PMC` and a number.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let problem = || IdError::new("a PubMed Central id such as PMC7096803", text);
        let trimmed = text.trim();
        let path = path_of_url(trimmed, &["pmc.ncbi.nlm.nih.gov"])
            .or_else(|| path_of_url(trimmed, &["www.ncbi.nlm.nih.gov"])?.strip_prefix("pmc/"))
            .and_then(|path| path.strip_prefix("articles/"));
        let bare = match path {
            Some(path) => path.trim_end_matches('/'),
            None => strip_ignoring_case(trimmed, "pmcid:").unwrap_or(trimmed).trim(),
        };
        let digits = strip_ignoring_case(bare, "pmc").ok_or_else(problem)?;
        let (digits, version) = match digits.split_once('.') {
            Some((digits, version)) => (digits, Some(number(version, 4).ok_or_else(problem)?)),
            None => (digits, None),
        };
        Ok(Self { number: number(digits, 9).ok_or_else(problem)?, version })
    }

    /// The number without `PMC` and version, as E-utilities want it.
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl fmt::Display for Pmcid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PMC{}", self.number)?;
        match self.version {
            Some(version) => write!(formatter, ".{version}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Pmcid {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::parse(text)
    }
}

/// A number above 0 of at most `digits` digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let right =
        (1..=digits).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if right { text.parse().ok().filter(|&number| number > 0) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pmids_are_read_as_people_paste_them() {
        for text in [
            "31452104",
            " PMID: 31452104",
            "https://pubmed.ncbi.nlm.nih.gov/31452104/",
            "https://www.ncbi.nlm.nih.gov/pubmed/31452104",
        ] {
            assert_eq!(Pmid::parse(text).unwrap().to_string(), "31452104", "{text}");
        }
        for text in ["", "0", "123456789", "12a", "-1", "+1", "PMC123"] {
            assert!(Pmid::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn pmcids_are_read_as_people_paste_them() {
        for text in [
            "PMC7096803",
            "pmc7096803",
            "PMCID: PMC7096803",
            "https://pmc.ncbi.nlm.nih.gov/articles/PMC7096803/",
            "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC7096803/?report=reader",
        ] {
            assert_eq!(Pmcid::parse(text).unwrap().to_string(), "PMC7096803", "{text}");
        }
        assert_eq!(Pmcid::parse("PMC13901.2").unwrap().to_string(), "PMC13901.2");
        for text in ["", "7096803", "PMC", "PMC0", "PMC1.", "PMC1.x", "PMC1234567890"] {
            assert!(Pmcid::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn display_and_parse_are_inverse(number in 1..=99_999_999_u32, version in 1..9_u32) {
            let pmid = number.to_string();
            prop_assert_eq!(Pmid::parse(&pmid).unwrap().to_string(), pmid);
            let pmcid = format!("PMC{number}.{version}");
            prop_assert_eq!(Pmcid::parse(&pmcid).unwrap().to_string(), pmcid);
        }
    }
}
