//! Item → the contract's bibliographic record: the only file that translates OpenAlex's terms to
//! Carrel's.

use carrel_pdk::id::{ArxivId, Pmcid, Pmid};
use carrel_pdk::json::lenient;
use carrel_pdk::record::fields::{
    address, date_or_year, doi, issn, orcid, plain, push_new, readable, text,
};
use carrel_pdk::record::{Agent, Funder, Ids, OpenCopy, Reference, Text, Update, Work, types};

use crate::formats::inverted_index;
use crate::formats::item::{Authorship, Biblio, Item, Location, Source, Subject, identifier};

/// The plugin's name, also the source name in its records.
const NAME: &str = "openalex";
/// The most copies that a record lists.
const MOST_COPIES: usize = 64;
/// The most funders to which awards are assigned.
const MOST_FUNDERS: usize = 256;

/// The record of a work. What OpenAlex does not say, or writes in an invalid form, is left out.
pub(crate) fn work(item: Item<'_>) -> Work<'_> {
    let kind = item.kind.0.and_then(plain);
    let summary = inverted_index::text(&item.inverted_index)
        .or_else(|| inverted_index::text(&item.newer_inverted_index))
        .map(Text::from)
        .or(item.summary.0)
        .and_then(readable);
    let copies = open_copies(&item.best_location, &item.locations.0);
    let doi = item.doi.0.and_then(doi).or_else(|| item.ids.doi.0.and_then(doi));
    let landing_pages = std::iter::once(&item.primary_location).chain(&item.locations.0);
    let arxiv = doi.as_deref().and_then(e_print_of_doi).or_else(|| {
        landing_pages.filter_map(|page| page.landing_page_url.0.as_deref()).find_map(e_print)
    });
    let openalex = [item.id.0.as_deref(), item.ids.openalex.0.as_deref()];
    let openalex = openalex.into_iter().flatten().find_map(identifier);
    let ids = Ids {
        doi,
        arxiv: arxiv.map(Text::from),
        pmid: item.ids.pmid.0.as_deref().and_then(pmid).map(Text::from),
        pmcid: item.ids.pmcid.0.as_deref().and_then(pmcid).map(Text::from),
        openalex: openalex.clone().map(Text::from),
        issn: issns(&item.primary_location.source, &item.host_venue),
        ..Ids::default()
    };
    let url = item.primary_location.landing_page_url.0.clone().and_then(address);
    let holder = Holder::of(item.primary_location, item.host_venue);
    let subjects = subjects(item.keywords, item.topics, item.concepts);
    let references = item.references.0.into_iter().filter_map(reference).collect();
    Work {
        ids,
        kind: csl(kind.as_deref(), item.crossref_kind.0.as_deref()).into(),
        source_type: kind,
        title: text(item.title).or_else(|| text(item.display_name)),
        summary,
        authors: item.authorships.0.into_iter().filter_map(author).collect(),
        container_title: holder.title,
        publisher: holder.publisher,
        issued: date_or_year(&item.publication_date, item.publication_year),
        pages: pages(&item.biblio),
        volume: text(item.biblio.volume),
        issue: text(item.biblio.issue),
        language: item.language.0.and_then(plain),
        subjects,
        url: url.or_else(|| Some(format!("https://openalex.org/{}", openalex?).into())),
        open_copies: copies,
        is_oa: item.open_access.is_oa.0,
        oa_status: item.open_access.status.0.and_then(plain),
        funding: funding(item.awards, item.grants, item.funders),
        references,
        references_count: item.references_count.0,
        cited_by_count: item.cited_by_count.0,
        updated_by: retraction(item.is_retracted.0),
        source: NAME.into(),
        ..Work::default()
    }
}

/// The CSL type. OpenAlex's `article` is also used for conference papers and preprints, which
/// Crossref's type, present in older answers, distinguishes.
fn csl(kind: Option<&str>, crossref: Option<&str>) -> &'static str {
    match (kind, crossref) {
        (Some("article") | None, Some(crossref)) => types::crossref(crossref),
        (kind, _) => types::openalex(kind.unwrap_or_default()),
    }
}

/// The arXiv identifier in a DOI that arXiv registered.
fn e_print_of_doi(doi: &str) -> Option<String> {
    let own = doi.get(..14).is_some_and(|start| start.eq_ignore_ascii_case("10.48550/arxiv"));
    own.then(|| ArxivId::parse(doi).ok()).flatten().map(|id| id.base().to_owned())
}

/// The arXiv identifier in the URL of an arXiv page, without the version.
fn e_print(address: &str) -> Option<String> {
    let rest = address.split_once("://")?.1;
    let at_arxiv = rest.starts_with("arxiv.org/abs/") || rest.starts_with("www.arxiv.org/abs/");
    at_arxiv.then(|| ArxivId::parse(address).ok()).flatten().map(|id| id.base().to_owned())
}

fn pmid(text: &str) -> Option<String> {
    Pmid::parse(text).ok().map(|id| id.to_string())
}

/// The PMC identifier from OpenAlex's URL, with or without the letters.
fn pmcid(text: &str) -> Option<String> {
    let last = text.trim().trim_end_matches('/').rsplit('/').next()?;
    let digits = last.bytes().all(|byte| byte.is_ascii_digit());
    let whole = if digits { format!("PMC{last}") } else { last.to_owned() };
    Pmcid::parse(&whole).ok().map(|id| id.to_string())
}

fn issns(source: &Source<'_>, venue: &Source<'_>) -> Vec<Text<'static>> {
    let mut list = Vec::new();
    for source in [source, venue] {
        let linking = std::iter::once(&source.issn_l);
        for text in source.issn.0.iter().chain(linking) {
            push_new(&mut list, text.0.as_deref().and_then(issn));
        }
    }
    list
}

/// The container.
#[derive(Default)]
struct Holder<'d> {
    title: Option<Text<'d>>,
    publisher: Option<Text<'d>>,
}

impl<'d> Holder<'d> {
    /// A repository is not a container. Neither is a publisher's platform, but the name that was
    /// registered with the work is the book's title.
    fn of(location: Location<'d>, venue: Source<'d>) -> Self {
        let registered = text(location.raw_source_name);
        let source = location.source;
        let venue_title = text(venue.display_name);
        let publisher = text(source.host_organization_name)
            .or_else(|| text(source.publisher))
            .or_else(|| text(venue.publisher));
        match source.kind.0.as_deref() {
            Some("repository" | "metadata") => Self::default(),
            Some("ebook platform") => Self { title: registered, publisher },
            _ => {
                Self { title: text(source.display_name).or(venue_title).or(registered), publisher }
            }
        }
    }
}

/// An author with an undivided name: OpenAlex does not split names.
fn author(authorship: Authorship<'_>) -> Option<Agent<'_>> {
    let author = authorship.author;
    let literal = text(author.display_name).or_else(|| text(authorship.raw_name))?;
    let mut affiliations = Vec::new();
    for affiliation in authorship.raw_affiliations.0 {
        push_new(&mut affiliations, text(affiliation));
    }
    if affiliations.is_empty() {
        push_new(&mut affiliations, text(authorship.raw_affiliation));
    }
    if affiliations.is_empty() {
        for institution in authorship.institutions.0 {
            push_new(&mut affiliations, text(institution.display_name));
        }
    }
    let orcid = [author.orcid.0.as_deref(), authorship.raw_orcid.0.as_deref()]
        .into_iter()
        .flatten()
        .find_map(orcid);
    Some(Agent { literal: Some(literal), orcid, affiliations, ..Agent::default() })
}

/// First and last page, or the only one.
fn pages<'d>(biblio: &Biblio<'d>) -> Option<Text<'d>> {
    let first = text(biblio.first_page.clone());
    let last = text(biblio.last_page.clone());
    match (first, last) {
        (Some(first), Some(last)) if first != last => Some(format!("{first}-{last}").into()),
        (first, last) => first.or(last),
    }
}

/// Keywords and topics; without either, concepts, which they replaced.
fn subjects<'d>(
    keywords: lenient::List<Subject<'d>>,
    topics: lenient::List<Subject<'d>>,
    concepts: lenient::List<Subject<'d>>,
) -> Vec<Text<'d>> {
    let mut subjects = Vec::new();
    let name = |subject: Subject<'d>| text(subject.display_name).or_else(|| text(subject.keyword));
    for subject in keywords.0.into_iter().chain(topics.0) {
        push_new(&mut subjects, name(subject));
    }
    if subjects.is_empty() {
        for subject in concepts.0 {
            push_new(&mut subjects, name(subject));
        }
    }
    subjects
}

/// The best open copy and the others, without duplicate URLs.
fn open_copies<'d>(best: &Location<'d>, others: &[Location<'d>]) -> Vec<OpenCopy<'d>> {
    let mut copies: Vec<OpenCopy<'d>> = Vec::new();
    let open = others.iter().filter(|location| location.is_oa.0 == Some(true));
    for copy in std::iter::once(best).chain(open).filter_map(open_copy) {
        if copies.len() < MOST_COPIES && !copies.iter().any(|known| known.url == copy.url) {
            copies.push(copy);
        }
    }
    copies
}

fn open_copy<'d>(location: &Location<'d>) -> Option<OpenCopy<'d>> {
    let pdf = location.pdf_url.0.clone().and_then(address);
    let landing_url = location.landing_page_url.0.clone().and_then(address);
    let host_type = match location.source.kind.0.as_deref() {
        Some("repository" | "metadata") => Some("repository"),
        Some(_) => Some("publisher"),
        None => None,
    };
    let (url, kind, landing_url) = match pdf {
        Some(pdf) => (pdf, "pdf", landing_url),
        None => (landing_url?, "html", None),
    };
    Some(OpenCopy {
        url,
        kind: kind.into(),
        host_type: host_type.map(Text::from),
        version: location.version.0.clone().and_then(plain),
        license: location.license.0.clone().and_then(plain),
        landing_url,
    })
}

/// Funders in the order of the work, each with its awards.
fn funding<'d>(
    awards: lenient::List<crate::formats::item::Award<'d>>,
    grants: lenient::List<crate::formats::item::Grant<'d>>,
    funders: lenient::List<crate::formats::item::Funder<'d>>,
) -> Vec<Funder<'d>> {
    let mut funding: Vec<Funder<'d>> = Vec::new();
    let named = funders.0.into_iter().map(|funder| (funder.display_name, lenient::Text(None)));
    let awards = awards.0.into_iter().map(|award| (award.funder, award.number));
    let grants = grants.0.into_iter().map(|grant| (grant.funder, grant.number));
    for (name, award) in named.chain(awards).chain(grants) {
        let Some(name) = text(name) else { continue };
        let known = funding.iter().take(MOST_FUNDERS).position(|funder| funder.name == name);
        let index = known.unwrap_or(funding.len());
        if known.is_none() {
            funding.push(Funder { name, ..Funder::default() });
        }
        if let Some(funder) = funding.get_mut(index) {
            push_new(&mut funder.awards, text(award));
        }
    }
    funding
}

/// A cited work, for which OpenAlex gives only its own identifier.
fn reference(id: lenient::Text<'_>) -> Option<Reference<'_>> {
    let key = identifier(id.0.as_deref()?)?;
    Some(Reference { key: Some(key.into()), ..Reference::default() })
}

/// Adds a retraction. OpenAlex states neither its notice nor its date.
fn retraction(is_retracted: Option<bool>) -> Vec<Update<'static>> {
    let update =
        Update { kind: "retraction".into(), source: Some(NAME.into()), ..Update::default() };
    if is_retracted == Some(true) { vec![update] } else { Vec::new() }
}
