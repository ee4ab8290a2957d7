//! Arguments → requests. Pure.
//!
//! A single work costs none of the daily budget, a list 1 credit, a search 10. So works with known
//! identifiers are requested one by one.

use carrel_pdk::id::{ArxivId, Doi, Pmcid, Pmid};
use carrel_pdk::lookup::{Id, Kind, not_resolved};
use carrel_pdk::{Error, Request, percent, roles};

use crate::formats::item::identifier;

const WORKS: &str = "https://api.openalex.org/works";

/// The members of a work in a list: those that the record uses, except references, of which there
/// can be hundreds.
const LISTED: &str = "id,doi,ids,title,display_name,publication_date,publication_year,language,type,\
primary_location,best_oa_location,locations,open_access,authorships,biblio,abstract_inverted_index,\
keywords,topics,referenced_works_count,cited_by_count,is_retracted";

/// Works of one page.
pub const MOST_WORKS: u32 = 200;

/// The request for one work.
///
/// # Errors
///
/// `invalid_arguments` for a text that is not an identifier.
pub fn work(id: &Id) -> Result<Request, Error> {
    Ok(Request::get(format!("{WORKS}/{}", name(id)?)))
}

/// The request for the OpenAlex identifier of one work.
///
/// # Errors
///
/// As [`work`].
pub fn identifier_of(id: &Id) -> Result<Request, Error> {
    Ok(Request::get(format!("{WORKS}/{}?select=id", name(id)?)))
}

/// The path segment for a work.
fn name(id: &Id) -> Result<String, Error> {
    let refused =
        || not_resolved(id, "an identifier of a work at OpenAlex, DOI, arXiv, PMID or PMCID");
    match id.kind {
        Kind::Openalex => identifier(&id.id).ok_or_else(refused),
        Kind::Doi => Doi::parse(&id.id).map(|doi| of_doi(&doi.folded())).map_err(|_| refused()),
        // arXiv registers a DOI for every e-print.
        Kind::Arxiv => ArxivId::parse(&id.id)
            .map(|id| of_doi(&format!("10.48550/arxiv.{}", id.base().to_ascii_lowercase())))
            .map_err(|_| refused()),
        Kind::Pmid => Pmid::parse(&id.id).map(|id| format!("pmid:{id}")).map_err(|_| refused()),
        Kind::Pmcid => Pmcid::parse(&id.id)
            .map(|id| format!("pmcid:PMC{}", id.number()))
            .map_err(|_| refused()),
        Kind::S2 | Kind::Isbn => Err(refused()),
    }
}

fn of_doi(doi: &str) -> String {
    format!("doi:{}", percent::path(doi))
}

/// The direction of a list of citations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Citing works.
    Citing,
    /// Cited works.
    Cited,
}

/// The request for works that a work cites or is cited by; `work` is its identifier at OpenAlex.
pub fn links(side: Side, work: &str, limit: u32, cursor: Option<&str>) -> Request {
    let filter = match side {
        Side::Citing => format!("cites:{work}"),
        Side::Cited => format!("cited_by:{work}"),
    };
    list(&[("filter", filter)], limit, cursor)
}

/// The request of the role `search`.
pub fn search(search: &roles::Search) -> Request {
    let mut filters = Vec::new();
    match (search.year_from, search.year_to) {
        (None, None) => {}
        (from, to) => {
            let year = |year: Option<i32>| year.map(|year| year.to_string()).unwrap_or_default();
            filters.push(format!("publication_year:{}-{}", year(from), year(to)));
        }
    }
    if search.open_access {
        filters.push("is_oa:true".to_owned());
    }
    let mut parameters = vec![("search", words(&search.query))];
    if !filters.is_empty() {
        parameters.push(("filter", filters.join(",")));
    }
    list(&parameters, search.limit, search.cursor.as_deref())
}

/// A query without wildcards and boolean operators of OpenAlex's search.
fn words(query: &str) -> String {
    let plain = query.replace(['*', '?', '~', '(', ')'], " ");
    let word = |word: &str| match word {
        "AND" | "OR" | "NOT" => word.to_ascii_lowercase(),
        other => other.to_owned(),
    };
    plain.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// The request for a page of a list. The first one has the cursor `*`, which makes the API name the next.
pub fn list(parameters: &[(&str, String)], limit: u32, cursor: Option<&str>) -> Request {
    let mut parameters = parameters.to_vec();
    parameters.push(("per_page", limit.clamp(1, MOST_WORKS).to_string()));
    parameters.push(("cursor", cursor.unwrap_or("*").to_owned()));
    parameters.push(("select", LISTED.to_owned()));
    let parameters: Vec<String> = parameters
        .into_iter()
        .map(|(name, value)| format!("{name}={}", percent::query(&value)))
        .collect();
    Request::get(format!("{WORKS}?{}", parameters.join("&")))
}
