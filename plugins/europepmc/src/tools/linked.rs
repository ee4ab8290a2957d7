//! The reserved tools `role:references` and `role:citations`.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::lookup::Kind;
use carrel_pdk::record::page::Page;
use carrel_pdk::roles::{Link, Linked, Links};
use carrel_pdk::{Code, Error, Host, percent};

use super::lookup;
use crate::SOURCE;
use crate::formats::works;
use crate::request;

/// The most works that one call returns.
pub(crate) const MAX: u32 = 100;

/// A direction: the path's last segment and the reader of its answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Direction {
    list: &'static str,
    read: fn(&str) -> Result<Page<'_>, Error>,
}

/// What an article cites.
pub(crate) const REFERENCES: Direction = Direction { list: "references", read: works::references };
/// What cites an article.
pub(crate) const CITATIONS: Direction = Direction { list: "citations", read: works::citations };

/// Runs the tool. An article is addressed by its collection and its identifier in it: a PMID gives
/// both, any other identifier is looked up first.
///
/// # Errors
///
/// `not_found` when Europe PMC does not have the article; else the request's error.
pub(crate) fn run(direction: Direction, arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let query = Links::read(arguments)?;
    let (page, size) = match &query.cursor {
        Some(cursor) => page_and_size(cursor)?,
        None => (1, query.limit.clamp(1, MAX)),
    };
    let (source, id) = if query.id.kind == Kind::Pmid {
        ("MED".to_owned(), query.id.id.clone())
    } else {
        let work = lookup::work(&query.id, host)?;
        let identity = work.url.as_deref().and_then(collection);
        identity.ok_or_else(|| {
            Error::new(Code::UpstreamInvalid, "Europe PMC's record has no identity")
        })?
    };
    let request = request::linked(&source, &id, direction.list, page, size);
    let response = host.fetch(request)?;
    let found = answer::read(SOURCE, &response, Asked::ForOne, direction.read)?;
    let is_more =
        found.total_results.is_some_and(|total| total > u64::from(page) * u64::from(size));
    let next_cursor =
        (is_more && !found.works.is_empty()).then(|| format!("{}-{size}", page + 1).into());
    let links = found.works.into_iter().map(|work| Link { work, ..Link::default() }).collect();
    Ok(Linked { total: found.total_results, links, next_cursor }.to_json())
}

/// Page and size of a cursor: `2-100`.
fn page_and_size(cursor: &str) -> Result<(u32, u32), Error> {
    let parsed = cursor.split_once('-').and_then(|(page, size)| {
        let (page, size) = (page.parse().ok()?, size.parse().ok()?);
        ((1..=1_000_000).contains(&page) && (1..=MAX).contains(&size)).then_some((page, size))
    });
    parsed.ok_or_else(|| {
        let found = carrel_pdk::text::excerpt(cursor);
        let message = format!("cursor: expected the next_cursor of an answer but found {found:?}");
        Error::new(Code::InvalidArguments, message)
    })
}

/// Collection and identifier in the address of an article.
fn collection(url: &str) -> Option<(String, String)> {
    let (_, path) = url.split_once("/article/")?;
    let (source, id) = path.split_once('/')?;
    Some((percent::decode(source).into_owned(), percent::decode(id).into_owned()))
}
