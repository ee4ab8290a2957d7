//! Identifier types: parsed once, then in canonical form.

use std::fmt;

mod arxiv;
mod doi;
mod isbn;
mod pubmed;

pub use arxiv::ArxivId;
pub use doi::Doi;
pub use isbn::Isbn;
pub use pubmed::{Pmcid, Pmid};

/// The error for a text that is not such an identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdError {
    expected: &'static str,
    found: String,
}

impl IdError {
    fn new(expected: &'static str, found: &str) -> Self {
        Self { expected, found: found.chars().take(80).collect() }
    }
}

impl fmt::Display for IdError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "expected {} but found {:?}", self.expected, self.found)
    }
}

impl std::error::Error for IdError {}

/// `text` without `prefix`, case-insensitively.
fn strip_ignoring_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// The path of an http or https URL whose host is one of `hosts`, without query and fragment.
fn path_of_url<'t>(text: &'t str, hosts: &[&str]) -> Option<&'t str> {
    let rest =
        strip_ignoring_case(text, "https://").or_else(|| strip_ignoring_case(text, "http://"))?;
    let (host, path) = rest.split_once('/')?;
    if !hosts.iter().any(|known| host.eq_ignore_ascii_case(known)) {
        return None;
    }
    path.split(['?', '#']).next()
}
