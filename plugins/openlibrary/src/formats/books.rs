//! The format: a document in, a page of works out. Pure.

use carrel_pdk::Error;
use carrel_pdk::record::page::Page;

use super::answer;
use crate::record;

/// Books by ISBN, the matches of a search, one edition or one work.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or has no books; else the API's error report.
pub fn books(document: &str) -> Result<Page<'_>, Error> {
    let listing = answer::read(document)?;
    Ok(Page {
        total_results: listing.total,
        next_cursor: None,
        works: listing.items.into_iter().map(|(key, book)| record::work(key, book)).collect(),
    })
}
