//! The reserved tools `role:citations` and `role:references`.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::record::{Ids, Work};
use carrel_pdk::roles::{Linked, Links};
use carrel_pdk::{Code, Error, Host, roles};

use crate::SOURCE;
use crate::formats::{ids, links};
use crate::request;

/// The most works that one call returns.
pub(crate) const MAX: u32 = 1000;

/// The direction of the links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// The citing works.
    Citations,
    /// The cited works.
    References,
}

impl Direction {
    fn operation(self) -> &'static str {
        match self {
            Self::Citations => "citations",
            Self::References => "references",
        }
    }

    /// The work at the other end of a link. The date is known only for a citing work.
    fn linked_work(self, link: links::Link) -> Work<'static> {
        let (name, all, issued) = match self {
            Self::Citations => (link.citing, link.citing_ids, link.date),
            Self::References => (link.cited, link.cited_ids, None),
        };
        let all = all.unwrap_or_else(|| ids::Ids { doi: Some(name), ..ids::Ids::default() });
        let text = |id: Option<String>| id.map(Into::into);
        Work {
            ids: Ids {
                doi: text(all.doi),
                pmid: text(all.pmid),
                pmcid: text(all.pmcid),
                openalex: text(all.openalex),
                ..Ids::default()
            },
            // OpenCitations' index does not state the type of a work.
            kind: "document".into(),
            issued: text(issued),
            source: "opencitations".into(),
            ..Work::default()
        }
    }
}

/// Runs the tool. OpenCitations returns all links at once; the cursor is the number of links before
/// the next page. Links to works that have only OpenCitations' identifier are left out.
///
/// # Errors
///
/// `invalid_arguments` for a kind of identifier that OpenCitations does not have or an invalid
/// cursor; else the request's error.
pub(crate) fn run(direction: Direction, arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let query = Links::read(arguments)?;
    let invalid = |message: String| Error::new(Code::InvalidArguments, message);
    let start = match &query.cursor {
        None => 0,
        Some(cursor) => cursor.parse::<usize>().map_err(|_| {
            let found = carrel_pdk::text::excerpt(cursor);
            invalid(format!("cursor: expected the next_cursor of an answer but found {found:?}"))
        })?,
    };
    let request = request::links(direction.operation(), &query.id)
        .ok_or_else(|| invalid("expected an identifier of type doi or pmid".to_owned()))?;
    let response = host.fetch(request)?;
    let found = answer::read(SOURCE, &response, Asked::ForOne, links::links)?;
    let works = found.links.into_iter().map(|link| direction.linked_work(link));
    let works: Vec<Work<'_>> = works.filter(|work| work.ids != Ids::default()).collect();
    let total = works.len();
    let size = usize::try_from(query.limit.clamp(1, MAX)).unwrap_or(1);
    let end = start.saturating_add(size).min(total);
    let part = works.into_iter().skip(start).take(size);
    let links = part.map(|work| roles::Link { work, ..roles::Link::default() }).collect();
    let next_cursor = (end < total).then(|| end.to_string().into());
    Ok(Linked { total: u64::try_from(total).ok(), links, next_cursor }.to_json())
}
