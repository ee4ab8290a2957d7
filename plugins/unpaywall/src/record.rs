//! Item → the contract's bibliographic record: the only file that translates Unpaywall's terms to
//! Carrel's.

use carrel_pdk::id::ArxivId;
use carrel_pdk::record::fields::{address, date_or_year, doi, issn, orcid, plain, push_new, text};
use carrel_pdk::record::{Agent, Ids, OpenCopy, Text, Work, types};

use crate::formats::item::{Author, Item, Location};

/// The plugin's name, also the source name in its records.
const NAME: &str = "unpaywall";
/// The most copies that a record lists.
const MOST_COPIES: usize = 64;

/// The record of a work. What Unpaywall does not say, or writes in an invalid form, is left out.
pub(crate) fn work(item: Item<'_>) -> Work<'_> {
    let genre = item.genre.0.and_then(plain);
    let open_copies = open_copies(&item.best_location, &item.locations.0);
    let doi = item.doi.0.and_then(doi);
    let arxiv = doi.as_deref().and_then(e_print_of_doi);
    let mut issns = Vec::new();
    for list in item.journal_issns.0.iter().chain(std::iter::once(&item.journal_issn_l)) {
        for part in list.0.as_deref().unwrap_or_default().split(',') {
            push_new(&mut issns, issn(part));
        }
    }
    Work {
        ids: Ids { doi, arxiv: arxiv.map(Text::from), issn: issns, ..Ids::default() },
        // Genres were Crossref's types, and are OpenAlex's since 2025.
        kind: types::openalex(genre.as_deref().unwrap_or_default()).into(),
        source_type: genre,
        title: text(item.title),
        authors: item.authors.0.into_iter().filter_map(author).collect(),
        container_title: text(item.journal_name),
        publisher: text(item.publisher),
        issued: date_or_year(&item.published_date, item.year),
        url: item.doi_url.0.and_then(address),
        open_copies,
        is_oa: item.is_oa.0,
        oa_status: item.oa_status.0.and_then(plain),
        source: NAME.into(),
        ..Work::default()
    }
}

/// The arXiv identifier in a DOI that arXiv registered.
fn e_print_of_doi(doi: &str) -> Option<String> {
    let own = doi.get(..14).is_some_and(|start| start.eq_ignore_ascii_case("10.48550/arxiv"));
    own.then(|| ArxivId::parse(doi).ok()).flatten().map(|id| id.base().to_owned())
}

/// The best copy and the others, without duplicate URLs.
fn open_copies<'d>(best: &Location<'d>, others: &[Location<'d>]) -> Vec<OpenCopy<'d>> {
    let mut copies: Vec<OpenCopy<'d>> = Vec::new();
    for copy in std::iter::once(best).chain(others).filter_map(open_copy) {
        if copies.len() < MOST_COPIES && !copies.iter().any(|known| known.url == copy.url) {
            copies.push(copy);
        }
    }
    copies
}

/// A copy: its PDF, else its page. `url` is one of the two.
fn open_copy<'d>(location: &Location<'d>) -> Option<OpenCopy<'d>> {
    let pdf = location.url_for_pdf.0.clone().and_then(address);
    let landing_url = location.url_for_landing_page.0.clone().and_then(address);
    let (url, kind, landing_url) = match pdf {
        Some(pdf) => (pdf, "pdf", landing_url),
        None => (location.url.0.clone().and_then(address).or(landing_url)?, "html", None),
    };
    let host_type = location.host_type.0.as_deref().map(str::trim);
    Some(OpenCopy {
        url,
        kind: kind.into(),
        host_type: host_type
            .filter(|host| ["publisher", "repository"].contains(host))
            .map(|host| host.to_owned().into()),
        version: location.version.0.clone().and_then(plain),
        license: location.license.0.clone().and_then(plain),
        landing_url,
    })
}

/// An author of either format; none without a name.
fn author(author: Author<'_>) -> Option<Agent<'_>> {
    let family = text(author.family);
    let mut given = text(author.given);
    let literal = text(author.name)
        .or_else(|| text(author.raw_name))
        .filter(|_| family.is_none() && given.is_none());
    if family.is_none() && given.is_none() && literal.is_none() {
        return None;
    }
    if let Some(suffix) = text(author.suffix) {
        // Citation formats that have no member for it write it here.
        given = given.map(|name| format!("{name}, {suffix}").into());
    }
    let mut affiliations = Vec::new();
    for affiliation in author.affiliations.0 {
        push_new(&mut affiliations, text(affiliation.name));
    }
    for affiliation in author.raw_affiliations.0 {
        push_new(&mut affiliations, text(affiliation));
    }
    let orcid = author.orcid.0.as_deref().and_then(orcid);
    Some(Agent { family, given, literal, orcid, affiliations })
}
