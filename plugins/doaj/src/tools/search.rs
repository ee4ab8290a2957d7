//! The reserved tool `role:search`.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::roles::{Found, Search};
use carrel_pdk::{Code, Error, Host};

use crate::SOURCE;
use crate::formats::articles;
use crate::request;

/// The most works that one call returns.
pub(crate) const MAX: u32 = 100;

/// Runs the tool. The cursor is the number and the size of the next page: `2-100`.
///
/// # Errors
///
/// `invalid_arguments` for a query without words or an invalid cursor; else the request's error.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let search = Search::read(arguments)?;
    let invalid = |message: String| Error::new(Code::InvalidArguments, message);
    let (page, size) = match &search.cursor {
        None => (1, search.limit.clamp(1, MAX)),
        Some(cursor) => page_and_size(cursor).ok_or_else(|| {
            let found = carrel_pdk::text::excerpt(cursor);
            invalid(format!("cursor: expected the next_cursor of an answer but found {found:?}"))
        })?,
    };
    let request = request::search(&search, page, size);
    let request =
        request.ok_or_else(|| invalid("query: expected words but found none".to_owned()))?;
    let response = host.fetch(request)?;
    let found = answer::read(SOURCE, &response, Asked::ForMatches, articles::articles)?;
    let is_more = !found.works.is_empty() && request::is_more(found.total_results, page, size);
    let next_cursor = is_more.then(|| format!("{}-{size}", page + 1).into());
    Ok(Found { total: found.total_results, works: found.works, next_cursor }.to_json())
}

/// Number and size of the page that a cursor names.
fn page_and_size(cursor: &str) -> Option<(u32, u32)> {
    let (page, size) = cursor.split_once('-')?;
    let (page, size) = (page.parse().ok()?, size.parse().ok()?);
    ((1..=10_000).contains(&page) && (1..=MAX).contains(&size)).then_some((page, size))
}
