//! Authors: a list of `core`, or the one line of `lite` and of references.

use carrel_pdk::json::lenient;
use carrel_pdk::record::fields::{orcid, readable, text};
use carrel_pdk::record::{Agent, Text};

use crate::formats::article::{Author, Authors};

/// Suffixes after a name's initials.
const SUFFIXES: [&str; 9] = ["Jr", "Sr", "II", "III", "IV", "1st", "2nd", "3rd", "4th"];

/// The authors: from the list if there is one, else from the line.
pub(super) fn authors<'d>(list: Authors<'d>, line: lenient::Text<'d>) -> Vec<Agent<'d>> {
    let listed: Vec<Agent<'d>> = list.author.0.into_iter().filter_map(author).collect();
    if !listed.is_empty() {
        return listed;
    }
    let line = line.0.and_then(readable).unwrap_or_default();
    let line = line.trim().strip_suffix('.').unwrap_or(line.trim());
    line.split(", ").filter_map(|name| in_line(name.trim())).collect()
}

/// An author of the list. A group's name is not divided.
fn author(author: Author<'_>) -> Option<Agent<'_>> {
    let family = text(author.last_name);
    let mut given = text(author.first_name).or_else(|| text(author.initials));
    let literal = text(author.collective_name).or_else(|| text(author.full_name));
    let literal = literal.filter(|_| family.is_none());
    if literal.is_some() {
        given = None;
    }
    if let (Some(suffix), Some(name)) = (text(author.suffix), &mut given) {
        *name = format!("{name}, {suffix}").into();
    }
    if family.is_none() && given.is_none() && literal.is_none() {
        return None;
    }
    let mut affiliations: Vec<Text<'_>> =
        author.affiliations.items.0.into_iter().filter_map(|entry| text(entry.name)).collect();
    if affiliations.is_empty() {
        affiliations.extend(text(author.affiliation));
    }
    let is_orcid = |kind: &str| kind.eq_ignore_ascii_case("orcid");
    let orcid = author
        .ids
        .0
        .into_iter()
        .filter(|id| id.kind.0.as_deref().is_none_or(is_orcid))
        .find_map(|id| orcid(id.value.0.as_deref()?));
    Some(Agent { family, given, literal, orcid, affiliations })
}

/// An author of the line: PubMed's form, a family name before initials. A name without initials is
/// not divided.
fn in_line(name: &str) -> Option<Agent<'static>> {
    if name.is_empty() || ["et al", "et al."].contains(&name) {
        return None;
    }
    let owned = |text: &str| Some(Text::Owned(text.to_owned()));
    let (rest, suffix) = match name.rsplit_once(' ') {
        Some((rest, last)) if SUFFIXES.contains(&last) => (rest, Some(last)),
        _ => (name, None),
    };
    match rest.rsplit_once(' ').filter(|(_, last)| are_initials(last)) {
        Some((family, initials)) => Some(Agent {
            family: owned(family.trim()),
            given: match suffix {
                Some(suffix) => Some(format!("{initials}, {suffix}").into()),
                None => owned(initials),
            },
            ..Agent::default()
        }),
        None => Some(Agent { literal: owned(name), ..Agent::default() }),
    }
}

/// One to four capital letters, perhaps with hyphens.
fn are_initials(text: &str) -> bool {
    let letters = text.chars().filter(|character| *character != '-');
    let right = letters.clone().all(char::is_uppercase);
    right && (1..=4).contains(&letters.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Vec<(Option<String>, Option<String>, Option<String>)> {
        let own = |text: Option<Text<'_>>| text.map(std::borrow::Cow::into_owned);
        authors(Authors::default(), lenient::Text(Some(text.into())))
            .into_iter()
            .map(|agent| (own(agent.family), own(agent.given), own(agent.literal)))
            .collect()
    }

    #[test]
    fn a_line_of_authors_is_read_in_the_form_of_pubmed() {
        let person = |family: &str, given: &str| (Some(family.into()), Some(given.into()), None);
        let group = |name: &str| (None, None, Some(name.into()));
        assert_eq!(
            line(
                "Haas-Kogan DA, O'Neill AF, van der Berg J-P, Weiß Å, Smith JD Jr, ACME Study Group."
            ),
            [
                person("Haas-Kogan", "DA"),
                person("O'Neill", "AF"),
                person("van der Berg", "J-P"),
                person("Weiß", "Å"),
                person("Smith", "JD, Jr"),
                group("ACME Study Group"),
            ]
        );
        assert_eq!(line("Plato, et al."), [group("Plato")]);
        assert_eq!(line(" . "), []);
    }
}
