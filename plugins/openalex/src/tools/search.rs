//! The role `search`: words in, works out.

use carrel_pdk::roles::{Found, Search};
use carrel_pdk::{Error, Host};

use crate::{request, response};

/// Runs the role.
///
/// # Errors
///
/// Invalid arguments, or the error of a request.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let search = Search::read(arguments)?;
    let response = response::ask(host, request::search(&search))?;
    let page = response::page(host, &response)?;
    // After the last page the API may still return a cursor.
    let next_cursor = page.next_cursor.filter(|_| !page.works.is_empty());
    Ok(Found { total: page.total_results, works: page.works, next_cursor }.to_json())
}
