//! The reserved tools `lookup` and `role:open_copies`: identifiers in, records out.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::lookup::{self, Answer, Id, Kind};
use carrel_pdk::record::Work;
use carrel_pdk::{Code, Error, Host};

use crate::SOURCE;
use crate::formats::works;
use crate::request;

/// The most identifiers in one call.
pub(crate) const BATCH: u32 = 20;

/// Runs the tool: all identifiers are one search.
///
/// # Errors
///
/// Only for invalid arguments. The failure of a single identifier is part of the answer.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let mut result = Answer::default();
    let mut requested = Vec::new();
    for id in lookup::ids(arguments)? {
        if request::term(&id).is_some() {
            requested.push(id);
        } else {
            let message = "expected an identifier of type doi, pmid or pmcid";
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
    match answer::read(SOURCE, &response, Asked::ForMatches, works::search) {
        Ok(page) => {
            for id in requested {
                match page.works.iter().find(|work| is_of(work, &id)) {
                    Some(work) => result.works.push((id, work.clone())),
                    None => result.not_found.push(id),
                }
            }
        }
        Err(error) => result.failed.extend(requested.into_iter().map(|id| (id, error.clone()))),
    }
    Ok(result.to_json())
}

/// The record of one identifier.
///
/// # Errors
///
/// `not_found` when Europe PMC does not have it; else the search's error.
pub(crate) fn work(id: &Id, host: &dyn Host) -> Result<Work<'static>, Error> {
    if request::term(id).is_none() {
        let message = "expected an identifier of type doi, pmid or pmcid";
        return Err(Error::new(Code::InvalidArguments, message));
    }
    let response = host.fetch(request::lookup(std::slice::from_ref(id)))?;
    let page = answer::read(SOURCE, &response, Asked::ForMatches, works::search)?;
    let found = page.works.into_iter().find(|work| is_of(work, id));
    let nothing = || Error::new(Code::NotFound, format!("Europe PMC has no article {}", id.id));
    found.map(owned).ok_or_else(nothing)
}

/// Whether a record is that of an identifier.
fn is_of(work: &Work<'_>, id: &Id) -> bool {
    let own = match id.kind {
        Kind::Doi => &work.ids.doi,
        Kind::Pmid => &work.ids.pmid,
        _ => &work.ids.pmcid,
    };
    own.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(&id.id))
}

/// The parts of a record that later requests need, owned.
fn owned(work: Work<'_>) -> Work<'static> {
    let own =
        |text: Option<carrel_pdk::record::Text<'_>>| text.map(|text| text.into_owned().into());
    let copies = work.open_copies.into_iter().map(|copy| carrel_pdk::record::OpenCopy {
        url: copy.url.into_owned().into(),
        kind: copy.kind.into_owned().into(),
        host_type: own(copy.host_type),
        version: own(copy.version),
        license: own(copy.license),
        landing_url: own(copy.landing_url),
    });
    Work { url: own(work.url), open_copies: copies.collect(), ..Work::default() }
}
