//! The formats: a document in, a result out. Pure.

use carrel_pdk::Error;
use carrel_pdk::record::page::{OneWork, Page};

use crate::formats::document::{self, Document};
use crate::record;

/// The work in a document.
///
/// # Errors
///
/// As [`works`]; `invalid_document` for a list of works.
pub fn work(text: &str) -> Result<OneWork<'_>, Error> {
    match document::read(text)? {
        Document::Work(item) => Ok(OneWork { work: record::work(*item) }),
        Document::Works(listing) => {
            let count = listing.items.len();
            let message = format!(
                "expected one work but found a list of {count}, which the format works reads"
            );
            Err(Error::invalid_document(message, 0, ""))
        }
    }
}

/// The works in a document; one work is a list of one.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or has no works; the API's error report, by its
/// text: `not_found`, `rate_limited`, `upstream_unavailable`, else `upstream_error`.
pub fn works(text: &str) -> Result<Page<'_>, Error> {
    Ok(match document::read(text)? {
        Document::Work(item) => {
            Page { total_results: Some(1), works: vec![record::work(*item)], ..Page::default() }
        }
        Document::Works(listing) => Page {
            total_results: listing.total_results,
            next_cursor: listing.next_cursor.0.filter(|cursor| !cursor.trim().is_empty()),
            works: listing.items.into_iter().map(record::work).collect(),
        },
    })
}
