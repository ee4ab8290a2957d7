//! The reserved tool `lookup`: identifiers → records, for the host.

use std::collections::HashMap;

use carrel_pdk::lookup::{self, Answer, Kind};
use carrel_pdk::record::Work;
use carrel_pdk::{Error, Host};

use super::invalid;
use crate::formats::{article::Article, efetch};
use crate::record;
use crate::request::Query;
use crate::response;
use crate::tools::resolve::{self, Id, Resolved};

/// The most identifiers in one call.
pub(crate) const BATCH: u32 = 100;

/// Runs the tool.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let ids = lookup::ids(arguments)?;
    let count = ids.len();
    if !(1..=BATCH as usize).contains(&count) {
        return Err(invalid(format!("expected 1 to {BATCH} ids but found {count}")));
    }
    let (mut readable, mut unreadable) = (Vec::new(), Vec::new());
    for requested in ids {
        match (requested.kind, Id::parse(&requested.id)) {
            (Kind::Pmid, Some(id @ Id::Pmid(_)))
            | (Kind::Pmcid, Some(id @ Id::Pmcid(_)))
            | (Kind::Doi, Some(id @ Id::Doi(_))) => readable.push((requested, id)),
            _ => unreadable.push(requested),
        }
    }
    let search = find_pmids(host, &readable);
    let empty = || Answer { not_found: unreadable.clone(), ..Answer::default() };
    if search.pmids.is_empty() {
        let mut answer = empty();
        for (requested, id) in readable {
            search.miss(requested, &id, &mut answer);
        }
        return Ok(answer.to_json());
    }
    let query = Query::new("efetch").with("db", "pubmed").with("retmode", "xml").ids(&search.pmids);
    let outcome = response::ask(host, &query, |body| {
        let articles = efetch::parse(body)?.articles;
        let mut positions: HashMap<String, usize> = HashMap::new();
        for (at, article) in articles.iter().enumerate() {
            for key in keys(article) {
                positions.entry(key).or_insert(at);
            }
        }
        let works: Vec<Work<'_>> = articles.into_iter().map(record::work).collect();
        let mut answer = empty();
        for (requested, id) in &readable {
            let known = search.known.get(&id.key()).and_then(|known| known.pmid.as_ref());
            let position = positions.get(&id.key()).or_else(|| positions.get(known?));
            match position.and_then(|&at| works.get(at)) {
                Some(work) => answer.works.push((requested.clone(), work.clone())),
                None => search.miss(requested.clone(), id, &mut answer),
            }
        }
        Ok(answer.to_json())
    });
    outcome.or_else(|error| {
        // All identifiers failed with the same error; each gets it, for the host's trace.
        let mut answer = empty();
        answer.failed.extend(readable.into_iter().map(|(id, _)| (id, error.clone())));
        Ok(answer.to_json())
    })
}

/// What is known before the records are requested.
struct Search {
    pmids: Vec<String>,
    known: HashMap<String, Resolved>,
    /// The error that kept DOIs and PMCIDs from being resolved.
    error: Option<Error>,
}

impl Search {
    /// Notes an identifier without a record.
    fn miss(&self, requested: lookup::Id, id: &Id, answer: &mut Answer<'_>) {
        match &self.error {
            Some(error) if !matches!(id, Id::Pmid(_)) && !self.known.contains_key(&id.key()) => {
                answer.failed.push((requested, error.clone()));
            }
            _ => answer.not_found.push(requested),
        }
    }
}

/// The PMIDs to request: the given ones, and those of the other identifiers.
fn find_pmids(host: &dyn Host, ids: &[(lookup::Id, Id)]) -> Search {
    let mut pmids: Vec<String> = Vec::new();
    let mut others: Vec<Id> = Vec::new();
    for (_, id) in ids {
        match id {
            Id::Pmid(pmid) => pmids.push(pmid.clone()),
            other => others.push(other.clone()),
        }
    }
    let (mut known, mut error) = (HashMap::new(), None);
    if !others.is_empty() {
        (known, _) = resolve::convert(host, &others);
        known.retain(|_, resolved| resolved.pmid.is_some());
        pmids.extend(known.values().filter_map(|resolved| resolved.pmid.clone()));
        let unknown: Vec<&Id> = others.iter().filter(|id| !known.contains_key(&id.key())).collect();
        if !unknown.is_empty() {
            match resolve::search(host, &unknown) {
                Ok(found) => pmids.extend(found),
                Err(problem) => error = Some(problem),
            }
        }
    }
    pmids.sort_unstable();
    pmids.dedup();
    Search { pmids, known, error }
}

/// The keys of an article's identifiers.
fn keys(article: &Article<'_>) -> Vec<String> {
    let ids = [article.pmid.as_deref(), article.pmcid.as_deref(), article.doi.as_deref()];
    ids.into_iter().flatten().filter_map(Id::parse).map(|id| id.key()).collect()
}
