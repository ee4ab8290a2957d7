//! Creators and contributors.

use carrel_pdk::record::fields::{orcid, text};
use carrel_pdk::record::{Agent, Text};

use crate::formats::resource::{self, NameId};

/// An agent with a name of any form. An undivided personal name is "Family, Given", as DataCite's
/// manual asks; any other undivided name is kept.
pub(super) fn agent(agent: resource::Agent<'_>) -> Option<Agent<'_>> {
    let is = |word: &str| {
        agent.name_type.0.as_deref().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(word))
    };
    let (is_person, is_organisation) = (is("personal"), is("organizational"));
    let mut family = text(agent.family);
    let mut given = text(agent.given);
    let mut literal = None;
    let name = text(agent.name);
    if is_organisation && name.is_some() {
        (family, given, literal) = (None, None, name);
    } else if family.is_none() && given.is_none() {
        match name.as_deref().and_then(split).filter(|_| is_person) {
            Some((last, first)) => {
                family = Some(last.to_owned().into());
                given = Some(first.to_owned().into());
            }
            None => literal = name,
        }
    }
    if family.is_none() && given.is_none() && literal.is_none() {
        return None;
    }
    let affiliations: Vec<Text<'_>> =
        agent.affiliations.0.into_iter().filter_map(|affiliation| text(affiliation.name)).collect();
    let orcid =
        agent.ids.0.iter().filter(|id| is_orcid(id)).find_map(|id| orcid(id.id.0.as_deref()?));
    Some(Agent { family, given, literal, orcid, affiliations })
}

/// Splits a name with exactly one comma.
fn split(name: &str) -> Option<(&str, &str)> {
    let (family, given) = name.split_once(',')?;
    let (family, given) = (family.trim(), given.trim());
    (!family.is_empty() && !given.is_empty() && !given.contains([',', ';']))
        .then_some((family, given))
}

/// Whether scheme or address say that it is an ORCID.
fn is_orcid(id: &NameId<'_>) -> bool {
    [&id.scheme, &id.scheme_uri, &id.id].into_iter().any(|text| {
        text.0.as_deref().is_some_and(|text| text.to_ascii_lowercase().contains("orcid"))
    })
}
