//! Article → the contract's bibliographic record: the only file that translates Europe PMC's terms
//! to Carrel's.

mod agents;
mod copies;
mod dates;
mod kinds;
mod updates;

use carrel_pdk::id::{Pmcid, Pmid};
use carrel_pdk::json::lenient;
use carrel_pdk::percent;
use carrel_pdk::record::fields::{self, doi, isbn, issn, plain, push_new, text};
use carrel_pdk::record::{Funder, Ids, Text, Work, language};

use crate::formats::article::{Article, Grants};

/// The record of an article. What Europe PMC does not say, or writes in an invalid form, is left
/// out.
pub(crate) fn work(mut article: Article<'_>) -> Work<'_> {
    let source = plain_of(std::mem::take(&mut article.source));
    let id = plain_of(std::mem::take(&mut article.id));
    let types = kinds::types(&article);
    let kind = kinds::csl(source.as_deref(), &types, &article);
    let pmid = pmid(&article, source.as_deref(), id.as_deref());
    let pmcid = pmcid(&article, source.as_deref(), id.as_deref());
    let (updates, updated_by) = updates::updates(&article, &types);
    let relations = updates::relations(&article);
    let issued = dates::issued(&article);
    let (open_copies, links, is_oa) = copies::copies(&mut article, pmcid.as_deref());
    let url = source.zip(id).map(|(source, id)| {
        let (source, id) = (percent::segment(&source), percent::segment(&id));
        Text::Owned(format!("https://europepmc.org/article/{source}/{id}"))
    });
    let journal = article.journal_info;
    let mut ids = Ids { doi: article.doi.0.and_then(doi), pmid, pmcid, ..Ids::default() };
    for serial in [journal.journal.issn, journal.journal.essn, article.issn, article.essn] {
        push_new(&mut ids.issn, serial.0.as_deref().and_then(issn));
    }
    for serial in article.journal_issn.0.as_deref().unwrap_or_default().split(';') {
        push_new(&mut ids.issn, issn(serial));
    }
    for book in [article.book.isbn13, article.book.isbn10, article.isbn] {
        push_new(&mut ids.isbn, book.0.as_deref().and_then(isbn));
    }
    let mut subjects = Vec::new();
    let headings = article.mesh.items.0.into_iter().map(|heading| heading.name);
    for subject in article.keywords.items.0.into_iter().chain(headings) {
        push_new(&mut subjects, text(subject));
    }
    Work {
        ids,
        kind: kind.into(),
        source_type: types.into_iter().next(),
        title: text(article.title).or_else(|| text(article.unstructured)),
        summary: article.summary.0.and_then(summary),
        authors: agents::authors(article.authors, article.author_string),
        container_title: [
            journal.journal.title,
            article.journal_title,
            article.journal_abbreviation,
            article.publication_title,
            article.book.title,
            journal.journal.abbreviation,
        ]
        .into_iter()
        .find_map(text),
        publisher: text(article.book.publisher).or_else(|| text(article.publisher_name)),
        issued,
        volume: [journal.volume, article.journal_volume, article.volume].into_iter().find_map(text),
        issue: text(journal.issue).or_else(|| text(article.issue)),
        pages: text(article.page_info),
        language: plain_of(article.language).and_then(language::tag),
        subjects,
        url,
        links,
        open_copies,
        is_oa,
        funding: funding(article.grants),
        cited_by_count: article.cited_by_count.0,
        updates,
        updated_by,
        relations,
        source: "europepmc".into(),
        ..Work::default()
    }
}

/// A machine-readable text.
fn plain_of(text: lenient::Text<'_>) -> Option<Text<'_>> {
    text.0.and_then(plain)
}

/// The abstract. Its HTML headings become JATS titles, which the text rules end with a colon.
fn summary(text: Text<'_>) -> Option<Text<'_>> {
    if !text.contains("<h4>") {
        return fields::readable(text);
    }
    fields::readable(text.replace("<h4>", "<title>").replace("</h4>", "</title>").into())
}

/// The identifier of PubMed: a result's own member, or its `id` when its source is MEDLINE.
fn pmid<'d>(article: &Article<'d>, source: Option<&str>, id: Option<&str>) -> Option<Text<'d>> {
    let own = article.pmid.0.as_deref();
    let found = own.or_else(|| id.filter(|_| source == Some("MED")))?;
    Some(Pmid::parse(found).ok()?.to_string().into())
}

/// The PubMed Central identifier, found in the same way.
fn pmcid<'d>(article: &Article<'d>, source: Option<&str>, id: Option<&str>) -> Option<Text<'d>> {
    let own = article.pmcid.0.as_deref();
    let found = own.or_else(|| id.filter(|_| source == Some("PMC")))?;
    Some(format!("PMC{}", Pmcid::parse(found).ok()?.number()).into())
}

/// Funders with their grants.
fn funding(grants: Grants<'_>) -> Vec<Funder<'_>> {
    const MOST_COMPARED: usize = 256;
    let mut funders: Vec<Funder<'_>> = Vec::new();
    for grant in grants.items.0 {
        let Some(name) = text(grant.agency).or_else(|| text(grant.acronym)) else { continue };
        let award = text(grant.id);
        let known = funders.iter_mut().take(MOST_COMPARED).find(|funder| funder.name == name);
        match known {
            Some(funder) => funder.awards.extend(award),
            None => {
                funders.push(Funder {
                    name,
                    awards: award.into_iter().collect(),
                    ..Funder::default()
                });
            }
        }
    }
    funders
}
