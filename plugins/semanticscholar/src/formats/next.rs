//! The position of the next page: an offset or a token.

use std::borrow::Cow;
use std::fmt;

use carrel_pdk::json::Object;
use carrel_pdk::record::Text;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};

/// The start of the next page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next<'d> {
    /// Entries in front of it: the argument `offset`.
    Offset(u64),
    /// The argument `token` of a bulk search.
    Token(Text<'d>),
}

impl Next<'_> {
    /// The start as a role's cursor.
    pub(crate) fn cursor(&self) -> Option<Text<'static>> {
        match self {
            Self::Offset(offset) => Some(offset.to_string().into()),
            Self::Token(_) => None,
        }
    }

    /// Writes it as a member of a result.
    pub(crate) fn write(&self, object: &mut Object<'_>) {
        match self {
            Self::Offset(offset) => object.number("next", *offset),
            Self::Token(token) => object.string("next", token),
        }
    }
}

impl Serialize for Next<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Offset(offset) => serializer.serialize_u64(*offset),
            Self::Token(token) => serializer.serialize_str(token),
        }
    }
}

impl JsonSchema for Next<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Next".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["integer", "string"], "minimum": 0})
    }
}

/// The next page stated in a document; only a whole number or a text counts.
#[derive(Debug, Default, Clone)]
pub(crate) struct Given<'d>(pub(crate) Option<Next<'d>>);

impl<'de> Deserialize<'de> for Given<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(GivenVisitor)
    }
}

struct GivenVisitor;

impl<'de> Visitor<'de> for GivenVisitor {
    type Value = Given<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number or a token")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Given(Some(Next::Offset(number))))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Given(None))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Given(None))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Given(None))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Given(None))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Given((!text.trim().is_empty()).then_some(Next::Token(Cow::Borrowed(text)))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Given((!text.trim().is_empty()).then(|| Next::Token(Cow::Owned(text.to_owned())))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Given(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Given(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_an_offset_and_a_text_a_token() {
        for (json, next) in [
            ("100", Some(Next::Offset(100))),
            (r#""PCO""#, Some(Next::Token("PCO".into()))),
            (r#""a\/b""#, Some(Next::Token("a/b".into()))),
            (r#"" ""#, None),
            ("-1", None),
            ("1.5", None),
            ("null", None),
            ("true", None),
            ("[1]", None),
            (r#"{"a": 1}"#, None),
        ] {
            let read: Given<'_> = carrel_pdk::json::from_str(json).unwrap();
            assert_eq!(read.0, next, "{json}");
        }
    }
}
