//! Identifiers of one kind → those of the other kinds.
//!
//! PMC's converter knows only articles in PubMed Central; other identifiers are looked up in
//! PubMed.

use std::collections::HashMap;

use carrel_pdk::id::{Doi, Pmcid, Pmid};
use carrel_pdk::{Error, Host, Level};

use crate::formats::{esearch, idconv};
use crate::request::Query;
use crate::response;

/// An identifier of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    Pmid(String),
    Pmcid(String),
    Doi(String),
}

impl Id {
    /// Parses an identifier as people paste it. A bare number is a PMID.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Ok(pmid) = Pmid::parse(text) {
            return Some(Self::Pmid(pmid.to_string()));
        }
        if let Ok(pmcid) = Pmcid::parse(text) {
            return Some(Self::Pmcid(format!("PMC{}", pmcid.number())));
        }
        Doi::parse(text).ok().map(|doi| Self::Doi(doi.to_string()))
    }

    /// The form to compare by.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Pmid(id) | Self::Pmcid(id) => id.clone(),
            Self::Doi(id) => id.to_ascii_lowercase(),
        }
    }
}

/// Identifiers of one article.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) pmid: Option<String>,
    pub(crate) pmcid: Option<String>,
    pub(crate) doi: Option<String>,
}

/// The converter's answers for `ids`, by their keys, and its errors.
pub(crate) fn convert(host: &dyn Host, ids: &[Id]) -> (HashMap<String, Resolved>, Vec<Error>) {
    let mut kinds: [(&str, Vec<&str>); 3] = [("pmid", vec![]), ("pmcid", vec![]), ("doi", vec![])];
    for id in ids {
        match id {
            Id::Pmid(id) => kinds[0].1.push(id),
            Id::Pmcid(id) => kinds[1].1.push(id),
            // The converter's lists are separated by commas, and a DOI may contain commas.
            Id::Doi(id) if !id.contains(',') => kinds[2].1.push(id),
            Id::Doi(_) => {}
        }
    }
    let queries: Vec<Query> = kinds
        .iter()
        .filter(|(_, ids)| !ids.is_empty())
        .map(|(kind, ids)| {
            Query::idconv()
                .with("ids", ids.join(","))
                .with("idtype", *kind)
                .with("format", "json")
                .with("versions", "no")
        })
        .collect();
    let (mut known, mut errors) = (HashMap::new(), Vec::new());
    let outcomes = host.fetch_all(queries.iter().map(|query| query.get()).collect());
    for (query, outcome) in queries.iter().zip(outcomes) {
        let records = outcome.map_err(Error::from).and_then(|response| {
            response::settle(host, &query.get(), response, |response| {
                Ok(idconv::parse(&response.body)?.records)
            })
        });
        match records {
            Ok(records) => known.extend(records.into_iter().filter_map(|record| {
                let key = Id::parse(&record.requested_id)?.key();
                let own = |text: crate::formats::article::Text<'_>| text.into_owned();
                let resolved = Resolved {
                    pmid: record.pmid.map(own),
                    pmcid: record.pmcid.map(own),
                    doi: record.doi.map(own),
                };
                Some((key, resolved))
            })),
            Err(error) => {
                host.log(Level::Warn, &format!("converter of identifiers: {}", error.message));
                errors.push(error);
            }
        }
    }
    (known, errors)
}

/// PMIDs of articles that may have the identifiers. The search finds others too, so the caller
/// compares.
pub(crate) fn search(host: &dyn Host, ids: &[&Id]) -> Result<Vec<String>, Error> {
    let term: Vec<String> = ids
        .iter()
        .map(|id| match id {
            Id::Pmid(id) => format!("{id}[uid]"),
            Id::Pmcid(id) => format!("{id}[pmcid]"),
            // Quoted, because parentheses are syntax.
            Id::Doi(id) => format!("\"{}\"[doi]", id.replace('"', " ")),
        })
        .collect();
    let query = Query::new("esearch")
        .with("db", "pubmed")
        .with("term", term.join(" OR "))
        .with("retmax", (ids.len() * 2 + 20).to_string());
    response::ask(host, &query, |body| {
        Ok(esearch::parse(body)?.pmids.into_iter().map(|pmid| pmid.into_owned()).collect())
    })
}
