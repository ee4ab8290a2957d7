//! Related works: what a work cites, and what else it relates to.

use carrel_pdk::record::fields::{doi, plain};
use carrel_pdk::record::{Reference, Relation};

use crate::formats::resource::{Item, Related};

/// Whether a related work is the journal or proceedings that hold the work.
pub(super) fn is_holder(item: &Item<'_>) -> bool {
    item.kind.0.as_deref().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("IsPublishedIn"))
}

/// References are what a work `References` or `Cites`; the rest are relations in DataCite's words.
pub(super) fn related(related: Vec<Related<'_>>) -> (Vec<Reference<'_>>, Vec<Relation<'_>>) {
    let (mut references, mut relations) = (Vec::new(), Vec::new());
    for raw in related {
        let (Some(id), Some(kind)) = (raw.id.0.and_then(plain), raw.kind.0.and_then(plain)) else {
            continue;
        };
        let id_type = raw.id_type.0.and_then(plain).unwrap_or_default().to_ascii_lowercase();
        // Some write the DOI as a resolver URL.
        let is_doi = ["doi", "url"].contains(&id_type.as_str());
        let found = if is_doi { doi(id.clone()) } else { None };
        let is_citation = ["references", "cites"].contains(&kind.to_ascii_lowercase().as_str());
        if is_citation {
            references.push(match found {
                Some(doi) => Reference { doi: Some(doi), ..Reference::default() },
                None => Reference { unstructured: Some(id), ..Reference::default() },
            });
        } else if !id_type.is_empty() {
            relations.push(match found {
                Some(id) => Relation { kind, id_type: "doi".into(), id },
                None => Relation { kind, id_type: id_type.into(), id },
            });
        }
    }
    (references, relations)
}
