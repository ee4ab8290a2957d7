//! Reads responses, by status and body.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::record::Work;
use carrel_pdk::{Error, Host, Request, Response};

use crate::formats::document::{SOURCE, explained};
use crate::formats::records;

/// Reads the work in an answer to a request for its record.
///
/// # Errors
///
/// As [`answer::read`]; a 422 says that the operator's address is missing.
pub(crate) fn work<'r>(
    host: &dyn Host,
    request: &Request,
    response: &'r Response,
) -> Result<Work<'r>, Error> {
    let read = |body| records::record(body).map(|record| record.work);
    answer::read_part(SOURCE, host, request, response, Asked::ForOne, read).map_err(|error| {
        // An error report in the body already says so.
        let is_explained = error.action.is_some();
        if is_explained { error } else { explained(error, Some(u64::from(response.status))) }
    })
}
