//! The reserved tool `role:search`.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::roles::{Found, Search};
use carrel_pdk::{Code, Error, Host};

use crate::SOURCE;
use crate::formats::works;
use crate::request;

/// The most works that one call returns.
pub(crate) const MAX: u32 = 100;

/// Runs the tool.
///
/// # Errors
///
/// `invalid_arguments` for a query without words; else the request's error.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let search = Search::read(arguments)?;
    let nothing = || Error::new(Code::InvalidArguments, "query: expected words but found none");
    let request = request::search(&search).ok_or_else(nothing)?;
    // A cursor refers to state of the upstream, so a cached page's cursor may have expired.
    let request = if search.cursor.is_some() { request.refreshed() } else { request };
    let response = host.fetch(request)?;
    let page = answer::read(SOURCE, &response, Asked::ForMatches, works::search)?;
    Ok(Found { total: page.total_results, works: page.works, next_cursor: page.next_cursor }
        .to_json())
}
