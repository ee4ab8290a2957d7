//! The formats: a document in, a result out. Pure.

use carrel_pdk::Error;

use crate::formats::{
    document::{self, Document},
    page::{OneWork, Page},
};
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
            let count = listing.items.map_or(0, |items| items.0.len());
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
/// `invalid_document` for text that is not JSON or has no works, `upstream_error` and `not_found`
/// for the API's error reports.
pub fn works(text: &str) -> Result<Page<'_>, Error> {
    Ok(match document::read(text)? {
        Document::Work(item) => Page {
            total_results: Some(1),
            items_per_page: Some(1),
            works: vec![record::work(*item)],
            ..Page::default()
        },
        Document::Works(listing) => Page::from(*listing),
    })
}
