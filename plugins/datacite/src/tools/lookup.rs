//! The reserved tool `lookup`: DOIs in, records out.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::id::Doi;
use carrel_pdk::lookup::{self, Answer, Id, Kind};
use carrel_pdk::{Code, Error, Host, Request};

use crate::SOURCE;
use crate::formats::works;
use crate::request;

/// The most DOIs in one call.
pub(crate) const BATCH: u32 = 20;

/// Runs the tool: a request for each DOI, all at once.
///
/// # Errors
///
/// Only for invalid arguments. The failure of a single identifier is part of the answer.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let mut result = Answer::default();
    let mut requested: Vec<Id> = Vec::new();
    let mut requests: Vec<Request> = Vec::new();
    for id in lookup::ids(arguments)? {
        match Doi::parse(&id.id) {
            Ok(doi) if id.kind == Kind::Doi => {
                requests.push(request::doi(&doi));
                requested.push(id);
            }
            _ => {
                let message = "expected an identifier of type doi that is one";
                result.failed.push((id, Error::new(Code::InvalidArguments, message)));
            }
        }
    }
    let outcomes = if requests.is_empty() { Vec::new() } else { host.fetch_all(requests.clone()) };
    let mut responses = Vec::new();
    for ((id, request), outcome) in requested.into_iter().zip(requests).zip(outcomes) {
        match outcome {
            Ok(response) => responses.push((id, request, response)),
            Err(failure) => result.failed.push((id, failure.into())),
        }
    }
    for (id, request, response) in &responses {
        match answer::read_part(SOURCE, host, request, response, Asked::ForOne, works::doi) {
            Ok(found) => result.works.push((id.clone(), found.work)),
            Err(error) if error.code == Code::NotFound => result.not_found.push(id.clone()),
            Err(error) => result.failed.push((id.clone(), error)),
        }
    }
    Ok(result.to_json())
}
