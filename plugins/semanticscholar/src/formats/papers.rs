//! The formats `paper` and `papers`: a document in, a result out. Pure.

use carrel_pdk::Error;
use carrel_pdk::json::{Writer, document};
use carrel_pdk::record::Work;
pub use carrel_pdk::record::page::OneWork;
use carrel_pdk::text::excerpt;
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::document::{self as answers, Document};
use crate::formats::next::Next;
use crate::record;

const EXPECTED: &str = "papers of Semantic Scholar";

/// A page of papers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Papers<'d> {
    /// Matches in all, which the API estimates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_results: Option<u64>,
    /// What asks for the next page: an offset, or the token of a bulk search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Next<'d>>,
    /// The papers.
    pub works: Vec<Work<'d>>,
    /// Entries that are null: papers of a batch that the API does not have.
    pub not_found: u64,
}

impl Papers<'_> {
    /// The page as JSON text; `hint` is its approximate size in bytes.
    pub fn to_json(&self, hint: usize) -> String {
        let mut json = Writer::with_capacity(hint);
        let mut page = json.object();
        if let Some(total) = self.total_results {
            page.number("total_results", total);
        }
        if let Some(next) = &self.next {
            next.write(&mut page);
        }
        page.objects("works", &self.works, |work, object| work.write(object));
        page.number("not_found", self.not_found);
        page.end();
        json.finish()
    }
}

/// The paper in a document.
///
/// # Errors
///
/// As [`papers`]; `invalid_document` for a list of papers.
pub fn paper(text: &str) -> Result<OneWork<'_>, Error> {
    match answers::read(EXPECTED, text)? {
        Document::Paper(item) => Ok(OneWork { work: record::work(*item) }),
        Document::Listing(listing) => {
            let count = listing.entries.len();
            let found = format!("a list of {count}, which the format papers reads");
            Err(document::unexpected("one paper", &found, text))
        }
    }
}

/// The papers in a document: of a search, a bulk search, a match, a batch, recommendations; one paper is a
/// list of one.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or has no papers; the API's error report, by its
/// text: `not_found`, `rate_limited`, `upstream_unavailable`, else `upstream_error`.
pub fn papers(text: &str) -> Result<Papers<'_>, Error> {
    Ok(each(text)?.0)
}

/// As [`papers`], and for each entry of the document the index of its paper among them, unless it
/// is null.
pub(crate) fn each(text: &str) -> Result<(Papers<'_>, Vec<Option<usize>>), Error> {
    let listing = match answers::read(EXPECTED, text)? {
        Document::Paper(item) => {
            let works = vec![record::work(*item)];
            return Ok((Papers { works, ..Papers::default() }, vec![Some(0)]));
        }
        Document::Listing(listing) => listing,
    };
    let mut page =
        Papers { total_results: listing.total.0, next: listing.next.0, ..Papers::default() };
    let mut indices = Vec::with_capacity(listing.entries.len());
    for entry in listing.entries {
        let Some(entry) = entry.0 else {
            page.not_found += 1;
            indices.push(None);
            continue;
        };
        if !entry.item.is_paper() || entry.item.author_id.0.is_some() {
            let name = entry.item.other_name().map(|name| format!(": {}", excerpt(name)));
            let kind =
                if entry.citing.is_some() || entry.cited.is_some() { "links" } else { "others" };
            let found = format!("a list of {kind}{}", name.unwrap_or_default());
            return Err(document::unexpected(EXPECTED, &found, text));
        }
        indices.push(Some(page.works.len()));
        page.works.push(record::work(*entry.item));
    }
    Ok((page, indices))
}
