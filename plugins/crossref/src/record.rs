//! Item → the contract's bibliographic record: the only file that translates Crossref's terms to
//! Carrel's.

use carrel_pdk::json::lenient;
use carrel_pdk::percent;
use carrel_pdk::record::fields::{self, address, doi, orcid, plain, push_new, text};
use carrel_pdk::record::{
    Agent, Funder, Ids, Licence, Link, Reference, Relation, Text, Update, Work, types,
};

use crate::formats::item::{self, Item};

/// How many previous items are searched for duplicates; keeps the work linear.
const MOST_COMPARED: usize = 256;

/// Prefixes that Crossref has put in front of DOIs over the years.
const RESOLVERS: [&str; 4] =
    ["https://doi.org/", "http://doi.org/", "http://dx.doi.org/", "https://dx.doi.org/"];

/// The record of an item. What Crossref does not say, or writes in an invalid form, is left out.
pub(crate) fn work(item: Item<'_>) -> Work<'_> {
    let kind = item.kind.0.and_then(plain);
    let mut isbn = Vec::new();
    let mut issn = Vec::new();
    for text in item.isbn.0.into_iter().chain(values(item.isbn_types)) {
        push_new(&mut isbn, text.0.as_deref().and_then(fields::isbn));
    }
    for text in item.issn.0.into_iter().chain(values(item.issn_types)) {
        push_new(&mut issn, text.0.as_deref().and_then(fields::issn));
    }
    let issued = [
        item.issued,
        item.published,
        item.published_print,
        item.published_online,
        item.published_other,
        item.posted,
    ];
    let doi = item.doi.0.and_then(doi);
    let url = item.url.0.and_then(|url| landing_page(url, doi.as_deref()));
    let (updates, updated_by) = updates(item.updates, item.updated_by, doi.as_deref());
    Work {
        ids: Ids { doi, isbn, issn, ..Ids::default() },
        kind: types::crossref(kind.as_deref().unwrap_or_default()).into(),
        source_type: kind,
        title: text(item.title),
        subtitle: text(item.subtitle),
        summary: text(item.summary),
        authors: item.authors.0.into_iter().filter_map(agent).collect(),
        editors: item.editors.0.into_iter().filter_map(agent).collect(),
        container_title: text(item.container_title),
        publisher: text(item.publisher),
        issued: issued.iter().find_map(date),
        volume: text(item.volume),
        issue: text(item.issue),
        pages: text(item.page),
        article_number: text(item.article_number),
        language: text(item.language),
        subjects: item.subjects.0.into_iter().filter_map(text).collect(),
        url,
        links: item.links.0.into_iter().filter_map(link).collect(),
        licenses: item.licences.0.into_iter().filter_map(licence).collect(),
        funding: item.funders.0.into_iter().filter_map(funder).collect(),
        references: item.references.0.into_iter().filter_map(reference).collect(),
        references_count: item.reference_count.0.or(item.references_count.0),
        cited_by_count: item.cited_by_count.0,
        updates,
        updated_by,
        relations: relations(item.relations),
        source: "crossref".into(),
        ..Work::default()
    }
}

/// The address that resolves the work's DOI. Crossref does not encode old DOIs in it, so their
/// question marks, hashes and percent signs would be read as syntax.
fn landing_page<'d>(text: Text<'d>, doi: Option<&str>) -> Option<Text<'d>> {
    let resolver = RESOLVERS.into_iter().find(|resolver| text.starts_with(resolver));
    if let (Some(resolver), Some(doi)) = (resolver, doi)
        && text[resolver.len()..].eq_ignore_ascii_case(doi)
    {
        let path = percent::path(&text[resolver.len()..]);
        return Some(format!("{resolver}{path}").into());
    }
    address(text)
}

/// A machine-readable member, which Crossref fills with "unspecified" when it is unknown.
fn specified(text: lenient::Text<'_>) -> Option<Text<'_>> {
    text.0.and_then(plain).filter(|text| text != "unspecified")
}

fn values<'d>(typed: lenient::List<item::Typed<'d>>) -> impl Iterator<Item = lenient::Text<'d>> {
    typed.0.into_iter().map(|typed| typed.value)
}

/// A date with the precision it has: an invalid month or day is cut off.
pub(crate) fn date(date: &item::Date) -> Option<Text<'static>> {
    let parts = date.parts.0.first()?;
    let part = |number: usize, range: std::ops::RangeInclusive<u64>| {
        parts.0.get(number)?.0.filter(|value| range.contains(value))
    };
    let year = part(0, 1..=9999)?;
    let Some(month) = part(1, 1..=12) else { return Some(format!("{year:04}").into()) };
    let Some(day) = part(2, 1..=31) else { return Some(format!("{year:04}-{month:02}").into()) };
    Some(format!("{year:04}-{month:02}-{day:02}").into())
}

/// A contributor with any name at all. An organisation has its name in one piece.
fn agent(contributor: item::Contributor<'_>) -> Option<Agent<'_>> {
    let mut family = text(contributor.family);
    let mut given = text(contributor.given);
    let literal = text(contributor.name)
        .or_else(|| text(contributor.literal))
        .filter(|_| family.is_none() && given.is_none());
    if let Some(suffix) = text(contributor.suffix) {
        // Citation formats that have no member for it write it here.
        match (&mut given, &mut family) {
            (Some(name), _) => *name = format!("{name}, {suffix}").into(),
            (None, Some(name)) => *name = format!("{name} {suffix}").into(),
            (None, None) => {}
        }
    }
    if family.is_none() && given.is_none() && literal.is_none() {
        return None;
    }
    Some(Agent {
        family,
        given,
        literal,
        orcid: contributor.orcid.0.as_deref().and_then(orcid),
        affiliations: contributor.affiliations.0.into_iter().filter_map(affiliation).collect(),
    })
}

/// The name, or, without a name, the identifier.
fn affiliation(affiliation: item::Affiliation<'_>) -> Option<Text<'_>> {
    text(affiliation.name)
        .or_else(|| affiliation.ids.0.into_iter().find_map(|id| id.id.0.and_then(plain)))
}

fn link(link: item::Link<'_>) -> Option<Link<'_>> {
    Some(Link {
        url: link.url.0.and_then(address)?,
        content_type: specified(link.content_type),
        version: specified(link.version),
        application: specified(link.application),
    })
}

fn licence(licence: item::Licence<'_>) -> Option<Licence<'_>> {
    Some(Licence {
        url: licence.url.0.and_then(address)?,
        start: date(&licence.start),
        version: specified(licence.version),
    })
}

/// A funder; without a name, its DOI is the name.
fn funder(funder: item::Funder<'_>) -> Option<Funder<'_>> {
    let doi = funder.doi.0.and_then(doi);
    Some(Funder {
        name: text(funder.name).or_else(|| doi.clone())?,
        doi,
        awards: funder.awards.0.into_iter().filter_map(text).collect(),
    })
}

/// A cited work. A citation of a chapter names the chapter and the book; a citation of a book has
/// only the volume.
fn reference(reference: item::Reference<'_>) -> Option<Reference<'_>> {
    let article = text(reference.article_title);
    let journal = text(reference.journal_title);
    let volume = text(reference.volume_title);
    let series = text(reference.series_title);
    let (title, container_title) = match article {
        Some(article) => (Some(article), journal.or(volume).or(series)),
        None => (volume, journal.or(series)),
    };
    let reference = Reference {
        key: reference.key.0.and_then(plain),
        doi: reference.doi.0.and_then(doi),
        unstructured: text(reference.unstructured),
        title,
        author: text(reference.author),
        year: text(reference.year),
        container_title,
    };
    (reference != Reference::default()).then_some(reference)
}

/// What the work updates, and what it was updated by.
///
/// Some publishers register a retraction under the article's own DOI: a work whose `update-to`
/// names itself is the updated work, not a notice about another one. Crossref repeats some of these
/// in `updated-by`.
fn updates<'d>(
    updates: lenient::List<item::Update<'d>>,
    updated_by: lenient::List<item::Update<'d>>,
    own: Option<&str>,
) -> (Vec<Update<'d>>, Vec<Update<'d>>) {
    let is_own = |update: &Update<'d>| {
        own.zip(update.doi.as_deref()).is_some_and(|(own, doi)| own.eq_ignore_ascii_case(doi))
    };
    let (own, updates): (Vec<_>, Vec<_>) =
        updates.0.into_iter().filter_map(update).partition(is_own);
    let mut updated_by: Vec<_> = updated_by.0.into_iter().filter_map(update).collect();
    for update in own.into_iter().take(MOST_COMPARED) {
        if !updated_by.iter().take(MOST_COMPARED).any(|known| is_same(known, &update)) {
            updated_by.push(update);
        }
    }
    (updates, updated_by)
}

/// Whether both state the same update on the same day, from the same source if both name one.
fn is_same(left: &Update<'_>, right: &Update<'_>) -> bool {
    let doi = |update: &Update<'_>| update.doi.as_deref().map(str::to_ascii_lowercase);
    left.plain_kind() == right.plain_kind()
        && doi(left) == doi(right)
        && left.date == right.date
        && (left.source == right.source || left.source.is_none() || right.source.is_none())
}

/// A notice, or the work that it is about.
fn update(update: item::Update<'_>) -> Option<Update<'_>> {
    Some(Update {
        kind: update.kind.0.and_then(plain)?,
        doi: Some(update.doi.0.and_then(doi)?),
        pmid: None,
        date: date(&update.updated),
        source: update.source.0.and_then(plain),
    })
}

/// Relations in the document's order. Both works may assert the same relation; it is listed once.
fn relations<'d>(
    relations: lenient::Members<'d, lenient::List<item::Relation<'d>>>,
) -> Vec<Relation<'d>> {
    let mut seen = Vec::new();
    for (kind, related) in relations.0 {
        let Some(kind) = plain(kind) else { continue };
        let first = seen.len();
        for item in related.0 {
            let (Some(id), Some(id_type)) =
                (item.id.0.and_then(plain), item.id_type.0.and_then(plain))
            else {
                continue;
            };
            let relation = Relation { kind: kind.clone(), id_type, id };
            // Only neighbours are compared: a review journal has thousands, and both assertions are
            // adjacent.
            let latest = &seen[first.max(seen.len().saturating_sub(MOST_COMPARED))..];
            if !latest.contains(&relation) {
                seen.push(relation);
            }
        }
    }
    seen
}
