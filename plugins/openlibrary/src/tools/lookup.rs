//! The reserved tool `lookup`: ISBNs in, records out.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::id::Isbn;
use carrel_pdk::lookup::{self, Answer, Id, Kind};
use carrel_pdk::{Error, Host};

use crate::SOURCE;
use crate::formats::books;
use crate::request;

/// The most ISBNs in one call.
pub(crate) const BATCH: u32 = 50;

/// Runs the tool: all ISBNs are one request.
///
/// # Errors
///
/// Only for invalid arguments. The failure of a single identifier is part of the answer.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let mut result = Answer::default();
    let mut requested: Vec<(Id, Isbn)> = Vec::new();
    for id in lookup::ids(arguments)? {
        match Isbn::parse(&id.id) {
            Ok(isbn) if id.kind == Kind::Isbn => requested.push((id, isbn)),
            _ => {
                let error = lookup::not_resolved(&id, "an ISBN with a valid check digit");
                result.failed.push((id, error));
            }
        }
    }
    if requested.is_empty() {
        return Ok(result.to_json());
    }
    let isbns: Vec<Isbn> = requested.iter().map(|(_, isbn)| isbn.clone()).collect();
    let response = match host.fetch(request::books(&isbns)) {
        Ok(response) => response,
        Err(failure) => {
            let error = Error::from(failure);
            result.failed.extend(requested.into_iter().map(|(id, _)| (id, error.clone())));
            return Ok(result.to_json());
        }
    };
    match answer::read(SOURCE, &response, Asked::ForMatches, books::books) {
        Ok(page) => {
            for (id, isbn) in requested {
                let is_own = |text: &std::borrow::Cow<'_, str>| {
                    Isbn::parse(text).is_ok_and(|parsed| parsed == isbn)
                };
                match page.works.iter().find(|work| work.ids.isbn.iter().any(is_own)) {
                    Some(work) => result.works.push((id, work.clone())),
                    None => result.not_found.push(id),
                }
            }
        }
        Err(error) => {
            result.failed.extend(requested.into_iter().map(|(id, _)| (id, error.clone())));
        }
    }
    Ok(result.to_json())
}
