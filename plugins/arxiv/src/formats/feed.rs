//! A feed of the query API → entries. Pure: a document in, entries or a positioned error out.
//!
//! Elements of Atom, of `arxiv:` (`http://arxiv.org/schemas/atom`) and of OpenSearch:
//!
//! ```text
//! feed
//!   opensearch:totalResults, opensearch:startIndex, opensearch:itemsPerPage
//!   entry…
//!     id                 http(s)://arxiv.org/abs/2301.00001v1
//!     title, summary, published, updated
//!     author…            name, arxiv:affiliation…
//!     category… @term, arxiv:primary_category @term
//!     arxiv:comment, arxiv:journal_ref, arxiv:doi…
//!     link…              @rel="alternate" | @title="pdf" | @title="doi", @href
//! ```
//!
//! An error report is a feed of one entry whose id is `http(s)://arxiv.org/api/errors#KIND` and whose
//! summary is the message.
//!
//! Two generations of feeds exist. Until late 2025 the namespaces were declared again on every
//! element, links were `http` and texts kept the line breaks of the submission form; since then the
//! root declares everything, links are `https` and the elements are in another order. The parser
//! depends on neither order nor prefixes nor generation, and every part of an entry may be missing:
//! for a version that does not exist, arXiv used to send an entry with only id, links and category.

use std::borrow::Cow;

use carrel_pdk::id::Doi as Id;
use carrel_pdk::text::excerpt;
use carrel_pdk::url;
use carrel_pdk::xml::XmlReader;
use carrel_pdk::{Code, Error};

use crate::formats::{
    entry::{Author, Doi, Entry, Page},
    links::DoiLinks,
};

const KNOWN: &[&str] = &[
    "http://www.w3.org/2005/Atom",
    "http://arxiv.org/schemas/atom",
    "http://a9.com/-/spec/opensearch/1.1/",
];
const ATOM: Option<usize> = Some(0);
const ARXIV: Option<usize> = Some(1);
const OPENSEARCH: Option<usize> = Some(2);

/// Reads a feed.
///
/// # Errors
///
/// `invalid_document` with a position when it is not a well-formed Atom feed; `upstream_error` when
/// it is arXiv's error report, a feed with one entry titled "Error".
pub fn parse(document: &str) -> Result<Page<'_>, Error> {
    let mut xml = XmlReader::new(document, KNOWN);
    let root = xml.root("an Atom feed")?;
    if (root.namespace, root.local) != (ATOM, "feed") {
        let message = match root.local {
            "feed" => "expected an Atom feed but found <feed> outside Atom's namespace".to_owned(),
            _ => format!("expected an Atom feed but found <{}>", excerpt(root.local)),
        };
        return Err(xml.error_at(root.offset, message));
    }
    let mut page = Page::default();
    while let Some(element) = xml.child()? {
        match (element.namespace, element.local) {
            (ATOM, "entry") => {
                let (id, mut entry) = entry(&mut xml)?;
                if let Some(error) = reported_error(id.as_deref(), &entry) {
                    return Err(error);
                }
                entry.id = id.map(without_address);
                page.entries.push(entry);
            }
            (OPENSEARCH, "totalResults") => page.total_results = number(&mut xml)?,
            (OPENSEARCH, "startIndex") => page.start_index = number(&mut xml)?,
            (OPENSEARCH, "itemsPerPage") => page.items_per_page = number(&mut xml)?,
            _ => xml.skip()?,
        }
    }
    xml.finish()?;
    Ok(page)
}

fn number(xml: &mut XmlReader<'_>) -> Result<Option<u64>, Error> {
    let offset = xml.offset();
    let Some(text) = xml.text()? else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        xml.error_at(offset, format!("expected a number but found {:?}", excerpt(&text)))
    })
}

/// Reads the open element's text into a field that occurs once; the first occurrence counts.
fn once<'d>(field: &mut Option<Cow<'d, str>>, text: Option<Cow<'d, str>>) {
    if field.is_none() {
        *field = text;
    }
}

/// Reads the open entry: its `<id>` unchanged, and everything else.
fn entry<'d>(xml: &mut XmlReader<'d>) -> Result<(Option<Cow<'d, str>>, Entry<'d>), Error> {
    let mut id = None;
    let mut entry = Entry::default();
    let mut has_abstract_link = false;
    let mut doi_links = DoiLinks::default();
    while let Some(element) = xml.child()? {
        match (element.namespace, element.local) {
            (ATOM, "id") => once(&mut id, xml.text()?),
            (ATOM, "title") => once(&mut entry.title, xml.text()?),
            (ATOM, "summary") => once(&mut entry.summary, xml.text()?),
            (ATOM, "published") => once(&mut entry.published, xml.text()?),
            (ATOM, "updated") => once(&mut entry.updated, xml.text()?),
            (ATOM, "author") => entry.authors.extend(author(xml)?),
            (ATOM, "category") => {
                entry.categories.extend(xml.attribute("term"));
                xml.skip()?;
            }
            (ATOM, "link") => {
                let href = xml.attribute("href").and_then(valid);
                match xml.attribute("title").as_deref() {
                    Some("pdf") => once(&mut entry.pdf_url, href),
                    Some("doi") => doi_links.extend(href),
                    _ if xml.attribute("rel").as_deref() == Some("alternate") => {
                        has_abstract_link = true;
                        once(&mut entry.abstract_url, href);
                    }
                    _ => {}
                }
                xml.skip()?;
            }
            (ARXIV, "primary_category") => {
                once(&mut entry.primary_category, xml.attribute("term"));
                xml.skip()?;
            }
            (ARXIV, "comment") => once(&mut entry.comment, xml.text()?),
            (ARXIV, "journal_ref") => once(&mut entry.journal_ref, xml.text()?),
            (ARXIV, "doi") => entry.dois.extend(xml.text()?.map(dois).unwrap_or_default()),
            _ => xml.skip()?,
        }
    }
    doi_links.pair(&mut entry.dois);
    if !has_abstract_link {
        // The id is the URL of the abstract page.
        entry.abstract_url = id.clone().filter(|id| id.contains("/abs/")).and_then(valid);
    }
    Ok((id, entry))
}

/// The DOIs in one element: usually one, in older records several with spaces between them.
fn dois(text: Cow<'_, str>) -> Vec<Doi<'_>> {
    let several = text.contains(' ') && text.split(' ').all(|doi| Id::parse(doi).is_ok());
    if !several {
        return vec![Doi { doi: text, url: None }];
    }
    let owned = |doi: &str| Doi { doi: Cow::Owned(doi.to_owned()), url: None };
    text.split(' ').map(owned).collect()
}

/// The open author; `None` when no name is given.
fn author<'d>(xml: &mut XmlReader<'d>) -> Result<Option<Author<'d>>, Error> {
    let mut name = None;
    let mut affiliations = Vec::new();
    while let Some(element) = xml.child()? {
        match (element.namespace, element.local) {
            (ATOM, "name") => once(&mut name, xml.text()?),
            (ARXIV, "affiliation") => affiliations.extend(xml.text()?),
            _ => xml.skip()?,
        }
    }
    Ok(name.map(|name| Author { name, affiliations }))
}

/// The URL when it is well formed.
fn valid(url: Cow<'_, str>) -> Option<Cow<'_, str>> {
    match url {
        Cow::Borrowed(url) => url::well_formed(url),
        Cow::Owned(url) => url::well_formed(&url).map(|url| Cow::Owned(url.into_owned())),
    }
}

/// The identifier in an entry's id, which is the address of its abstract page. The prefix is
/// removed; the URL is not split at its last slash, because old identifiers contain a slash.
fn without_address(id: Cow<'_, str>) -> Cow<'_, str> {
    const ADDRESSES: [&str; 4] = [
        "http://arxiv.org/abs/",
        "https://arxiv.org/abs/",
        "http://export.arxiv.org/abs/",
        "https://export.arxiv.org/abs/",
    ];
    let length = ADDRESSES.iter().find(|address| id.starts_with(**address)).map_or(0, |a| a.len());
    match id {
        Cow::Borrowed(id) => {
            let rest = id[length..].trim_start();
            Cow::Borrowed(if rest.is_empty() { id } else { rest })
        }
        Cow::Owned(id) => {
            let rest = id[length..].trim_start();
            if rest.is_empty() { Cow::Owned(id) } else { Cow::Owned(rest.to_owned()) }
        }
    }
}

/// Returns arXiv's error report, if the entry is one. Its id points into the page that explains
/// errors; the fragment names the kind: `…/api/errors#incorrect_id_format_for_abc`.
fn reported_error(id: Option<&str>, entry: &Entry<'_>) -> Option<Error> {
    let id = id?;
    let path = url::after_host(id)?;
    let (page, fragment) = path.split_once('#').unwrap_or((path, ""));
    if page.trim_end_matches('/') != "/api/errors" {
        return None;
    }
    let words = entry.summary.as_deref().or(entry.title.as_deref()).unwrap_or("no details");
    let message = if fragment.is_empty() {
        format!("arXiv reports: {words}")
    } else {
        format!("arXiv reports: {words} ({fragment})")
    };
    Some(Error::new(Code::UpstreamError, message))
}
