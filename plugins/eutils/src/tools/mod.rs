//! The tools: arguments → requests → results.

pub(crate) mod citation_match;
pub(crate) mod convert_ids;
pub(crate) mod fetch;
pub(crate) mod info;
pub(crate) mod lookup;
pub(crate) mod mesh;
pub(crate) mod pmid;
pub(crate) mod related;
mod resolve;
pub(crate) mod resource;
pub(crate) mod roles;
pub(crate) mod search;
pub(crate) mod spell;
pub(crate) mod summaries;
mod syntax;

use carrel_pdk::{Code, Error};

/// An error about the arguments.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidArguments, message)
}

/// Refuses a list that is empty or too long, naming it and the limit.
pub(crate) fn counted(name: &str, count: usize, most: usize) -> Result<(), Error> {
    match count {
        0 => Err(invalid(format!("{name}: at least 1 is needed, 0 given"))),
        _ if count > most => Err(invalid(format!("{name}: at most {most} {name}, {count} given"))),
        _ => Ok(()),
    }
}

/// Refuses a number that is out of its range, naming it and the range.
pub(crate) fn ranged(name: &str, number: u32, least: u32, most: u32) -> Result<(), Error> {
    if (least..=most).contains(&number) {
        return Ok(());
    }
    Err(invalid(format!("{name}: expected {least} to {most} but found {number}")))
}

/// The text on one line, without control characters; `None` when it is blank.
pub(crate) fn present(text: Option<&str>) -> Option<String> {
    let clean: String = text?.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    carrel_pdk::text::present(&clean).map(std::borrow::Cow::into_owned)
}

/// Removes duplicates; keeps the order of first occurrence.
pub(crate) fn unique(texts: &[String]) -> Vec<&str> {
    let mut seen = std::collections::HashSet::new();
    texts.iter().map(String::as_str).filter(|text| seen.insert(*text)).collect()
}
