//! The reserved tool `lookup` and the role `open_copies`: identifiers in, records out.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::lookup::{self, Answer, Id};
use carrel_pdk::record::Work;
use carrel_pdk::{Code, Error, Host, Request, Response};

use crate::formats::document::{SOURCE, hint};
use crate::formats::papers;
use crate::request;

/// Identifiers that one call takes; the API takes 500.
pub(crate) const BATCH: u32 = 100;
/// The API's error for a batch without any known paper.
const NONE_VALID: &str = "no valid paper ids";

/// Runs the tool: one request, for one paper or for a batch.
///
/// # Errors
///
/// Only for invalid arguments. The failure of a single identifier is part of the answer.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let mut result = Answer::default();
    let (mut requested, mut names) = (Vec::new(), Vec::new());
    for id in lookup::ids(arguments)? {
        match request::name(&id) {
            Ok(name) => {
                requested.push(id);
                names.push(name);
            }
            Err(error) => result.failed.push((id, error)),
        }
    }
    let request = match names.as_slice() {
        [] => return Ok(result.to_json()),
        [only] => request::paper(only),
        several => request::batch(several),
    };
    let response = match host.fetch(request.clone()) {
        Ok(response) => response,
        Err(failure) => {
            fail_all(&mut result, requested, &hint(failure.into()));
            return Ok(result.to_json());
        }
    };
    let read = if requested.len() == 1 {
        answer::read_part(SOURCE, host, &request, &response, Asked::ForOne, |text| {
            Ok(vec![Some(papers::paper(text)?.work)])
        })
    } else {
        batch(host, &request, &response, requested.len())
    };
    match read {
        Ok(found) => {
            for (id, work) in requested.into_iter().zip(found) {
                match work {
                    Some(work) => result.works.push((id, work)),
                    None => result.not_found.push(id),
                }
            }
        }
        Err(error) if error.code == Code::NotFound => result.not_found.extend(requested),
        Err(error) => fail_all(&mut result, requested, &error),
    }
    Ok(result.to_json())
}

/// The papers of a batch, in the order of the request.
fn batch<'r>(
    host: &dyn Host,
    request: &Request,
    response: &'r Response,
    count: usize,
) -> Result<Vec<Option<Work<'r>>>, Error> {
    let read = answer::read_part(SOURCE, host, request, response, Asked::ForMatches, papers::each);
    let (page, indices) = match read {
        Err(error) if error.message.to_ascii_lowercase().contains(NONE_VALID) => {
            return Err(Error { code: Code::NotFound, ..error });
        }
        other => other?,
    };
    if indices.len() != count {
        let message = format!(
            "expected {count} papers of Semantic Scholar, one for each identifier, but found {}",
            indices.len()
        );
        return Err(Error::new(Code::UpstreamInvalid, message));
    }
    let mut works = page.works.into_iter();
    Ok(indices.into_iter().map(|index| index.and_then(|_| works.next())).collect())
}

fn fail_all(result: &mut Answer<'_>, ids: Vec<Id>, error: &Error) {
    result.failed.extend(ids.into_iter().map(|id| (id, error.clone())));
}
