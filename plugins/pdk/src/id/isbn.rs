use std::fmt;

use super::{IdError, strip_ignoring_case};

/// An ISBN in thirteen digits, with a valid check digit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Isbn(String);

impl Isbn {
    /// Reads an ISBN of ten or thirteen digits, with or without hyphens, blanks and the prefix `ISBN`.
    ///
    /// ```
    /// use carrel_pdk::id::Isbn;
    ///
    /// assert_eq!(Isbn::parse("ISBN-10: 0-19-852663-6")?.as_str(), "9780198526636");
    /// assert!(Isbn::parse("978-0-19-852663-7").is_err());
    /// # Ok::<(), carrel_pdk::id::IdError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// For another text, or a wrong check digit.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let error =
            || IdError::new("an ISBN such as 978-0-19-852663-6, with its check digit", text);
        let mut rest = text.trim();
        for prefix in ["urn:isbn:", "isbn-13", "isbn-10", "isbn13", "isbn10", "isbn"] {
            if let Some(bare) = strip_ignoring_case(rest, prefix) {
                rest = bare.trim_start_matches([':', ' ']);
                break;
            }
        }
        let mut digits = String::with_capacity(13);
        for character in rest.chars() {
            match character {
                '0'..='9' => digits.push(character),
                'x' | 'X' if digits.len() == 9 => digits.push('X'),
                '-' | ' ' | '\u{2010}'..='\u{2013}' => {}
                _ => return Err(error()),
            }
            if digits.len() > 13 {
                return Err(error());
            }
        }
        match digits.len() {
            10 if sum(&digits, |at| 10 - at) % 11 == 0 => {
                let body = format!("978{}", &digits[..9]);
                let check = (10 - sum(&body, |at| if at % 2 == 0 { 1 } else { 3 }) % 10) % 10;
                Ok(Self(format!("{body}{check}")))
            }
            13 if (digits.starts_with("978") || digits.starts_with("979"))
                && sum(&digits, |at| if at % 2 == 0 { 1 } else { 3 }) % 10 == 0 =>
            {
                Ok(Self(digits))
            }
            _ => Err(error()),
        }
    }

    /// The thirteen digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Isbn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The sum of the digits, each times its weight; an `X` counts as 10.
fn sum(digits: &str, weight: impl Fn(u32) -> u32) -> u32 {
    (0..).zip(digits.chars()).map(|(at, digit)| weight(at) * digit.to_digit(10).unwrap_or(10)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lengths_are_one_number() {
        for text in [
            "0306406152",
            "0-306-40615-2",
            "978-0-306-40615-7",
            "ISBN 9780306406157",
            "urn:isbn:0306406152",
            "isbn-13: 978–0–306–40615–7",
        ] {
            assert_eq!(
                Isbn::parse(text).map(|isbn| isbn.to_string()).as_deref(),
                Ok("9780306406157"),
                "{text}"
            );
        }
        assert_eq!(
            Isbn::parse("043942089X").map(|isbn| isbn.to_string()).as_deref(),
            Ok("9780439420891")
        );
    }

    #[test]
    fn a_wrong_check_digit_is_refused() {
        for text in [
            "0306406153",
            "9780306406158",
            "9770306406157",
            "X306406152",
            "978030640615",
            "03064061521",
            "",
            "isbn",
            "97803064061570",
            "0306406152a",
        ] {
            assert!(Isbn::parse(text).is_err(), "{text}");
        }
    }
}
