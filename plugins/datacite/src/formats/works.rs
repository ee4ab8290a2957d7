//! The formats: a document in, one work or a page of works out. Pure.

use carrel_pdk::Error;
use carrel_pdk::record::page::{OneWork, Page};

use super::answer::{self, Answer};
use crate::record;

/// The work of one DOI.
///
/// # Errors
///
/// As [`dois`]; `invalid_document` for a list that does not hold exactly one.
pub fn doi(document: &str) -> Result<OneWork<'_>, Error> {
    let resource = match answer::read(document)? {
        Answer::One(resource) => *resource,
        Answer::Many(mut listing) if listing.items.len() == 1 => {
            listing.items.pop().unwrap_or_default()
        }
        Answer::Many(listing) => {
            let count = listing.items.len();
            let found = format!("a list of {count}, which the format dois reads");
            return Err(carrel_pdk::json::document::unexpected("one DOI", &found, document));
        }
    };
    Ok(OneWork { work: record::work(resource) })
}

/// The works of a list of DOIs; one DOI is a list of one.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or has no DOIs; else the API's error report.
pub fn dois(document: &str) -> Result<Page<'_>, Error> {
    Ok(match answer::read(document)? {
        Answer::One(resource) => {
            Page { total_results: Some(1), works: vec![record::work(*resource)], ..Page::default() }
        }
        Answer::Many(listing) => Page {
            total_results: listing.total,
            next_cursor: listing.next_cursor.map(Into::into),
            works: listing.items.into_iter().map(record::work).collect(),
        },
    })
}
