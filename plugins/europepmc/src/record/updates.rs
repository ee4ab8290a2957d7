//! Updates of an article (retractions, concerns, corrections, new versions) and its relations.

use carrel_pdk::id::Pmid;
use carrel_pdk::json::lenient;
use carrel_pdk::record::corrections::{doi_in, meaning};
use carrel_pdk::record::fields::{plain, readable};
use carrel_pdk::record::{Relation, Text, Update};

use crate::formats::article::{Article, Correction};

/// The updates that the article announces, and those about it. A retraction that is known only from
/// the publication type has no notice and still counts.
pub(super) fn updates<'d>(
    article: &Article<'d>,
    types: &[Text<'_>],
) -> (Vec<Update<'d>>, Vec<Update<'d>>) {
    let (mut updates, mut updated_by) = (Vec::new(), Vec::new());
    for entry in &article.corrections.items.0 {
        let Some((kind, is_notice)) = entry.kind.0.as_deref().and_then(meaning) else { continue };
        let doi = entry.reference.0.as_deref().and_then(doi_in).map(Text::Owned);
        let update = update(kind, pmid(entry), doi);
        if is_notice { &mut updates } else { &mut updated_by }.push(update);
    }
    let has = |word: &str| types.iter().any(|kind| kind.eq_ignore_ascii_case(word));
    if has("Retracted Publication") && !updated_by.iter().any(Update::is_retraction) {
        updated_by.insert(0, update("retraction", None, None));
    }
    let is_notice = has("Retraction of Publication") || has("retraction");
    if is_notice && !updates.iter().any(Update::is_retraction) {
        updates.insert(0, update("retraction", None, None));
    }
    if has("Expression of Concern") && !updates.iter().any(Update::is_concern) {
        updates.push(update("expression_of_concern", None, None));
    }
    (updates, updated_by)
}

/// The relations from comments and corrections that name another article.
pub(super) fn relations<'d>(article: &Article<'d>) -> Vec<Relation<'d>> {
    let text = |text: &lenient::Text<'d>| text.0.clone().and_then(plain);
    let relation = |entry: &Correction<'d>| {
        let (id_type, id) = match pmid(entry) {
            Some(pmid) => ("pmid".into(), pmid),
            None => (text(&entry.source)?, text(&entry.id)?),
        };
        Some(Relation { kind: entry.kind.0.clone().and_then(readable)?, id_type, id })
    };
    article.corrections.items.0.iter().filter_map(relation).collect()
}

fn update<'d>(kind: &'static str, pmid: Option<Text<'d>>, doi: Option<Text<'d>>) -> Update<'d> {
    Update { kind: kind.into(), doi, pmid, source: Some("europepmc".into()), ..Update::default() }
}

/// The other article's identifier of PubMed.
fn pmid<'d>(correction: &Correction<'_>) -> Option<Text<'d>> {
    let source = correction.source.0.as_deref().unwrap_or("MED");
    let id = correction.id.0.as_deref().filter(|_| source == "MED")?;
    Some(Pmid::parse(id).ok()?.to_string().into())
}
