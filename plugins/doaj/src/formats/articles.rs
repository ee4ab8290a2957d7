//! The format: a document in, a page of works out. Pure.

use carrel_pdk::Error;
use carrel_pdk::record::page::Page;

use super::answer;
use crate::record;

/// The articles of a search, or one article.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or has no articles; else the API's error report.
pub fn articles(document: &str) -> Result<Page<'_>, Error> {
    let listing = answer::read(document)?;
    Ok(Page {
        total_results: listing.total,
        next_cursor: listing.next_page.map(Into::into),
        works: listing.items.into_iter().map(record::work).collect(),
    })
}
