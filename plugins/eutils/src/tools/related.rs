//! The tool `related`: articles like one, citing one or cited by one, or the citation of one.

use carrel_pdk::{Code, Error, Host, args};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pmid::{IdText, pmid};
use super::ranged;
use super::summaries::{self, Brief};
use crate::cite;
use crate::formats::{
    efetch, elink, report,
    updates::{UpdateFlags, Updates},
};
use crate::request::Query;
use crate::response;

/// Which article, and what of it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RelatedArguments {
    /// PMID, such as 31452104.
    pub source_pmid: IdText,
    /// Similar, citing or cited articles, or its citation.
    #[serde(default)]
    pub relationship_type: Relationship,
    /// Articles to return at most.
    #[serde(default = "five", deserialize_with = "args::whole_number")]
    #[schemars(range(min = 1, max = 50))]
    pub max_related_results: u32,
    /// For citation_formats.
    #[serde(default = "ris")]
    #[schemars(length(max = 4))]
    pub citation_styles: Vec<Style>,
    /// Title and authors of each article.
    #[serde(default = "yes")]
    pub include_summaries: bool,
    /// Scores of similarity.
    #[serde(default)]
    pub include_scores: bool,
}

/// What of an article.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[allow(missing_docs, reason = "described one by one they would make no plain enum")]
pub(crate) enum Relationship {
    #[default]
    PubmedSimilarArticles,
    PubmedCitedin,
    PubmedReferences,
    CitationFormats,
}

/// A form of a citation.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[allow(missing_docs, reason = "described one by one they would make no plain enum")]
pub(crate) enum Style {
    Ris,
    Bibtex,
    ApaString,
    MlaString,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct RelatedResult {
    /// The PMID that was asked about, as digits.
    pub source_pmid: String,
    /// As given.
    pub relationship_type: Relationship,
    /// The articles, nearest or newest first as NCBI orders them.
    pub related_articles: Vec<RelatedArticle>,
    /// Citations by style, for citation_formats.
    pub citations: Citations,
    /// Whether the article of the citations was retracted or corrected.
    #[serde(flatten)]
    pub updates: UpdateFlags,
    /// Articles in this result.
    pub retrieved_count: usize,
    /// Articles that NCBI links to in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_found: Option<usize>,
    /// The request for links, without key and address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e_link_url: Option<String>,
    /// The request for the article, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e_fetch_url: Option<String>,
    /// What a reader of the result should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// The citation of an article in the styles that were asked for.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Citations {
    /// RIS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ris: Option<String>,
    /// BibTeX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bibtex: Option<String>,
    /// APA, 7th edition, without italics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apa_string: Option<String>,
    /// MLA, 9th edition, without italics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mla_string: Option<String>,
}

/// An article.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct RelatedArticle {
    /// The article in one line; without summaries its identifier alone.
    #[serde(flatten)]
    pub summary: Brief,
    /// NCBI's score, comparable within this result only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<u64>,
    /// Where a person reads about it.
    #[schemars(extend("format" = "uri"))]
    pub link_url: String,
}

fn five() -> u32 {
    5
}

fn yes() -> bool {
    true
}

fn ris() -> Vec<Style> {
    vec![Style::Ris]
}

/// Runs the tool.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments: RelatedArguments = carrel_pdk::arguments(arguments)?;
    let pmid = pmid("source_pmid", &arguments.source_pmid)?;
    ranged("max_related_results", arguments.max_related_results, 1, 50)?;
    let result = match arguments.relationship_type {
        Relationship::CitationFormats => citations(&pmid, &arguments, host)?,
        _ => links(&pmid, &arguments, host)?,
    };
    Ok(crate::to_json(&result))
}

fn citations(
    pmid: &str,
    arguments: &RelatedArguments,
    host: &dyn Host,
) -> Result<RelatedResult, Error> {
    let query = Query::new("efetch").with("db", "pubmed").with("retmode", "xml").ids(&[pmid]);
    let (citations, updates) = response::ask(host, &query, |body| {
        let found = efetch::parse(body)?;
        let Some(article) = found.articles.first() else {
            return Err(Error::new(Code::NotFound, format!("PubMed has no article {pmid}")));
        };
        let styles = if arguments.citation_styles.is_empty() {
            &[Style::Ris][..]
        } else {
            &arguments.citation_styles
        };
        let mut citations = Citations::default();
        for style in styles {
            match style {
                Style::Ris => citations.ris = Some(cite::ris(article)),
                Style::Bibtex => citations.bibtex = Some(cite::bibtex(article)),
                Style::ApaString => citations.apa_string = Some(cite::apa(article)),
                Style::MlaString => citations.mla_string = Some(cite::mla(article)),
            }
        }
        Ok((citations, UpdateFlags::from(Updates::of(article))))
    })?;
    Ok(RelatedResult {
        source_pmid: pmid.to_owned(),
        relationship_type: arguments.relationship_type,
        related_articles: Vec::new(),
        retrieved_count: 0,
        citations,
        updates,
        total_found: None,
        e_link_url: None,
        e_fetch_url: Some(query.url()),
        notices: Vec::new(),
    })
}

fn links(
    pmid: &str,
    arguments: &RelatedArguments,
    host: &dyn Host,
) -> Result<RelatedResult, Error> {
    let name = match arguments.relationship_type {
        Relationship::PubmedCitedin => "pubmed_pubmed_citedin",
        Relationship::PubmedReferences => "pubmed_pubmed_refs",
        _ => "pubmed_pubmed",
    };
    let similar = arguments.relationship_type == Relationship::PubmedSimilarArticles;
    let command = if similar && arguments.include_scores { "neighbor_score" } else { "neighbor" };
    let query = Query::new("elink")
        .with("dbfrom", "pubmed")
        .with("db", "pubmed")
        .with("cmd", command)
        .with("linkname", name)
        .with("id", pmid);
    host.progress(0, 2, "asking for links");
    let (mut related, notices) = response::ask(host, &query, |body| {
        let found = elink::parse(body)?;
        let named = found.links.iter().filter(|link| link.link_name == name);
        let mut seen = std::collections::HashSet::from([pmid]);
        let mut articles = Vec::new();
        for target in named.flat_map(|link| &link.to) {
            // The list of similar articles begins with the article itself.
            if seen.insert(&target.pmid) {
                articles.push(RelatedArticle {
                    summary: Brief { pmid: target.pmid.to_string(), ..Brief::default() },
                    score: target.score,
                    link_url: format!("https://pubmed.ncbi.nlm.nih.gov/{}/", target.pmid),
                });
            }
        }
        if articles.is_empty() && !found.errors.is_empty() {
            return Err(report::error(&found.errors.join("; ")));
        }
        Ok((articles, found.errors))
    })?;
    let total = related.len();
    related.truncate(arguments.max_related_results as usize);
    let mut notices: Vec<String> =
        notices.into_iter().map(|error| format!("NCBI says: {error}")).collect();
    if arguments.include_summaries && !related.is_empty() {
        host.progress(1, 2, "reading summaries");
        let pmids: Vec<&str> =
            related.iter().map(|article| article.summary.pmid.as_str()).collect();
        // The links are the result; missing summaries are no reason to fail.
        match summaries::ask(host, &summaries::by_ids(&pmids)) {
            Ok((summaries, errors)) => {
                notices.extend(errors.into_iter().map(|error| format!("no summary of {error}")));
                describe(&mut related, summaries);
            }
            Err(error) => notices.push(format!(
                "no titles and authors, so retractions among them are not known: {}",
                error.message
            )),
        }
    }
    host.progress(2, 2, "done");
    Ok(RelatedResult {
        source_pmid: pmid.to_owned(),
        relationship_type: arguments.relationship_type,
        retrieved_count: related.len(),
        related_articles: related,
        citations: Citations::default(),
        updates: UpdateFlags::default(),
        total_found: Some(total),
        e_link_url: Some(query.url()),
        e_fetch_url: None,
        notices,
    })
}

fn describe(related: &mut [RelatedArticle], summaries: Vec<Brief>) {
    for summary in summaries {
        let index = related.iter().position(|article| article.summary.pmid == summary.pmid);
        if let Some(article) = index.and_then(|at| related.get_mut(at)) {
            article.summary = summary;
        }
    }
}
