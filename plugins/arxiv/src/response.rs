//! Responses → one page. Pure.

use std::cmp::Ordering;

use carrel_pdk::{Code, Error, Response, refusal};

use crate::formats::{
    entry::{Entry, Page},
    feed,
};
use crate::tools::arguments::{QueryArguments, SortBy, SortOrder};

/// The page in an answer of the API.
///
/// # Errors
///
/// `upstream_error` when arXiv reports an error, in a feed with any status or by the status alone;
/// `upstream_invalid` when a successful answer is not a feed; else the error of the status. 404
/// says nothing about an id: ids that do not exist are only missing from the feed.
pub fn page(response: &Response) -> Result<Page<'_>, Error> {
    let parsed = feed::parse(&response.body);
    if response.is_success() {
        return parsed.map_err(|error| match error.code {
            Code::InvalidDocument => Error {
                code: Code::UpstreamInvalid,
                message: format!("arXiv's answer is no feed: {}", error.message),
                ..error
            },
            _ => error,
        });
    }
    if let Err(error) = parsed
        && error.code == Code::UpstreamError
    {
        // The text of a server error is about the server, not the request.
        return Err(if response.status < 500 { error } else { error.retry_later() });
    }
    Err(refusal("arXiv", response))
}

/// Merges the groups' pages into one: concatenates, sorts and cuts as requested.
pub fn whole<'d>(pages: Vec<Page<'d>>, arguments: &QueryArguments) -> Page<'d> {
    let count = |page: &Page<'_>| page.total_results.unwrap_or(page.entries.len() as u64);
    let total = pages.iter().map(count).sum();
    let mut entries: Vec<Entry<'d>> = pages.into_iter().flat_map(|page| page.entries).collect();
    if let Some(date) = match arguments.sort_by {
        Some(SortBy::SubmittedDate) => Some(published as fn(&Entry<'d>) -> Option<String>),
        Some(SortBy::LastUpdatedDate) => Some(updated as fn(&Entry<'d>) -> Option<String>),
        // Relevance cannot be compared across requests: groups keep the order of the list, and
        // entries keep arXiv's order inside their group.
        Some(SortBy::Relevance) | None => None,
    } {
        let ascending = arguments.sort_order == Some(SortOrder::Ascending);
        entries.sort_by_cached_key(|entry| Dated { date: date(entry), ascending });
    }
    let start = arguments.start as usize;
    let end = start.saturating_add(arguments.max_results as usize).min(entries.len());
    entries.truncate(end);
    Page {
        total_results: Some(total),
        start_index: Some(u64::from(arguments.start)),
        items_per_page: Some(u64::from(arguments.max_results)),
        entries: entries.split_off(start.min(end)),
        ..Page::default()
    }
}

fn published(entry: &Entry<'_>) -> Option<String> {
    entry.published.as_deref().map(str::to_owned)
}

fn updated(entry: &Entry<'_>) -> Option<String> {
    entry.updated.as_deref().map(str::to_owned)
}

/// arXiv writes all dates in one format, in UTC, so they sort as texts. An entry without a date is
/// last.
#[derive(PartialEq, Eq)]
struct Dated {
    date: Option<String>,
    ascending: bool,
}

impl PartialOrd for Dated {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Dated {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.date, &other.date) {
            (Some(left), Some(right)) if self.ascending => left.cmp(right),
            (Some(left), Some(right)) => right.cmp(left),
            (left, right) => left.is_none().cmp(&right.is_none()),
        }
    }
}
