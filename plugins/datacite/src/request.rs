//! Arguments → requests.

use carrel_pdk::id::Doi;
use carrel_pdk::{Request, lucene, percent, roles};

const DOIS: &str = "https://api.datacite.org/dois";

/// The most matches that page numbers can reach.
const REACHABLE: u64 = 10_000;

/// The request for one DOI.
pub(crate) fn doi(doi: &Doi) -> Request {
    Request::get(format!("{DOIS}/{}?affiliation=true&publisher=true", percent::path(doi.as_str())))
}

/// The request of a search; `None` when the query has no words.
///
/// Uses page numbers, not a cursor: DataCite's cursor sorts by date, not by relevance.
pub(crate) fn search(search: &roles::Search, page: u32, size: u32) -> Option<Request> {
    let words = lucene::words(&search.query);
    if words.is_empty() {
        return None;
    }
    let years = lucene::years("publicationYear", search.year_from, search.year_to);
    let query = match years {
        Some(years) => format!("({words}) AND {years}"),
        None => words,
    };
    let query = percent::query(&query);
    Some(Request::get(format!(
        "{DOIS}?query={query}&page%5Bsize%5D={size}&page%5Bnumber%5D={page}&sort=relevance\
         &affiliation=true&publisher=true&disable-facets=true"
    )))
}

/// Whether there is a next page.
pub(crate) fn is_more(total: Option<u64>, page: u32, size: u32) -> bool {
    let (page, size) = (u64::from(page), u64::from(size));
    total.is_some_and(|total| total > page * size) && (page + 1) * size <= REACHABLE
}
