//! The formats: a document in, a page of works out. Pure.

use carrel_pdk::Error;
use carrel_pdk::record::page::Page;

use super::answer::{self, Listed};
use crate::record;

/// The articles that match a query, or one article.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or has no articles; else the API's error report.
pub fn search(document: &str) -> Result<Page<'_>, Error> {
    page(document, Listed::Results)
}

/// The articles that cite one.
///
/// # Errors
///
/// As [`search`].
pub fn citations(document: &str) -> Result<Page<'_>, Error> {
    page(document, Listed::Citations)
}

/// The articles that one cites.
///
/// # Errors
///
/// As [`search`].
pub fn references(document: &str) -> Result<Page<'_>, Error> {
    page(document, Listed::References)
}

fn page(document: &str, listed: Listed) -> Result<Page<'_>, Error> {
    let listing = answer::read(document, listed)?;
    Ok(Page {
        total_results: listing.total,
        next_cursor: listing.next_cursor,
        works: listing.items.into_iter().map(record::work).collect(),
    })
}
