//! Paper → the contract's bibliographic record: the only file that translates Semantic Scholar's
//! terms to Carrel's.

use carrel_pdk::id::{ArxivId, Pmcid, Pmid};
use carrel_pdk::json::lenient;
use carrel_pdk::record::fields::{address, date_or_year, doi, issn, orcid, plain, push_new, text};
use carrel_pdk::record::{Agent, Ids, OpenCopy, Reference, Text, Work};

use crate::formats::item::{Author, Cited, Field, Item, Journal, OpenAccess, Venue};

/// The plugin's name, also the source name in its records.
const NAME: &str = "semanticscholar";

/// The record of a paper. What Semantic Scholar does not say, or writes in an invalid form, is left
/// out.
pub(crate) fn work(item: Item<'_>) -> Work<'_> {
    let kinds: Vec<Text<'_>> =
        item.publication_types.0.into_iter().filter_map(|kind| kind.0.and_then(plain)).collect();
    let external = item.external_ids;
    let venue_kind = item.publication_venue.kind.0.as_deref();
    let is_e_print = [&item.journal.name, &item.venue, &item.publication_venue.name]
        .into_iter()
        .any(|name| name.0.as_deref().is_some_and(is_repository));
    let kind = match csl(&kinds, venue_kind, item.journal.name.0.is_some()) {
        "article-journal" | "document" if is_e_print => "article",
        kind => kind,
    };
    // For arXiv, volume and pages contain the e-print's number.
    let in_repository = item.journal.name.0.as_deref().is_some_and(is_repository);
    let copies: Vec<OpenCopy<'_>> = open_copy(&item.open_access_pdf).into_iter().collect();
    let ids = Ids {
        doi: external.doi.0.and_then(doi),
        arxiv: external.arxiv.0.as_deref().and_then(arxiv).map(Text::from),
        pmid: external.pmid.0.as_deref().and_then(pmid).map(Text::from),
        pmcid: external.pmcid.0.as_deref().and_then(pmcid).map(Text::from),
        s2: item.id.0.and_then(plain),
        issn: issns(&item.publication_venue),
        ..Ids::default()
    };
    Work {
        ids,
        kind: kind.into(),
        source_type: kinds.into_iter().next(),
        title: text(item.title),
        summary: text(item.summary),
        authors: item.authors.0.into_iter().filter_map(author).collect(),
        container_title: container(&item.journal, item.venue, item.publication_venue),
        issued: date_or_year(&item.publication_date, item.year),
        volume: text(item.journal.volume).filter(|_| !in_repository),
        pages: text(item.journal.pages).filter(|_| !in_repository),
        subjects: subjects(item.fields_of_study, item.s2_fields_of_study),
        url: item.url.0.and_then(address),
        is_oa: item.is_open_access.0,
        oa_status: item.open_access_pdf.status.0.and_then(plain).map(lower),
        open_copies: copies,
        references: item.references.0.into_iter().filter_map(reference).collect(),
        references_count: item.reference_count.0,
        cited_by_count: item.citation_count.0,
        source: NAME.into(),
        ..Work::default()
    }
}

/// The CSL type: the most specific of the paper's types, else that of its venue.
fn csl(kinds: &[Text<'_>], venue: Option<&str>, in_journal: bool) -> &'static str {
    let is = |names: &[&str]| {
        kinds.iter().any(|kind| names.iter().any(|name| kind.eq_ignore_ascii_case(name)))
    };
    if is(&["BookSection"]) {
        "chapter"
    } else if is(&["Book"]) {
        "book"
    } else if is(&["Dataset"]) {
        "dataset"
    } else if is(&["Conference"]) {
        "paper-conference"
    } else if is(&["News"]) && kinds.len() == 1 {
        "article-newspaper"
    } else if !kinds.is_empty() {
        "article-journal"
    } else {
        match venue {
            Some("conference") => "paper-conference",
            Some("journal") => "article-journal",
            _ if in_journal => "article-journal",
            _ => "document",
        }
    }
}

fn lower(text: Text<'_>) -> Text<'_> {
    text.to_lowercase().into()
}

fn arxiv(text: &str) -> Option<String> {
    ArxivId::parse(text).ok().map(|id| id.to_string())
}

fn pmid(text: &str) -> Option<String> {
    Pmid::parse(text).ok().map(|id| id.to_string())
}

/// The PMC identifier, which the API writes without its letters.
fn pmcid(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let whole = if digits { format!("PMC{text}") } else { text.to_owned() };
    Pmcid::parse(&whole).ok().map(|id| id.to_string())
}

fn issns(venue: &Venue<'_>) -> Vec<Text<'static>> {
    let mut list = Vec::new();
    for text in std::iter::once(&venue.issn).chain(&venue.alternate_issns.0) {
        push_new(&mut list, text.0.as_deref().and_then(issn));
    }
    list
}

/// Whether a venue is arXiv, which is a repository, not a container.
fn is_repository(name: &str) -> bool {
    ["arxiv", "arxiv.org"].iter().any(|known| name.trim().eq_ignore_ascii_case(known))
}

/// The journal, else the venue.
fn container<'d>(
    journal: &Journal<'d>,
    venue: lenient::Text<'d>,
    publication_venue: Venue<'d>,
) -> Option<Text<'d>> {
    [text(journal.name.clone()), text(venue), text(publication_venue.name)]
        .into_iter()
        .flatten()
        .find(|name| !is_repository(name))
}

/// An author with an undivided name: the API does not split names.
fn author(author: Author<'_>) -> Option<Agent<'_>> {
    let mut affiliations = Vec::new();
    for affiliation in author.affiliations.0 {
        push_new(&mut affiliations, text(affiliation));
    }
    Some(Agent {
        literal: Some(text(author.name)?),
        orcid: author.external_ids.orcid.0.as_deref().and_then(orcid),
        affiliations,
        ..Agent::default()
    })
}

fn subjects<'d>(
    fields: lenient::List<lenient::Text<'d>>,
    own: lenient::List<Field<'d>>,
) -> Vec<Text<'d>> {
    let mut subjects = Vec::new();
    for field in fields.0.into_iter().chain(own.0.into_iter().map(|field| field.category)) {
        push_new(&mut subjects, text(field));
    }
    subjects
}

/// The open copy. Its URL is that of a PDF, unless it is that of a DOI or a page; it is "" for a
/// closed paper.
fn open_copy<'d>(open: &OpenAccess<'d>) -> Option<OpenCopy<'d>> {
    let url = open.url.0.clone().and_then(address)?;
    let host_type = match open.status.0.as_deref().map(str::to_ascii_uppercase).as_deref() {
        Some("GREEN") => Some("repository"),
        Some("GOLD" | "HYBRID" | "BRONZE" | "DIAMOND") => Some("publisher"),
        _ => None,
    };
    let is_page = ["://doi.org/", "://dx.doi.org/", "://www.doi.org/"]
        .iter()
        .any(|resolver| url.contains(resolver));
    Some(OpenCopy {
        kind: if is_page { "html" } else { "pdf" }.into(),
        url,
        host_type: host_type.map(Text::from),
        license: open.license.0.clone().and_then(plain),
        ..OpenCopy::default()
    })
}

/// A paper in the list of references.
fn reference(cited: Cited<'_>) -> Option<Reference<'_>> {
    let author = cited.authors.0.into_iter().find_map(|author| text(author.name));
    let year = cited.year.0.filter(|year| (1..=9999).contains(year));
    let reference = Reference {
        key: cited.id.0.and_then(plain),
        doi: cited.external_ids.doi.0.and_then(doi),
        title: text(cited.title),
        author,
        year: year.map(|year| year.to_string().into()),
        container_title: text(cited.venue),
        ..Reference::default()
    };
    (reference != Reference::default()).then_some(reference)
}
