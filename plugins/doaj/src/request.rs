//! Arguments → requests.

use carrel_pdk::lookup::Id;
use carrel_pdk::{Request, lucene, percent, roles};

const ARTICLES: &str = "https://doaj.org/api/v4/search/articles";

/// The most matches that page numbers can reach.
const REACHABLE: u64 = 1000;

/// The request for the articles of DOIs, all in one query.
pub(crate) fn lookup(ids: &[Id]) -> Request {
    let terms: Vec<String> =
        ids.iter().map(|id| format!("doi:{}", lucene::phrase(&id.id))).collect();
    let query = percent::segment(&terms.join(" OR "));
    Request::get(format!("{ARTICLES}/{query}?page=1&pageSize=100"))
}

/// The request of a search; `None` when the query has no words. Everything in DOAJ is open access.
pub(crate) fn search(search: &roles::Search, page: u32, size: u32) -> Option<Request> {
    let words = lucene::words(&search.query);
    if words.is_empty() {
        return None;
    }
    let years = lucene::years("bibjson.year", search.year_from, search.year_to);
    let query = match years {
        Some(years) => format!("({words}) AND {years}"),
        None => words,
    };
    let query = percent::segment(&query);
    Some(Request::get(format!("{ARTICLES}/{query}?page={page}&pageSize={size}")))
}

/// Whether there is a next page.
pub(crate) fn is_more(total: Option<u64>, page: u32, size: u32) -> bool {
    let (page, size) = (u64::from(page), u64::from(size));
    total.is_some_and(|total| total > page * size) && (page + 1) * size <= REACHABLE
}
