//! Arguments → requests.

use carrel_pdk::lookup::{Id, Kind};
use carrel_pdk::{Request, lucene, percent, roles};

const REST: &str = "https://www.ebi.ac.uk/europepmc/webservices/rest";

/// The most results of a lookup: an identifier can have several, such as a preprint's versions.
const LOOKUP_PAGE: usize = 100;

/// The request for the records of identifiers, all in one query.
pub(crate) fn lookup(ids: &[Id]) -> Request {
    let terms: Vec<String> = ids.iter().filter_map(term).collect();
    search_request(&terms.join(" OR "), LOOKUP_PAGE, None)
}

/// The query of one identifier; `None` for a kind that Europe PMC does not have.
pub(crate) fn term(id: &Id) -> Option<String> {
    match id.kind {
        Kind::Doi => Some(format!("DOI:{}", lucene::phrase(&id.id))),
        Kind::Pmid => Some(format!("(EXT_ID:{} AND SRC:MED)", lucene::phrase(&id.id))),
        Kind::Pmcid => Some(format!("PMCID:{}", lucene::phrase(&id.id))),
        _ => None,
    }
}

/// The request of a search; `None` when the query has no words.
pub(crate) fn search(search: &roles::Search) -> Option<Request> {
    let words = lucene::words(&search.query);
    if words.is_empty() {
        return None;
    }
    let mut terms = vec![format!("({words})")];
    terms.extend(lucene::years("PUB_YEAR", search.year_from, search.year_to));
    if search.open_access {
        terms.push("OPEN_ACCESS:y".to_owned());
    }
    let limit = usize::try_from(search.limit).unwrap_or(LOOKUP_PAGE);
    Some(search_request(&terms.join(" AND "), limit, search.cursor.as_deref()))
}

fn search_request(query: &str, size: usize, cursor: Option<&str>) -> Request {
    let query = percent::query(query);
    let cursor = percent::query(cursor.unwrap_or("*"));
    Request::get(format!(
        "{REST}/search?query={query}&resultType=core&format=json&pageSize={size}&cursorMark={cursor}"
    ))
}

/// The request for a page of an article's citations or references; `list` is the path's last
/// segment.
pub(crate) fn linked(source: &str, id: &str, list: &str, page: u32, size: u32) -> Request {
    let (source, id) = (percent::segment(source), percent::segment(id));
    Request::get(format!("{REST}/{source}/{id}/{list}?page={page}&pageSize={size}&format=json"))
}
