//! The reserved tool `lookup`: DOIs in, records out.

use carrel_pdk::id::Doi;
use carrel_pdk::lookup::{self, Answer, Id, Kind};
use carrel_pdk::record::Work;
use carrel_pdk::{Code, Error, Host, Request, Response};

use crate::formats::works;
use crate::request;
use crate::response::{self, Asked};

/// The most DOIs in one call.
pub(crate) const BATCH: u32 = 20;
/// The number of DOIs from which one filtered search replaces single requests.
const WORTH_A_SEARCH: usize = 3;
/// The most bytes of DOIs in one filter, so that the URL stays short enough for common servers.
const LONGEST_FILTER: usize = 1500;

/// Runs the tool. Only a request for the single DOI decides that a work does not exist: a search
/// may miss it because it parses the DOI differently.
///
/// # Errors
///
/// Only for invalid arguments. The failure of a single identifier is part of the answer.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    run_with(arguments, host, |_| ())
}

/// Runs the tool, and `complete` over the answer.
///
/// # Errors
///
/// As [`run`].
pub(crate) fn run_with(
    arguments: &str,
    host: &dyn Host,
    complete: impl FnOnce(&mut Answer<'_>),
) -> Result<String, Error> {
    let mut result = Answer::default();
    let mut requested: Vec<(Id, Doi)> = Vec::new();
    for id in lookup::ids(arguments)? {
        match Doi::parse(&id.id) {
            Ok(doi) if id.kind == Kind::Doi => requested.push((id, doi)),
            _ => {
                let message = "expected an identifier of type doi that is one".to_owned();
                result.failed.push((id, Error::new(Code::InvalidArguments, message)));
            }
        }
    }
    let searched = search(&requested, host);
    let mut found: Vec<Work<'_>> = Vec::new();
    for (request, response) in &searched {
        // If the search fails, its DOIs are requested one by one.
        found.extend(
            response::read_part(host, request, response, Asked::ForMatches, works::works)
                .map(|page| page.works)
                .unwrap_or_default(),
        );
    }
    let mut left = Vec::new();
    for (id, doi) in requested {
        let index = found.iter().position(|work| {
            work.ids.doi.as_deref().is_some_and(|found| found.eq_ignore_ascii_case(doi.as_str()))
        });
        match index {
            // Cloned, because the same DOI may have been requested in two spellings.
            Some(index) => result.works.push((id, found[index].clone())),
            None => left.push((id, doi)),
        }
    }
    let requests: Vec<Request> = left.iter().map(|(_, doi)| request::work(doi)).collect();
    let outcomes = if requests.is_empty() { Vec::new() } else { host.fetch_all(requests.clone()) };
    let mut responses = Vec::new();
    for (((id, _), request), outcome) in left.into_iter().zip(requests).zip(outcomes) {
        match outcome {
            Ok(response) => responses.push((id, request, response)),
            Err(failure) => result.failed.push((id, failure.into())),
        }
    }
    for (id, request, response) in &responses {
        match response::read_part(host, request, response, Asked::ForWork, works::work) {
            Ok(single) => result.works.push((id.clone(), single.work)),
            Err(error) if error.code == Code::NotFound => result.not_found.push(id.clone()),
            Err(error) => result.failed.push((id.clone(), error)),
        }
    }
    complete(&mut result);
    Ok(result.to_json())
}

/// Searches for the DOIs that can be written in a filter, if there are enough of them.
fn search(requested: &[(Id, Doi)], host: &dyn Host) -> Vec<(Request, Response)> {
    let mut groups: Vec<Vec<&Doi>> = Vec::new();
    let mut length = 0;
    for (_, doi) in requested.iter().filter(|(_, doi)| request::fits_filter(doi)) {
        let added = doi.segment().len() + "doi:,".len();
        match groups.last_mut().filter(|_| length + added <= LONGEST_FILTER) {
            Some(group) => group.push(doi),
            None => {
                groups.push(vec![doi]);
                length = 0;
            }
        }
        length += added;
    }
    groups.retain(|group| group.len() >= WORTH_A_SEARCH);
    if groups.is_empty() {
        return Vec::new();
    }
    let requests: Vec<Request> = groups.iter().map(|group| request::batch(group)).collect();
    let outcomes = host.fetch_all(requests.clone());
    let answered =
        |(request, outcome): (Request, Result<Response, _>)| Some((request, outcome.ok()?));
    requests.into_iter().zip(outcomes).filter_map(answered).collect()
}
