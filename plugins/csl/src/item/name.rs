//! A name of a person or an institution.

use serde_json::Value;

use super::particles;

/// A name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    pub(crate) family: String,
    pub(crate) given: String,
    pub(crate) dropping: String,
    pub(crate) non_dropping: String,
    pub(crate) suffix: String,
    pub(crate) comma_suffix: bool,
    pub(crate) static_ordering: bool,
    /// An institution, or a person's name that is not to be taken apart.
    pub(crate) literal: Option<String>,
}

impl Name {
    /// A name that is not taken apart.
    pub(crate) fn literal(text: &str) -> Self {
        Self { literal: Some(text.trim().to_owned()), ..Self::default() }
    }

    /// All parts, for telling whether two names are the same.
    pub(crate) fn whole(&self) -> String {
        let literal = self.literal.as_deref().unwrap_or_default();
        [literal, &self.family, &self.given, &self.dropping, &self.non_dropping, &self.suffix]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Reads a name; `None` when it has no text.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let members = match value {
            Value::Object(members) => members,
            Value::String(text) if !text.trim().is_empty() => return Some(Self::literal(text)),
            _ => return None,
        };
        let get = |key: &str| {
            let text = members.get(key).and_then(super::text).unwrap_or_default();
            text.trim().to_owned()
        };
        let flag = |key: &str| match members.get(key) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::Number(number)) => number.as_f64() != Some(0.0),
            Some(Value::String(text)) => !matches!(text.as_str(), "" | "false" | "0"),
            _ => false,
        };
        let literal = get("literal");
        let mut name = Self {
            family: get("family"),
            given: get("given"),
            dropping: get("dropping-particle"),
            non_dropping: get("non-dropping-particle"),
            suffix: get("suffix"),
            comma_suffix: flag("comma-suffix"),
            static_ordering: flag("static-ordering"),
            literal: None,
        };
        if !literal.is_empty() {
            return Some(Self::literal(&literal));
        }
        if name.family.is_empty() && name.given.is_empty() {
            return None;
        }
        if name.family.is_empty() {
            return Some(Self { literal: None, family: name.given, ..Self::default() });
        }
        let parse = members.get("parse-names").is_none() || flag("parse-names");
        if parse {
            particles::parse(&mut name);
        }
        name.family = name.family.replace('\'', "’");
        name.given = name.given.replace('\'', "’");
        name.suffix = name.suffix.replace('\'', "’");
        name.dropping = name.dropping.replace('\'', "’");
        name.non_dropping = name.non_dropping.replace('\'', "’");
        Some(name)
    }

    /// Whether the name is written without spaces between its parts: Chinese, Japanese and Korean.
    pub(crate) fn is_unspaced(&self) -> bool {
        let mut letters = self.family.chars().chain(self.given.chars()).peekable();
        letters.peek().is_some() && letters.all(|c| !is_romanesque(c)) && self.literal.is_none()
    }

    /// Whether given and family name can be told apart and initialised: Latin, Greek, Cyrillic,
    /// Hebrew, Arabic and the like.
    pub(crate) fn is_romanesque(&self) -> bool {
        self.family.chars().chain(self.given.chars()).any(is_letter_of_alphabet)
    }
}

fn is_letter_of_alphabet(c: char) -> bool {
    c.is_alphabetic() && is_romanesque(c)
}

/// Whether a character is written with spaces between words.
pub(crate) fn is_romanesque(c: char) -> bool {
    !matches!(u32::from(c),
        0x0E00..=0x0E7F | 0x1100..=0x11FF | 0x2E80..=0x2FDF | 0x3000..=0xA4CF | 0xAC00..=0xD7AF
        | 0xF900..=0xFAFF | 0xFF00..=0xFFEF | 0x20000..=0x3FFFF)
}
