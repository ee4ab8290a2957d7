//! The reserved tool `lookup` from end to end: identifiers → requests → entries → records.

use carrel_pdk::id::ArxivId;
use carrel_pdk::lookup::{self, Answer};
use carrel_pdk::{Code, Error, Host, Level, Response, discard};

use crate::formats::entry::{Entry, Page};
use crate::record;
use crate::request;
use crate::response;
use crate::tools::query::gap;

/// Retries of a request: without an id that arXiv refuses, or for an impossible answer.
const AGAIN: u32 = 2;

/// The identifiers of one request, and arXiv's answer.
struct Group {
    ids: Vec<String>,
    outcome: Result<Response, Error>,
}

/// Runs the tool. Besides arXiv ids it understands arXiv's own DOIs.
///
/// # Errors
///
/// `invalid_arguments` when the arguments are not identifiers. The failure of a single identifier
/// is part of the answer.
pub fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let requested = lookup::ids(arguments)?;
    let mut unique: Vec<String> = Vec::with_capacity(requested.len());
    for id in requested.iter().filter_map(|id| ArxivId::parse(&id.id).ok()) {
        let id = id.to_string();
        if !unique.contains(&id) {
            unique.push(id);
        }
    }
    let groups = gather(unique, host);
    let pages: Vec<(&[String], Result<Page<'_>, Error>)> = groups
        .iter()
        .map(|group| (group.ids.as_slice(), group.outcome.as_ref().map_err(Clone::clone)))
        .map(|(ids, outcome)| (ids, outcome.and_then(response::page)))
        .collect();
    let mut answer = Answer::default();
    for id in requested {
        let arxiv = match ArxivId::parse(&id.id) {
            Ok(arxiv) => arxiv,
            Err(error) => {
                answer.failed.push((id, Error::new(Code::InvalidArguments, error.to_string())));
                continue;
            }
        };
        let text = arxiv.to_string();
        match pages.iter().find(|(ids, _)| ids.contains(&text)) {
            Some((_, Ok(page))) => match page.entries.iter().find(|entry| answers(entry, &arxiv)) {
                Some(entry) => answer.works.push((id, record::work(entry.clone()))),
                None => answer.not_found.push(id),
            },
            Some((_, Err(error))) => answer.failed.push((id, error.clone())),
            None => answer.not_found.push(id),
        }
    }
    Ok(answer.to_json())
}

/// Whether an entry matches an id: the id's version, or any version if it has none. arXiv answers
/// an entry without metadata for a version that does not exist.
fn answers(entry: &Entry<'_>, requested: &ArxivId) -> bool {
    let hollow = entry.title.is_none() && entry.summary.is_none();
    let found = entry.id.as_deref().and_then(|id| ArxivId::parse(id).ok());
    !hollow
        && found.is_some_and(|found| {
            found.base() == requested.base()
                && (requested.version().is_none() || requested.version() == found.version())
        })
}

/// Requests all ids, as many per request as a URL can hold. An id that arXiv reports as malformed
/// fails the whole request, so the request is repeated without it. A request with an impossible
/// answer is repeated too.
fn gather(mut pending: Vec<String>, host: &dyn Host) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut attempt = 0;
    while !pending.is_empty() {
        let (lists, requests): (Vec<_>, Vec<_>) = request::by_id(&pending)
            .into_iter()
            .map(|(ids, request)| {
                (ids.to_vec(), if attempt == 0 { request } else { request.refreshed() })
            })
            .unzip();
        pending.clear();
        let outcomes = host.fetch_all(requests.clone());
        for ((ids, request), outcome) in lists.into_iter().zip(requests).zip(outcomes) {
            let outcome = outcome.map_err(Error::from).and_then(readable);
            if outcome.is_err() {
                discard(host, &request);
            }
            let error = match outcome {
                Err(error) if attempt < AGAIN => error,
                outcome => {
                    groups.push(Group { ids, outcome });
                    continue;
                }
            };
            if error.code == Code::UpstreamInvalid {
                host.log(Level::Warn, &format!("{}, asking again", error.message));
                pending.extend(ids);
            } else if let Some(refused) = refused(&error, &ids) {
                pending.extend(ids.into_iter().filter(|id| *id != refused));
                groups.push(Group { ids: vec![refused], outcome: Err(error) });
            } else {
                groups.push(Group { ids, outcome: Err(error) });
            }
        }
        attempt += 1;
    }
    groups
}

/// The answer, if it is a page that has entries when its total says so.
fn readable(response: Response) -> Result<Response, Error> {
    let page = response::page(&response)?;
    match gap(&page) {
        None => Ok(response),
        Some((start, total)) => {
            let message = format!("an empty page at {start} of {total} results");
            Err(Error::new(Code::UpstreamInvalid, message))
        }
    }
}

/// The id that arXiv's own report names, as in "incorrect id format for 2301.1".
fn refused(error: &Error, ids: &[String]) -> Option<String> {
    if error.code != Code::UpstreamError {
        return None;
    }
    let in_id = |letter: char| letter.is_ascii_alphanumeric() || "./-".contains(letter);
    let mut words = error.message.split(|letter| !in_id(letter));
    words.find_map(|word| ids.iter().find(|id| *id == word.trim_end_matches('.')).cloned())
}
