//! Identifiers in arguments, as people and programs write them.

use std::borrow::Cow;
use std::fmt;

use carrel_pdk::Error;
use carrel_pdk::id::Pmid;
use carrel_pdk::text::excerpt;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Visitor};

use super::invalid;

/// An identifier, written as a text or as a whole number.
#[derive(Debug, Clone)]
pub(crate) struct IdText(pub String);

impl<'de> Deserialize<'de> for IdText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyId)
    }
}

struct AnyId;

impl Visitor<'_> for AnyId {
    type Value = IdText;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an identifier as a text or a whole number")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<IdText, E> {
        Ok(IdText(text.to_owned()))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<IdText, E> {
        Ok(IdText(number.to_string()))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<IdText, E> {
        Ok(IdText(number.to_string()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<IdText, E> {
        // To JSON Schema, 31452104.0 is an integer.
        match number.fract() == 0.0 && (0.0..1e15).contains(&number) {
            true => Ok(IdText(format!("{number:.0}"))),
            false => Err(E::custom(format!("expected a whole number but found {number}"))),
        }
    }
}

impl JsonSchema for IdText {
    fn schema_name() -> Cow<'static, str> {
        "IdText".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "string"}, {"type": "integer"}]})
    }
}

/// The digits of a PMID: from a number, or from digits with blanks around them, after `PMID:`, or
/// in a PubMed URL. Digits that are not a PMID are passed on; PubMed reports them as missing.
///
/// # Errors
///
/// `invalid_arguments`, naming `argument`.
pub(crate) fn pmid(argument: &str, id: &IdText) -> Result<String, Error> {
    let text = id.0.trim();
    if let Ok(pmid) = Pmid::parse(text) {
        return Ok(pmid.to_string());
    }
    if (1..=20).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(text.to_owned());
    }
    let found = excerpt(text);
    Err(invalid(format!("{argument}: expected a PMID such as 31452104 but found {found:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use carrel_pdk::Code;

    fn read(json: &str) -> Result<String, Error> {
        pmid("pmids[0]", &serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_pmid_is_read_as_people_and_programs_write_it() {
        for json in [
            "31452104",
            "31452104.0",
            r#""31452104""#,
            r#"" 31452104\n""#,
            r#""PMID:31452104""#,
            r#""pmid: 31452104 ""#,
            r#""031452104""#,
            r#""https://pubmed.ncbi.nlm.nih.gov/31452104/""#,
        ] {
            assert_eq!(read(json).unwrap().trim_start_matches('0'), "31452104", "{json}");
        }
        // Too long for a PMID; PubMed reports it as missing.
        assert_eq!(read("123456789012").unwrap(), "123456789012");
    }

    #[test]
    fn what_is_no_pmid_is_named_with_its_place() {
        for json in [r#""12a""#, r#""""#, "-1", r#""PMC31452104""#] {
            let error = read(json).unwrap_err();
            assert_eq!(error.code, Code::InvalidArguments, "{json}");
            assert!(error.message.starts_with("pmids[0]: expected a PMID"), "{}", error.message);
        }
        assert!(serde_json::from_str::<IdText>("1.5").is_err());
        assert!(serde_json::from_str::<IdText>("true").is_err());
    }
}
