//! The roles `references` and `citations`: lists the papers that a paper cites, or that cite it.

use carrel_pdk::answer::Asked;
use carrel_pdk::roles::{Link, Linked, Links};
use carrel_pdk::{Error, Host};

use crate::formats::links::{self, Side};
use crate::formats::next::Next;
use crate::{request, response};

/// Runs a role. The API states the count only in the paper itself, so there is no total.
///
/// # Errors
///
/// `not_found` for a paper that Semantic Scholar does not have; else the error of a request.
pub(crate) fn run(side: Side, arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let query = Links::read(arguments)?;
    let name = request::name(&query.id)?;
    let Some(request) = request::links(side, &name, query.limit, query.cursor.as_deref()) else {
        return Ok(Linked::default().to_json());
    };
    let response = response::ask(host, request)?;
    let page = response::read(&response, Asked::ForOne, |text| links::links(side, text))?;
    let next_cursor = page.next.as_ref().and_then(Next::cursor);
    let links = page.works.into_iter().map(|link| Link {
        work: link.work,
        contexts: link.contexts,
        intents: link.intents,
        influential: link.influential,
    });
    Ok(Linked { total: None, links: links.collect(), next_cursor }.to_json())
}
