//! The reserved tools `lookup` and `role:open_copies`: DOIs in, records out.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::id::Doi;
use carrel_pdk::lookup::{self, Answer, Kind};
use carrel_pdk::{Code, Error, Host};

use crate::SOURCE;
use crate::formats::articles;
use crate::request;

/// The most DOIs in one call.
pub(crate) const BATCH: u32 = 10;

/// Runs the tool: all DOIs are one search.
///
/// # Errors
///
/// Only for invalid arguments. The failure of a single identifier is part of the answer.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let mut result = Answer::default();
    let mut requested = Vec::new();
    for id in lookup::ids(arguments)? {
        if id.kind == Kind::Doi && Doi::parse(&id.id).is_ok() {
            requested.push(id);
        } else {
            let message = "expected an identifier of type doi that is one";
            result.failed.push((id, Error::new(Code::InvalidArguments, message)));
        }
    }
    if requested.is_empty() {
        return Ok(result.to_json());
    }
    let response = match host.fetch(request::lookup(&requested)) {
        Ok(response) => response,
        Err(failure) => {
            let error = Error::from(failure);
            result.failed.extend(requested.into_iter().map(|id| (id, error.clone())));
            return Ok(result.to_json());
        }
    };
    match answer::read(SOURCE, &response, Asked::ForMatches, articles::articles) {
        Ok(page) => {
            for id in requested {
                let is_own = |doi: &str| doi.eq_ignore_ascii_case(&id.id);
                match page.works.iter().find(|work| work.ids.doi.as_deref().is_some_and(is_own)) {
                    Some(work) => result.works.push((id, work.clone())),
                    None => result.not_found.push(id),
                }
            }
        }
        Err(error) => result.failed.extend(requested.into_iter().map(|id| (id, error.clone()))),
    }
    Ok(result.to_json())
}
