//! Arguments → requests. Pure.
//!
//! Usually one request. A list of ids that is too long for one URL is split into groups. How many
//! of a group's ids exist is not known beforehand, so each request asks for all entries of its
//! group, and `start`, `max_results` and the order are applied to the merged entries (see
//! [`merge`](crate::response)).

use carrel_pdk::{Error, Request, percent};

use crate::tools::{arguments::QueryArguments, ids};

/// Where the API is.
const ENDPOINT: &str = "https://export.arxiv.org/api/query";

/// The longest URL, in bytes. Neither arXiv nor HTTP states a limit; every proxy, cache and log is
/// known to accept 2,000.
const URL_BYTES: usize = 2000;

/// The requests that a query needs.
#[derive(Debug, PartialEq, Eq)]
pub enum Plan {
    /// One request, which arXiv pages and sorts.
    One(Request),
    /// Groups of ids, one request each; paging and sorting are ours.
    Groups(Vec<Request>),
}

/// The requests for `arguments`, and the ids they ask for, if any.
///
/// # Errors
///
/// `invalid_arguments` when `id_list` is invalid or the query does not fit into a URL.
pub fn plan(arguments: &QueryArguments) -> Result<(Plan, Vec<String>), Error> {
    let ids = match &arguments.id_list {
        Some(list) => ids::parse(list)?,
        None => Vec::new(),
    };
    let single = url(arguments, &ids, arguments.start, arguments.max_results);
    if single.len() <= URL_BYTES || ids.len() < 2 {
        if single.len() > LONGEST_URL {
            return Err(crate::tools::arguments::invalid(format!(
                "search_query: expected a query that fits into a URL of {LONGEST_URL} bytes but it makes {}",
                single.len()
            )));
        }
        return Ok((Plan::One(Request::get(single)), ids));
    }
    let requests = groups(arguments, &ids)
        .into_iter()
        .map(|group| Request::get(url(arguments, group, 0, group.len())))
        .collect();
    Ok((Plan::Groups(requests), ids))
}

/// The request for all of `ids` in one page; they must fit into a URL.
pub fn of_ids(ids: &[String]) -> Request {
    Request::get(url(&QueryArguments::for_ids(), ids, 0, ids.len()))
}

/// Requests for all of `ids`, each with the ids it asks for: as many as fit into a URL.
pub fn by_id(ids: &[String]) -> Vec<(&[String], Request)> {
    if ids.is_empty() {
        return Vec::new();
    }
    let arguments = QueryArguments::for_ids();
    groups(&arguments, ids)
        .into_iter()
        .map(|group| (group, Request::get(url(&arguments, group, 0, group.len()))))
        .collect()
}

/// The longest URL that cannot be split, in bytes; common servers refuse longer ones.
const LONGEST_URL: usize = 8000;

/// Splits the ids so that each group's URL fits, in order and as few as possible.
fn groups<'i>(arguments: &QueryArguments, ids: &'i [String]) -> Vec<&'i [String]> {
    // A group's size has at most four digits.
    let around = url(arguments, &[], 0, 1000_usize).len() + "&id_list=".len();
    let mut groups = Vec::new();
    let mut first = 0;
    let mut length = around;
    for (at, id) in ids.iter().enumerate() {
        let added = percent::query(id).len() + 1;
        if at > first && length + added > URL_BYTES {
            groups.push(&ids[first..at]);
            first = at;
            length = around;
        }
        length += added;
    }
    groups.push(&ids[first..]);
    groups
}

fn url(
    arguments: &QueryArguments,
    ids: &[String],
    start: impl std::fmt::Display,
    max_results: impl std::fmt::Display,
) -> String {
    let mut url = format!("{ENDPOINT}?");
    if let Some(search_query) = &arguments.search_query {
        url.push_str(&format!("search_query={}&", percent::query(search_query)));
    }
    if !ids.is_empty() {
        url.push_str(&format!("id_list={}&", percent::query(&ids.join(","))));
    }
    url.push_str(&format!("start={start}&max_results={max_results}"));
    if let Some(sort_by) = arguments.sort_by {
        url.push_str(&format!("&sortBy={}", sort_by.as_str()));
    }
    if let Some(sort_order) = arguments.sort_order {
        url.push_str(&format!("&sortOrder={}", sort_order.as_str()));
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use carrel_pdk::Code;

    fn planned(json: &str) -> Plan {
        plan(&QueryArguments::parse(json).unwrap()).unwrap().0
    }

    fn urls(plan: Plan) -> Vec<String> {
        match plan {
            Plan::One(request) => vec![request.url],
            Plan::Groups(requests) => requests.into_iter().map(|request| request.url).collect(),
        }
    }

    fn list(count: usize) -> String {
        (0..count).map(|number| format!("2301.{number:05}")).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn a_search_is_encoded_and_its_defaults_are_stated() {
        assert_eq!(
            urls(planned(r#"{"search_query": "ti:\"a & b\" AND cat:cs.DL"}"#)),
            [
                "https://export.arxiv.org/api/query?search_query=ti:%22a%20%26%20b%22%20AND%20cat:cs.DL&start=0&max_results=10"
            ]
        );
    }

    #[test]
    fn every_argument_reaches_the_url() {
        let json = r#"{"search_query": "all:x", "id_list": "hep-ex/0307015,2301.00001v2", "start": 5,
            "max_results": 20, "sortBy": "lastUpdatedDate", "sortOrder": "ascending"}"#;
        assert_eq!(
            urls(planned(json)),
            [
                "https://export.arxiv.org/api/query?search_query=all:x&id_list=hep-ex/0307015,2301.00001v2&start=5&max_results=20&sortBy=lastUpdatedDate&sortOrder=ascending"
            ]
        );
    }

    #[test]
    fn a_list_that_fits_is_one_request_and_the_next_id_splits_it() {
        let fits = (1..2000)
            .take_while(|&count| {
                let json = format!(r#"{{"id_list": "{}", "max_results": 2000}}"#, list(count));
                matches!(planned(&json), Plan::One(_))
            })
            .count();
        let json = format!(r#"{{"id_list": "{}", "max_results": 2000}}"#, list(fits));
        let full = urls(planned(&json));
        assert!(full[0].len() <= URL_BYTES && full[0].len() > URL_BYTES - 12, "{}", full[0].len());
        let json = format!(r#"{{"id_list": "{}", "max_results": 2000}}"#, list(fits + 1));
        assert_eq!(urls(planned(&json)).len(), 2);
    }

    #[test]
    fn groups_ask_for_every_id_once_from_their_start() {
        let json = format!(
            r#"{{"id_list": "{}", "start": 700, "max_results": 5, "sortBy": "submittedDate"}}"#,
            list(2000)
        );
        let urls = urls(planned(&json));
        let mut requested = Vec::new();
        for url in &urls {
            assert!(url.len() <= URL_BYTES, "{}", url.len());
            assert!(url.contains("&start=0&") && url.ends_with("&sortBy=submittedDate"), "{url}");
            let ids = url.split("id_list=").nth(1).unwrap().split('&').next().unwrap();
            let ids: Vec<&str> = ids.split(',').collect();
            assert!(url.contains(&format!("&max_results={}&", ids.len())), "{url}");
            requested.extend(ids.into_iter().map(str::to_owned));
        }
        assert_eq!(requested.join(","), list(2000));
        assert_eq!(urls.len(), 12);
    }

    #[test]
    fn a_search_that_fits_no_url_is_an_argument_error() {
        let json = format!(r#"{{"search_query": "{}"}}"#, "x".repeat(9000));
        let error = plan(&QueryArguments::parse(&json).unwrap()).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments);
    }
}
