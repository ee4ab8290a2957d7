//! The tools `works` and `work` from end to end: arguments → request → answer → result.

use carrel_pdk::args::Part;
use carrel_pdk::id::Doi;
use carrel_pdk::record::Work;
use carrel_pdk::{Code, Error, Host, discard};

use crate::formats::{document, works};
use crate::request;
use crate::response::{self, Asked};
use crate::tools::arguments::{WorkArguments, WorksArguments};

/// Runs `works`.
///
/// # Errors
///
/// Invalid arguments, Crossref's error report, or a failed request.
pub(crate) fn works(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments = WorksArguments::parse(arguments)?;
    let request = request::works(&arguments)?;
    host.progress(0, 1, "asking Crossref");
    let response = response::ask_one(host, request)?;
    let mut page = response::read(&response, Asked::ForMatches, works::works)?;
    if arguments.cursor.is_some() && page.works.is_empty() {
        // After the last page the API still returns cursors, for empty pages.
        page.next_cursor = None;
    }
    if !arguments.select.iter().any(|name| name == "reference") {
        // A work can have hundreds, which a list does not need; `work` returns them.
        page.works.iter_mut().for_each(|work| work.references = Vec::new());
    }
    page.works.iter_mut().for_each(|work| omit(work, &arguments.omit));
    host.progress(1, 1, "done");
    Ok(page.to_json(0))
}

/// Runs `work`.
///
/// # Errors
///
/// As [`works`]; `not_found` names the agency that registered the DOI, if Crossref knows it.
pub(crate) fn work(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let (doi, parts) = WorkArguments::parse(arguments)?;
    host.progress(0, 1, "asking Crossref");
    let response = response::ask_one(host, request::work(&doi))?;
    let mut work = response::read(&response, Asked::ForWork, works::work)
        .map_err(|error| explained(error, &doi, host))?;
    omit(&mut work.work, &parts);
    host.progress(1, 1, "done");
    Ok(work.to_json(response.body.len()))
}

/// A `not_found` that names the registration agency, if Crossref knows it: most DOIs that Crossref
/// does not have were registered elsewhere.
pub(crate) fn explained(error: Error, doi: &Doi, host: &dyn Host) -> Error {
    if error.code != Code::NotFound {
        return error;
    }
    let elsewhere = host
        .fetch(request::agency(doi))
        .ok()
        .filter(carrel_pdk::Response::is_success)
        .and_then(|response| {
            let agency = document::agency(&response.body);
            agency.inspect_err(|_| discard(host, &request::agency(doi))).ok().flatten()
        })
        .map(|agency| format!("; it is registered with {agency}, not with Crossref"))
        .unwrap_or_default();
    Error::new(Code::NotFound, format!("Crossref has no work with the DOI {doi}{elsewhere}"))
}

/// Removes the parts that the caller leaves out.
fn omit(work: &mut Work<'_>, parts: &[Part]) {
    if parts.contains(&Part::Abstracts) {
        work.summary = None;
    }
    if parts.contains(&Part::Affiliations) {
        let agents = work.authors.iter_mut().chain(&mut work.editors);
        agents.for_each(|agent| agent.affiliations.clear());
    }
}
