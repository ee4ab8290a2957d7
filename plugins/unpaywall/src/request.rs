//! Arguments → requests. Pure. The host adds the operator's address, which Unpaywall requires.

use carrel_pdk::id::Doi;
use carrel_pdk::lookup::{Id, Kind, not_resolved};
use carrel_pdk::{Error, Request, percent};

const RECORDS: &str = "https://api.unpaywall.org/v2";

/// The request for the record of a work.
///
/// # Errors
///
/// `invalid_arguments` for what is no DOI.
pub fn record(id: &Id) -> Result<Request, Error> {
    match Doi::parse(&id.id) {
        Ok(doi) if id.kind == Kind::Doi => {
            Ok(Request::get(format!("{RECORDS}/{}", percent::path(&doi.folded()))))
        }
        _ => Err(not_resolved(id, "a DOI")),
    }
}
