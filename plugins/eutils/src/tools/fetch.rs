//! The tool `fetch`: articles by PMID, at four levels of detail.

use carrel_pdk::args::Part;
use carrel_pdk::{Error, Host};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pmid::{IdText, pmid};
use super::{counted, unique};
use crate::formats::{article::Article, efetch, medline};
use crate::request::Query;
use crate::response;

/// The most PMIDs in one call.
const MOST: usize = 200;

/// Which articles, and how much of them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FetchArguments {
    /// Such as 31452104.
    #[schemars(length(min = 1, max = 200))]
    pub pmids: Vec<IdText>,
    /// Abstract and metadata, the record as XML or MEDLINE text, or what a citation needs.
    #[serde(default)]
    pub detail_level: DetailLevel,
    // Whether to add MeSH terms.
    #[serde(default = "yes")]
    pub include_mesh_terms: bool,
    // Whether to add grants.
    #[serde(default)]
    pub include_grant_info: bool,
    // Parts to leave out. This is no doc comment: in the schema, the name and its values suffice.
    #[serde(default)]
    pub omit: Vec<Part>,
}

/// How much of an article.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[allow(missing_docs, reason = "described one by one they would make no plain enum")]
pub(crate) enum DetailLevel {
    #[default]
    AbstractPlus,
    FullXml,
    MedlineText,
    CitationData,
}

/// The articles.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct FetchResult<'d> {
    /// The PMIDs that were asked for, as digits.
    pub requested_pmids: Vec<String>,
    /// As given.
    pub detail_level: DetailLevel,
    /// The articles, for abstract_plus and citation_data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub articles: Option<Vec<Article<'d>>>,
    /// The records as NCBI writes them, for full_xml and medline_text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<Vec<Document<'d>>>,
    /// PMIDs that PubMed does not have.
    pub not_found_pmids: Vec<String>,
    /// How NCBI was asked.
    pub e_fetch_details: Details,
}

/// A record as NCBI writes it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Document<'d> {
    /// PubMed identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<String>,
    /// application/xml or text/plain.
    pub media_type: &'static str,
    /// The record.
    pub text: &'d str,
}

/// How NCBI was asked.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Details {
    /// The requests, without key and address; of a POST without its body.
    pub urls: Vec<String>,
    /// GET or POST.
    pub request_method: &'static str,
}

fn yes() -> bool {
    true
}

/// Runs the tool.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments: FetchArguments = carrel_pdk::arguments(arguments)?;
    counted("pmids", arguments.pmids.len(), MOST)?;
    let mut pmids = Vec::with_capacity(arguments.pmids.len());
    for (at, id) in arguments.pmids.iter().enumerate() {
        pmids.push(pmid(&format!("pmids[{at}]"), id)?);
    }
    let as_text = arguments.detail_level == DetailLevel::MedlineText;
    let query = Query::new("efetch")
        .with("db", "pubmed")
        .with("retmode", if as_text { "text" } else { "xml" })
        .maybe("rettype", as_text.then_some("medline"))
        .ids(&unique(&pmids));
    response::ask(host, &query, |body| {
        let (articles, documents) = match arguments.detail_level {
            DetailLevel::MedlineText => (None, Some(medline_documents(body)?)),
            DetailLevel::FullXml => (None, Some(xml_documents(body)?)),
            DetailLevel::AbstractPlus | DetailLevel::CitationData => {
                let found = efetch::parse(body)?.articles;
                let cut = |article| reduced(article, &arguments);
                (Some(found.into_iter().map(cut).collect::<Vec<_>>()), None)
            }
        };
        let parsed = articles.iter().flatten().filter_map(|article| article.pmid.as_deref());
        let raw = documents.iter().flatten().filter_map(|document| document.pmid.as_deref());
        let have: std::collections::HashSet<&str> = parsed.chain(raw).collect();
        let not_found_pmids = unique(&pmids)
            .into_iter()
            .filter(|pmid| !have.contains(pmid.trim_start_matches('0')))
            .map(str::to_owned)
            .collect();
        Ok(crate::to_json(&FetchResult {
            requested_pmids: pmids.clone(),
            detail_level: arguments.detail_level,
            articles,
            documents,
            not_found_pmids,
            e_fetch_details: Details { urls: vec![query.url()], request_method: query.method() },
        }))
    })
}

fn xml_documents(body: &str) -> Result<Vec<Document<'_>>, Error> {
    let (found, sources) = efetch::read(body)?;
    let pmids = found.articles.into_iter().map(|article| article.pmid.map(|id| id.into_owned()));
    let document = |(pmid, text)| Document { pmid, media_type: "application/xml", text };
    Ok(pmids.zip(sources).map(document).collect())
}

fn medline_documents(body: &str) -> Result<Vec<Document<'_>>, Error> {
    if let Some(error) = crate::formats::report::text(body) {
        return Err(error);
    }
    let records = match medline::parse(body) {
        Ok(found) => found.records,
        // The text format's message that none of the records exists.
        Err(_) if body.contains("not available") || body.contains("id: ") => Vec::new(),
        Err(error) => return Err(error),
    };
    Ok(records
        .into_iter()
        .filter_map(|record| {
            let pmid = Some(record.pmid?.into_owned());
            Some(Document { pmid, media_type: "text/plain", text: record.text })
        })
        .collect())
}

/// Removes the members that the level leaves out. `full_xml` returns the whole record.
fn reduced<'d>(article: Article<'d>, arguments: &FetchArguments) -> Article<'d> {
    let whole = arguments.detail_level == DetailLevel::AbstractPlus;
    let with_abstract = whole && !arguments.omit.contains(&Part::Abstracts);
    let with_grants = whole && arguments.include_grant_info;
    let mut reduced = Article {
        pmid: article.pmid,
        is_retracted: article.is_retracted,
        is_of_concern: article.is_of_concern,
        title: article.title,
        vernacular_title: article.vernacular_title,
        abstract_text: article.abstract_text.filter(|_| with_abstract),
        authors: article.authors,
        authors_complete: article.authors_complete,
        journal_info: article.journal_info,
        book_info: article.book_info,
        issued: article.issued,
        electronic_date: article.electronic_date,
        publication_types: article.publication_types,
        keywords: if whole { article.keywords } else { Vec::new() },
        mesh_terms: if arguments.include_mesh_terms { article.mesh_terms } else { Vec::new() },
        grant_list: if with_grants { article.grant_list } else { Vec::new() },
        doi: article.doi,
        pmcid: article.pmcid,
        languages: article.languages,
        comments_corrections: article.comments_corrections,
        ..Article::default()
    };
    // Cited works, which older records list as corrections.
    reduced.comments_corrections.retain(|entry| entry.ref_type.as_deref() != Some("Cites"));
    let without_affiliations = arguments.omit.contains(&Part::Affiliations);
    if !whole || without_affiliations {
        reduced.authors.iter_mut().for_each(|author| author.affiliations.clear());
    }
    if let Some(book) = &mut reduced.book_info {
        book.sections.clear();
        if without_affiliations {
            let people = book.authors.iter_mut().chain(&mut book.editors);
            people.for_each(|person| person.affiliations.clear());
        }
    }
    reduced
}
