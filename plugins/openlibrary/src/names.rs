//! Authors' names → family and given name, or an undivided name.
//!
//! Open Library writes a person's name in one text, given names first. A reference list needs the family
//! name, so a name is divided where it reads as a person's: two to five words, none of which is a word of
//! organisations. Particles belong to the family name.

use carrel_pdk::record::{Agent, Text};

const PARTICLES: [&str; 22] = [
    "af", "al", "bin", "da", "das", "de", "del", "della", "den", "der", "di", "do", "dos", "du",
    "el", "la", "le", "ten", "ter", "van", "von", "zu",
];

const SUFFIXES: [&str; 6] = ["jr", "sr", "ii", "iii", "iv", "phd"];

/// Words of organisations, in lower case.
const OF_ORGANISATIONS: [&str; 52] = [
    "academy",
    "agency",
    "and",
    "archives",
    "association",
    "authority",
    "bank",
    "board",
    "books",
    "bureau",
    "center",
    "centre",
    "church",
    "club",
    "college",
    "commission",
    "committee",
    "company",
    "conference",
    "congress",
    "corporation",
    "council",
    "department",
    "editors",
    "federation",
    "for",
    "foundation",
    "government",
    "group",
    "institute",
    "institution",
    "international",
    "laboratory",
    "library",
    "ministry",
    "museum",
    "nations",
    "national",
    "of",
    "office",
    "organisation",
    "organization",
    "press",
    "project",
    "school",
    "service",
    "society",
    "staff",
    "team",
    "union",
    "university",
    "the",
];

/// The author of that name.
pub(crate) fn agent(name: Text<'_>) -> Agent<'_> {
    match split(&name) {
        Some((family, given)) => {
            Agent { family: Some(family.into()), given: Some(given.into()), ..Agent::default() }
        }
        None => Agent { literal: Some(name), ..Agent::default() },
    }
}

/// Family and given name; `None` for a name that is not divided.
fn split(name: &str) -> Option<(String, String)> {
    if let Some((family, given)) = name.split_once(',') {
        let (family, given) = (family.trim(), given.trim());
        let is_suffix = is_one_of(&SUFFIXES, given);
        let right = !family.is_empty() && !given.is_empty() && !given.contains(',') && !is_suffix;
        let is_person = right && !name.split(' ').any(|word| is_one_of(&OF_ORGANISATIONS, word));
        return is_person.then(|| (family.to_owned(), given.to_owned()));
    }
    let words: Vec<&str> = name.split_whitespace().collect();
    let is_word = |word: &&str| word.chars().all(|c| c.is_alphabetic() || "-.'’".contains(c));
    if !(2..=5).contains(&words.len())
        || !words.iter().all(is_word)
        || words.iter().any(|word| is_one_of(&OF_ORGANISATIONS, word))
    {
        return None;
    }
    let last = words.len() - 1;
    if is_one_of(&SUFFIXES, words[last]) {
        return None;
    }
    let mut start = last;
    while start > 1 && PARTICLES.contains(&words[start - 1].to_lowercase().as_str()) {
        start -= 1;
    }
    let has_capital = |word: &str| word.chars().any(char::is_uppercase);
    (has_capital(words[0]) && has_capital(words[last]))
        .then(|| (words[start..].join(" "), words[..start].join(" ")))
}

fn is_one_of(words: &[&str], word: &str) -> bool {
    words.contains(&word.trim_matches(['.', ',']).to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_persons_are_divided() {
        for (name, family, given) in [
            ("Ada Marlow", "Marlow", "Ada"),
            ("Ada M. Marlow-Reyes", "Marlow-Reyes", "Ada M."),
            ("Ludwig van der Berg", "van der Berg", "Ludwig"),
            ("Marlow, Ada", "Marlow", "Ada"),
            ("Émile d'Orsay", "d'Orsay", "Émile"),
        ] {
            assert_eq!(split(name), Some((family.to_owned(), given.to_owned())), "{name}");
        }
    }

    #[test]
    fn other_names_are_not_divided() {
        for name in [
            "Desk Institute",
            "National Council of Shelves",
            "Anonymous",
            "Ada Marlow Jr.",
            "the editors",
            "3M Company",
            "山田 太郎",
            "Library, City",
        ] {
            assert_eq!(split(name), None, "{name}");
        }
    }
}
