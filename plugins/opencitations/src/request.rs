//! Arguments → requests.

use carrel_pdk::lookup::{Id, Kind};
use carrel_pdk::{Request, percent};

const INDEX: &str = "https://api.opencitations.net/index/v2";

/// The request for all links of a work; `None` for a kind of identifier that OpenCitations does not have.
pub(crate) fn links(operation: &str, id: &Id) -> Option<Request> {
    let kind = match id.kind {
        Kind::Doi => "doi",
        Kind::Pmid => "pmid",
        _ => return None,
    };
    Some(Request::get(format!("{INDEX}/{operation}/{kind}:{}", percent::path(&id.id))))
}
