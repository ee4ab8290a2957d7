//! Article → the contract's bibliographic record: the only file that translates PubMed's terms to
//! Carrel's.

use std::borrow::Cow;

use carrel_pdk::id::Pmcid;
use carrel_pdk::record::{Agent, Funder, Ids, Link, Reference, Relation, Update, Work};
use carrel_pdk::record::{corrections, language};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cite::{self, Kind};
use crate::formats::{
    article::{self, Article, Articles, Author, Correction, Grant, Text},
    updates::Updates,
};

/// The records of a document.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Works<'d> {
    /// The records.
    pub works: Vec<Work<'d>>,
    /// Identifiers that the document says do not exist.
    pub not_found: Vec<Text<'d>>,
}

impl<'d> From<Articles<'d>> for Works<'d> {
    fn from(found: Articles<'d>) -> Self {
        Self { works: found.articles.into_iter().map(work).collect(), not_found: found.not_found }
    }
}

/// The record of an article.
///
/// Removes the full stop and the brackets that PubMed adds to titles. A correction becomes an
/// update, with the notice's PMID and the DOI in its citation; if it names a record, it becomes a
/// relation too. The container of a chapter is its book.
pub fn work(article: Article<'_>) -> Work<'_> {
    let kind = cite::kind(&article);
    let is_preprint = article.publication_types.iter().any(|word| word == "Preprint");
    let (updates, updated_by) = updates(&article);
    let title = shown_title(&article);
    let url = cite::pubmed_url(&article).map(Cow::Owned);
    let Article { journal_info, book_info, .. } = article;
    let journal = journal_info.unwrap_or_default();
    let book = book_info.unwrap_or_default();
    let pmcid = article.pmcid.as_deref().and_then(|id| Pmcid::parse(id).ok());
    let pmcid = pmcid.map(|id| format!("PMC{}", id.number()));
    let full_text = pmcid.as_ref().map(|id| Link {
        url: Cow::Owned(format!("https://pmc.ncbi.nlm.nih.gov/articles/{id}/")),
        content_type: Some("text/html".into()),
        ..Link::default()
    });
    let mut subjects = article.keywords;
    for term in article.mesh_terms {
        if !subjects.contains(&term.descriptor_name) {
            subjects.push(term.descriptor_name);
        }
    }
    let references: Vec<Reference<'_>> = article.references.into_iter().map(reference).collect();
    Work {
        ids: Ids {
            doi: article.doi,
            pmid: article.pmid.filter(|pmid| plain_number(pmid)),
            pmcid: pmcid.map(Cow::Owned),
            isbn: book.isbns.iter().filter_map(|isbn| isbn_of(isbn)).map(Cow::Owned).collect(),
            issn: issns(journal.issn, journal.issn_linking),
            ..Ids::default()
        },
        kind: match kind {
            Kind::Article if is_preprint => "article",
            Kind::Article => "article-journal",
            Kind::Book => "book",
            Kind::Chapter => "chapter",
        }
        .into(),
        source_type: article.publication_types.into_iter().next(),
        title,
        summary: article.abstract_text,
        authors: article.authors.into_iter().map(agent).collect(),
        editors: book.editors.into_iter().map(agent).collect(),
        container_title: match kind {
            Kind::Chapter => book.title,
            Kind::Book => book.collection_title,
            Kind::Article => journal.title,
        },
        publisher: book.publisher,
        issued: article.issued.or(article.electronic_date).map(Cow::Owned),
        volume: journal.volume.or(book.volume),
        issue: journal.issue,
        pages: journal.pages.or(book.pages),
        language: article.languages.into_iter().next().and_then(language::tag),
        subjects,
        url,
        links: full_text.into_iter().collect(),
        funding: funders(article.grant_list),
        references_count: match references.len() {
            0 => article.number_of_references,
            count => Some(count as u64),
        },
        references,
        updates,
        updated_by,
        relations: article.comments_corrections.into_iter().filter_map(relation).collect(),
        source: "eutils".into(),
        ..Work::default()
    }
}

/// The title without PubMed's additions; borrowed when there are none.
fn shown_title<'d>(article: &Article<'d>) -> Option<Text<'d>> {
    let shown = cite::title(article)?;
    let whole = article.title.as_ref().or(article.vernacular_title.as_ref())?;
    Some(match whole {
        Cow::Borrowed(text) => {
            // The result is a part of the title, so it can also be borrowed.
            let from = text.find(shown).unwrap_or(0);
            Cow::Borrowed(text.get(from..from + shown.len()).unwrap_or(text))
        }
        Cow::Owned(_) => Cow::Owned(shown.to_owned()),
    })
}

fn plain_number(text: &str) -> bool {
    !text.starts_with('0') && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn isbn_of(text: &str) -> Option<String> {
    let digits: String = text
        .chars()
        .filter(|character| character.is_ascii_digit() || matches!(character, 'X' | 'x'))
        .collect::<String>()
        .to_ascii_uppercase();
    let head = digits.get(..9).is_some_and(|head| head.bytes().all(|byte| byte.is_ascii_digit()));
    let right = match digits.len() {
        10 => head,
        13 => digits.bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    };
    right.then_some(digits)
}

fn issns<'d>(issn: Option<Text<'d>>, linking: Option<Text<'d>>) -> Vec<Text<'d>> {
    let mut found = Vec::new();
    for issn in issn.into_iter().chain(linking) {
        let bytes = issn.as_bytes();
        let right = bytes.len() == 9
            && bytes.iter().enumerate().all(|(at, byte)| match at {
                4 => *byte == b'-',
                8 => byte.is_ascii_digit() || *byte == b'X',
                _ => byte.is_ascii_digit(),
            });
        if right && !found.contains(&issn) {
            found.push(issn);
        }
    }
    found
}

fn agent(author: Author<'_>) -> Agent<'_> {
    let mut given = author.first_name.or(author.initials);
    let (family, given, literal) = match (author.last_name, author.collective_name) {
        (Some(mut last), _) => {
            // Appended to the given name, so that the family name equals other sources'.
            if let Some(suffix) = author.suffix {
                match &mut given {
                    Some(name) => *name = Cow::Owned(format!("{name}, {suffix}")),
                    None => last = Cow::Owned(format!("{last} {suffix}")),
                }
            }
            (Some(last), given, None)
        }
        (None, Some(group)) => (None, None, Some(group)),
        (None, None) => (None, given, None),
    };
    Agent { family, given, literal, orcid: author.orcid, affiliations: author.affiliations }
}

fn funders(grants: Vec<Grant<'_>>) -> Vec<Funder<'_>> {
    let mut funders: Vec<Funder<'_>> = Vec::new();
    for grant in grants {
        let Some(name) = grant.agency.or(grant.acronym) else { continue };
        let at = funders.iter().position(|funder| funder.name == name).unwrap_or_else(|| {
            funders.push(Funder { name, ..Funder::default() });
            funders.len() - 1
        });
        if let Some(funder) = funders.get_mut(at) {
            funder.awards.extend(grant.grant_id);
        }
    }
    funders
}

fn reference(reference: article::Reference<'_>) -> Reference<'_> {
    let ids = [
        reference.pmid.map(|id| format!("PMID:{id}")),
        reference.pmcid.map(|id| format!("PMCID:{id}")),
    ];
    Reference {
        key: ids.into_iter().flatten().next().map(Cow::Owned),
        doi: reference.doi,
        unstructured: reference.citation,
        ..Reference::default()
    }
}

/// The updates that the article announces, and those about it. An update without a recorded notice
/// counts.
fn updates<'d>(article: &Article<'d>) -> (Vec<Update<'d>>, Vec<Update<'d>>) {
    let update = |kind: &'static str, pmid: Option<Text<'d>>, doi: Option<Text<'d>>| Update {
        kind: kind.into(),
        doi,
        pmid: pmid.filter(|pmid| plain_number(pmid)),
        source: Some("pubmed".into()),
        ..Update::default()
    };
    let (mut updates, mut updated_by) = (Vec::new(), Vec::new());
    for one in &article.comments_corrections {
        let Some((kind, is_notice)) = one.ref_type.as_deref().and_then(corrections::meaning) else {
            continue;
        };
        let doi = one.ref_source.as_deref().and_then(corrections::doi_in).map(Cow::Owned);
        let found = update(kind, one.pmid.clone(), doi);
        if is_notice { &mut updates } else { &mut updated_by }.push(found);
    }
    if Updates::of(article).is_retracted && !updated_by.iter().any(Update::is_retraction) {
        updated_by.insert(0, update("retraction", None, None));
    }
    (updates, updated_by)
}

/// The relation for a correction that names another record. Cited works are references, not
/// relations.
fn relation(correction: Correction<'_>) -> Option<Relation<'_>> {
    let kind = correction.ref_type.filter(|kind| kind != "Cites")?;
    Some(Relation { kind, id_type: "pmid".into(), id: correction.pmid? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isbns_lose_their_hyphens_and_wrong_ones_are_left_out() {
        assert_eq!(isbn_of("978-1-86016-359-3").as_deref(), Some("9781860163593"));
        assert_eq!(isbn_of("185996252x").as_deref(), Some("185996252X"));
        assert_eq!(isbn_of("12345"), None);
    }
}
