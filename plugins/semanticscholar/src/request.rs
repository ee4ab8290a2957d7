//! Arguments → requests. Pure.

use carrel_pdk::id::{ArxivId, Doi, Pmcid, Pmid};
use carrel_pdk::lookup::{Id, Kind, not_resolved};
use carrel_pdk::{Error, Request, percent, roles};

use crate::formats::links::Side;

const PAPER: &str = "https://api.semanticscholar.org/graph/v1/paper";

/// The fields of a paper that the record uses, except references, which need another request.
const FIELDS: &str = "paperId,externalIds,url,title,abstract,authors,venue,publicationVenue,year,\
referenceCount,citationCount,isOpenAccess,openAccessPdf,fieldsOfStudy,s2FieldsOfStudy,publicationTypes,\
publicationDate,journal";
/// The fields of a link, with its paper without the longest fields.
const LINK_FIELDS: &str = "contexts,intents,isInfluential,paperId,externalIds,url,title,authors,venue,year,\
referenceCount,citationCount,isOpenAccess,openAccessPdf,publicationTypes,publicationDate,journal";

/// Papers of one page of a search.
pub const MOST_MATCHES: u32 = 100;
/// The largest offset of a search.
const LAST_MATCH: u32 = 1000;
/// Papers of one page of links.
pub const MOST_LINKS: u32 = 500;
/// The largest offset of a list of links.
const LAST_LINK: u32 = 9999;

/// The API's name for a paper.
///
/// # Errors
///
/// `invalid_arguments` for a text that is not an identifier.
pub fn name(id: &Id) -> Result<String, Error> {
    let refused =
        || not_resolved(id, "a DOI, arXiv, PMID or PMCID, or an identifier of Semantic Scholar");
    match id.kind {
        Kind::S2 => {
            let right = id.id.len() == 40 && id.id.bytes().all(|byte| byte.is_ascii_hexdigit());
            right.then(|| id.id.to_ascii_lowercase()).ok_or_else(refused)
        }
        Kind::Doi => Doi::parse(&id.id).map(|doi| format!("DOI:{doi}")).map_err(|_| refused()),
        Kind::Arxiv => {
            ArxivId::parse(&id.id).map(|id| format!("ARXIV:{}", id.base())).map_err(|_| refused())
        }
        Kind::Pmid => Pmid::parse(&id.id).map(|id| format!("PMID:{id}")).map_err(|_| refused()),
        Kind::Pmcid => {
            Pmcid::parse(&id.id).map(|id| format!("PMCID:{}", id.number())).map_err(|_| refused())
        }
        Kind::Openalex | Kind::Isbn => Err(refused()),
    }
}

/// The request for one paper, by its [`name`].
pub fn paper(name: &str) -> Request {
    Request::get(format!("{PAPER}/{}?fields={FIELDS}", percent::path(name)))
}

/// The request for several papers, by their names; the answer has them in this order.
pub fn batch(names: &[String]) -> Request {
    let body = serde_json::json!({"ids": names}).to_string();
    Request::post(format!("{PAPER}/batch?fields={FIELDS}"), "application/json", body)
}

/// The request of the role `search`; `None` after the last page that the API returns.
pub fn search(search: &roles::Search) -> Option<Request> {
    let (offset, limit) =
        part(search.cursor.as_deref(), search.limit.min(MOST_MATCHES), LAST_MATCH)?;
    // A word with a hyphen matches nothing.
    let words = search.query.replace('-', " ");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut url = format!(
        "{PAPER}/search?query={}&fields={FIELDS}&offset={offset}&limit={limit}",
        percent::query(&words)
    );
    if search.year_from.is_some() || search.year_to.is_some() {
        let year = |year: Option<i32>| year.map(|year| year.to_string()).unwrap_or_default();
        url.push_str(&format!("&year={}-{}", year(search.year_from), year(search.year_to)));
    }
    if search.open_access {
        // A parameter without a value.
        url.push_str("&openAccessPdf=");
    }
    Some(Request::get(url))
}

/// The request for papers that a paper cites or that cite it, by its [`name`]; `None` after the
/// last page that the API returns.
pub fn links(side: Side, name: &str, limit: u32, cursor: Option<&str>) -> Option<Request> {
    let (offset, limit) = part(cursor, limit.min(MOST_LINKS), LAST_LINK)?;
    let list = match side {
        Side::Citing => "citations",
        Side::Cited => "references",
    };
    Some(Request::get(format!(
        "{PAPER}/{}/{list}?fields={LINK_FIELDS}&offset={offset}&limit={limit}",
        percent::path(name)
    )))
}

/// Offset and limit of a page within the API's limits. A cursor is an offset.
fn part(cursor: Option<&str>, limit: u32, last: u32) -> Option<(u32, u32)> {
    let offset = match cursor {
        None => 0,
        Some(cursor) => cursor.parse().ok().filter(|offset| *offset < last)?,
    };
    Some((offset, limit.clamp(1, last - offset)))
}
