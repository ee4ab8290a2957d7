//! The tools: arguments → requests → results.

pub(crate) mod brief;
pub(crate) mod citations;
pub(crate) mod convert;
pub(crate) mod fetch;
pub(crate) mod info;
pub(crate) mod lookup;
pub(crate) mod mesh;
pub(crate) mod related;
pub(crate) mod resource;
pub(crate) mod search;
pub(crate) mod spell;

use carrel_pdk::{Code, Error};

/// An error about the arguments.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidArguments, message)
}

/// The text on one line, without control characters; `None` when it is blank.
pub(crate) fn present(text: Option<&str>) -> Option<String> {
    let clean: String = text?.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
    carrel_pdk::text::present(&clean).map(std::borrow::Cow::into_owned)
}

/// Each text once, in the order of the first.
pub(crate) fn unique(texts: &[String]) -> Vec<&str> {
    let mut seen = std::collections::HashSet::new();
    texts.iter().map(String::as_str).filter(|text| seen.insert(*text)).collect()
}
