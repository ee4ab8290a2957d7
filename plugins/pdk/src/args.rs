//! Parses a call's arguments: JSON text → the plugin author's type.

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Code, Error};

/// A part of a result that callers can leave out, for an argument `omit: Vec<Part>`: the two that are
/// most of a record's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[allow(missing_docs, reason = "described one by one they would make no plain enum")]
pub enum Part {
    Abstracts,
    Affiliations,
}

/// Reads a call's arguments into a type of the plugin's own.
///
/// The host has checked them against the tool's input schema, which is generated from the same type
/// (see [`schema`](crate::schema)); this check is for a host that did not.
///
/// # Errors
///
/// [`Code::InvalidArguments`] when the text is not JSON or does not fit the type.
pub fn arguments<T: DeserializeOwned>(json: &str) -> Result<T, Error> {
    serde_json::from_str(json).map_err(|error| {
        let text = error.to_string();
        // The position in the JSON text does not help the caller.
        let reason = text.split(" at line ").next().unwrap_or(&text);
        Error::new(Code::InvalidArguments, format!("arguments: {reason}"))
    })
}

/// Reads a whole number that may be written with a fraction of zero: to JSON Schema `10.0` is an
/// integer, and some clients write all numbers as fractions. For `#[serde(deserialize_with = …)]`.
///
/// # Errors
///
/// When it is not a number, not whole, negative, or above `u32`.
pub fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = serde_json::Number::deserialize(deserializer)?;
    let whole = number.as_u64().or_else(|| {
        let float = number.as_f64()?;
        // The cast is exact in this range; values outside do not fit into `u32` either.
        ((0.0..=f64::from(u32::MAX)).contains(&float) && float.fract() == 0.0)
            .then_some(float as u64)
    });
    whole.and_then(|whole| u32::try_from(whole).ok()).ok_or_else(|| {
        D::Error::custom(format!(
            "expected a whole number from 0 to {} but found {number}",
            u32::MAX
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Paging {
        start: u32,
    }

    #[test]
    fn arguments_become_the_authors_type() {
        assert_eq!(arguments::<Paging>(r#"{"start": 5}"#).unwrap().start, 5);
    }

    #[test]
    fn an_unknown_argument_is_named() {
        let error = arguments::<Paging>(r#"{"strat": 5}"#).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments);
        assert_eq!(error.message, "arguments: unknown field `strat`, expected `start`");
    }

    #[test]
    fn a_part_is_named_by_one_word() {
        let parts: Vec<Part> = serde_json::from_str(r#"["affiliations", "abstracts"]"#).unwrap();
        assert_eq!(parts, [Part::Affiliations, Part::Abstracts]);
        let schema = crate::schema::input::<Part>();
        assert_eq!(schema["enum"], serde_json::json!(["abstracts", "affiliations"]));
    }

    #[test]
    fn text_that_is_not_json_is_an_argument_error() {
        assert_eq!(arguments::<Paging>("start=5").unwrap_err().code, Code::InvalidArguments);
    }
}
