//! The roles `references` and `citations`: lists the works that a work cites, or that cite it.

use carrel_pdk::lookup::Kind;
use carrel_pdk::roles::{Link, Linked, Links};
use carrel_pdk::{Code, Error, Host};

use crate::formats::item::identifier;
use crate::request::{self, Side};
use crate::response;

/// Runs a role. For a work without an OpenAlex identifier, that is requested first, which costs
/// none of the budget.
///
/// # Errors
///
/// `not_found` for a work that OpenAlex does not have; else the error of a request.
pub(crate) fn run(side: Side, arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let query = Links::read(arguments)?;
    let work = match identifier(&query.id.id).filter(|_| query.id.kind == Kind::Openalex) {
        Some(work) => work,
        None => {
            let request = request::identifier_of(&query.id)?;
            let response = response::ask(host, request.clone())?;
            let work = response::work(host, &request, &response)?;
            let own = work.ids.openalex.as_deref().and_then(identifier);
            own.ok_or_else(|| {
                Error::new(Code::UpstreamInvalid, "the answer of OpenAlex names no work")
            })?
        }
    };
    let response =
        response::ask(host, request::links(side, &work, query.limit, query.cursor.as_deref()))?;
    let page = response::page(host, &response)?;
    let next_cursor = page.next_cursor.filter(|_| !page.works.is_empty());
    let links = page.works.into_iter().map(|work| Link { work, ..Link::default() }).collect();
    Ok(Linked { total: page.total_results, links, next_cursor }.to_json())
}
