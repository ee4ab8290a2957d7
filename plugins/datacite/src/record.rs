//! Resource → the contract's bibliographic record: the only file that translates DataCite's terms
//! to Carrel's.

mod agents;
mod related;
mod types;

use carrel_pdk::id::{ArxivId, Doi, Pmcid, Pmid};
use carrel_pdk::json::lenient;
use carrel_pdk::record::fields::{self, address, isbn, issn, plain, push_new, text};
use carrel_pdk::record::{Funder, Ids, Licence, Link, Text, Work};

use crate::formats::resource::{Attributes, Date, Description, Funding, Resource, Title};

/// The record of a DOI. What DataCite does not say, or writes in an invalid form, is left out.
pub(crate) fn work(resource: Resource<'_>) -> Work<'_> {
    let attributes = resource.attributes;
    let doi =
        attributes.doi.0.and_then(fields::doi).or_else(|| resource.id.0.and_then(fields::doi));
    let attributes = Attributes { doi: lenient::Text(doi.clone()), ..attributes };
    let ids = ids(&attributes);
    let kind = types::csl(&attributes.types);
    let source_type = [&attributes.types.general, &attributes.types.own]
        .into_iter()
        .find_map(|name| text(name.clone()));
    let issued = issued(&attributes);
    let holder = attributes.items.0.iter().find(|item| related::is_holder(item)).cloned();
    let holder = holder.unwrap_or_default();
    let (title, subtitle) = titles(attributes.titles.0);
    let (references, relations) = related::related(attributes.related.0);
    let container = attributes.container;
    let pages = pages(container.first_page, container.last_page)
        .or_else(|| pages(holder.first_page, holder.last_page));
    let mut subjects = Vec::new();
    for subject in attributes.subjects.0 {
        push_new(&mut subjects, text(subject.subject));
    }
    let is_editor = |role: &str| role.eq_ignore_ascii_case("editor");
    let editors = attributes.contributors.0.into_iter();
    let editors = editors.filter(|agent| agent.role.0.as_deref().is_some_and(is_editor));
    let landing_page = doi.as_deref().and_then(|doi| Some(Doi::parse(doi).ok()?.url()));
    let content = attributes.content_urls.0.into_iter();
    let licenses = attributes.rights.0.into_iter();
    Work {
        ids,
        kind: kind.into(),
        source_type,
        title,
        subtitle,
        summary: summary(attributes.descriptions.0),
        authors: attributes.creators.0.into_iter().filter_map(agents::agent).collect(),
        editors: editors.filter_map(agents::agent).collect(),
        container_title: text(container.title)
            .or_else(|| holder.titles.0.into_iter().find_map(|title| text(title.title))),
        publisher: text(attributes.publisher.name),
        issued,
        volume: text(container.volume).or_else(|| text(holder.volume)),
        issue: text(container.issue).or_else(|| text(holder.issue)),
        pages,
        language: text(attributes.language).filter(|tag| tag.starts_with(char::is_alphabetic)),
        subjects,
        url: attributes.url.0.and_then(address).or_else(|| landing_page.map(Text::Owned)),
        links: content
            .filter_map(|url| Some(Link { url: address(url.0?)?, ..Link::default() }))
            .collect(),
        licenses: licenses
            .filter_map(|entry| Some(Licence { url: address(entry.url.0?)?, ..Licence::default() }))
            .collect(),
        funding: funding(attributes.funding.0),
        references,
        references_count: attributes.reference_count.0,
        cited_by_count: attributes.citation_count.0,
        relations,
        source: "datacite".into(),
        ..Work::default()
    }
}

/// The identifiers: the DOI, those of `identifiers`, and the ISSN or ISBN of the container.
fn ids<'d>(attributes: &Attributes<'d>) -> Ids<'d> {
    let mut ids = Ids { doi: attributes.doi.0.clone(), ..Ids::default() };
    ids.arxiv = ids.doi.as_deref().and_then(arxiv_of);
    let own = attributes.identifiers.0.iter().map(|id| (&id.kind, &id.id));
    let alternates = attributes.alternates.0.iter().map(|id| (&id.kind, &id.id));
    let container = &attributes.container;
    let container_id = [(&container.id_type, &container.id)];
    let parents = attributes.related.0.iter().filter(|related| {
        let kind = related.kind.0.as_deref().unwrap_or_default();
        ["ispartof", "ispublishedin"].contains(&kind.to_ascii_lowercase().as_str())
    });
    let parents = parents.map(|related| (&related.id_type, &related.id));
    let items = attributes.items.0.iter().filter(|item| related::is_holder(item));
    let items = items.map(|item| (&item.id.kind, &item.id.id));
    for (kind, id) in own.chain(alternates) {
        let (kind, Some(id)) = (kind.0.as_deref().unwrap_or_default(), id.0.as_deref()) else {
            continue;
        };
        match kind.trim().to_ascii_lowercase().as_str() {
            "arxiv" if ids.arxiv.is_none() => {
                ids.arxiv = ArxivId::parse(id).ok().map(|id| id.to_string().into());
            }
            "pmid" if ids.pmid.is_none() => {
                ids.pmid = Pmid::parse(id).ok().map(|id| id.to_string().into());
            }
            "pmcid" if ids.pmcid.is_none() => {
                ids.pmcid = Pmcid::parse(id).ok().map(|id| format!("PMC{}", id.number()).into());
            }
            "isbn" => push_new(&mut ids.isbn, isbn(id)),
            _ => {}
        }
    }
    for (kind, id) in container_id.into_iter().chain(parents).chain(items) {
        let (kind, Some(id)) = (kind.0.as_deref().unwrap_or_default(), id.0.as_deref()) else {
            continue;
        };
        match kind.trim().to_ascii_lowercase().as_str() {
            "issn" | "eissn" | "lissn" => push_new(&mut ids.issn, issn(id)),
            "isbn" => push_new(&mut ids.isbn, isbn(id)),
            _ => {}
        }
    }
    ids
}

/// The arXiv identifier in a DOI that arXiv registered.
fn arxiv_of(doi: &str) -> Option<Text<'static>> {
    let id = doi.get(..15).filter(|head| head.eq_ignore_ascii_case("10.48550/arxiv."))?;
    Some(ArxivId::parse(&doi[id.len()..]).ok()?.to_string().into())
}

/// The title without a type, else the first that is not a subtitle; and the subtitle.
fn titles(titles: Vec<Title<'_>>) -> (Option<Text<'_>>, Option<Text<'_>>) {
    let kind =
        |title: &Title<'_>| title.kind.0.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
    let (subtitles, titles): (Vec<_>, Vec<_>) =
        titles.into_iter().partition(|title| kind(title) == "subtitle");
    let (plain, typed): (Vec<_>, Vec<_>) =
        titles.into_iter().partition(|title| kind(title).is_empty());
    let title = plain.into_iter().chain(typed).find_map(|title| text(title.title));
    (title, subtitles.into_iter().find_map(|title| text(title.title)))
}

/// The abstract: the first description of that type.
fn summary(descriptions: Vec<Description<'_>>) -> Option<Text<'_>> {
    let is_abstract = |kind: &str| kind.trim().eq_ignore_ascii_case("abstract");
    let abstracts = descriptions.into_iter();
    abstracts
        .filter(|description| description.kind.0.as_deref().is_some_and(is_abstract))
        .find_map(|description| text(description.text))
}

/// The date of type `Issued`, else the year of publication. For a range, its start.
fn issued(attributes: &Attributes<'_>) -> Option<Text<'static>> {
    let is_issued = |date: &&Date<'_>| {
        date.kind.0.as_deref().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("issued"))
    };
    let date = attributes.dates.0.iter().filter(is_issued).find_map(|date| {
        let start = date.date.0.as_deref()?.split('/').next()?;
        fields::date(start)
    });
    date.or_else(|| {
        let year = attributes.year.0.filter(|year| (1..=9999).contains(year))?;
        Some(format!("{year:04}").into())
    })
}

/// The first page, and the last if it differs.
fn pages<'d>(first: lenient::Text<'d>, last: lenient::Text<'d>) -> Option<Text<'d>> {
    let first = text(first)?;
    Some(match text(last).filter(|last| *last != first) {
        Some(last) => format!("{first}-{last}").into(),
        None => first,
    })
}

/// Funders with their awards.
fn funding(funding: Vec<Funding<'_>>) -> Vec<Funder<'_>> {
    const MOST_COMPARED: usize = 256;
    let mut funders: Vec<Funder<'_>> = Vec::new();
    for entry in funding {
        let doi = entry.id.0.and_then(plain).and_then(fields::doi);
        let Some(name) = text(entry.name).or_else(|| doi.clone()) else { continue };
        let award = text(entry.award);
        let mut known = funders.iter_mut().take(MOST_COMPARED);
        match known.find(|funder| funder.name == name && funder.doi == doi) {
            Some(funder) => funder.awards.extend(award),
            None => funders.push(Funder { name, doi, awards: award.into_iter().collect() }),
        }
    }
    funders
}
