//! The role `search`: words in, papers out.

use carrel_pdk::answer::Asked;
use carrel_pdk::roles::{Found, Search};
use carrel_pdk::{Error, Host};

use crate::formats::next::Next;
use crate::formats::papers;
use crate::{request, response};

/// Runs the role. The API returns at most a thousand matches.
///
/// # Errors
///
/// Invalid arguments, or the error of a request.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let search = Search::read(arguments)?;
    let Some(request) = request::search(&search) else { return Ok(Found::default().to_json()) };
    let response = response::ask(host, request)?;
    let page = response::read(&response, Asked::ForMatches, papers::papers)?;
    let next_cursor = page.next.as_ref().and_then(Next::cursor);
    Ok(Found { total: page.total_results, works: page.works, next_cursor }.to_json())
}
