//! Reads authors and affiliations, in the forms of common document classes.

use carrel_pdk::document::Person;

use crate::builder::{LINE, lines, one_line};

/// Separates authors.
pub(crate) const AND: char = '\u{E003}';

/// Collects authors.
#[derive(Debug, Default)]
pub(crate) struct People {
    people: Vec<(Person, Vec<String>)>,
    /// Authors from here on have no affiliation yet.
    fresh: usize,
    /// The previous command was also an affiliation.
    affiliating: bool,
}

impl People {
    /// Adds the text of an `\author`, with the marks of its option.
    pub(crate) fn authors(&mut self, text: &str, marks: &[String]) {
        if self.affiliating {
            self.fresh = self.people.len();
            self.affiliating = false;
        }
        for chunk in text.split(AND) {
            let mut rows = chunk.split(LINE).filter_map(one_line);
            let Some(first) = rows.next() else { continue };
            let names = names(&first);
            let start = self.people.len();
            for name in names {
                let person = Person { literal: Some(name), ..Person::default() };
                self.people.push((person, marks.to_vec()));
            }
            for row in rows {
                if row.contains('@') {
                    let mail = row.split([' ', ',', ';']).find(|word| word.contains('@'));
                    let alone = self.people.len() == start + 1;
                    if let (Some(mail), true, Some((person, _))) =
                        (mail, alone, self.people.last_mut())
                    {
                        let mail = mail.trim_matches(|c: char| "{}()<>".contains(c));
                        person.email = Some(mail.to_owned()).filter(|mail| !mail.is_empty());
                    }
                    continue;
                }
                for (person, _) in self.people.iter_mut().skip(start) {
                    person.affiliations.push(row.clone());
                }
            }
        }
    }

    /// Adds an affiliation to the authors with one of its marks, or to those before it.
    pub(crate) fn affiliation(&mut self, text: &str, marks: &[String]) {
        let Some(text) = lines(text).map(|text| text.replace('\n', ", ")) else { return };
        let text = text.replace(",,", ",");
        self.affiliating = true;
        let marked = |own: &[String]| marks.iter().any(|mark| own.contains(mark));
        let by_mark = !marks.is_empty() && self.people.iter().any(|(_, own)| marked(own));
        let fresh = self.fresh;
        for (number, (person, own)) in self.people.iter_mut().enumerate() {
            let belongs = if by_mark { marked(own) } else { number >= fresh };
            if belongs && !person.affiliations.contains(&text) {
                person.affiliations.push(text.clone());
            }
        }
    }

    /// Adds an e-mail address to the author before it.
    pub(crate) fn email(&mut self, text: &str) {
        let alone = !text.contains([',', ';', '{', ' ']) && text.contains('@');
        if let Some((person, _)) = self.people.last_mut()
            && alone
            && person.email.is_none()
        {
            person.email = Some(text.to_owned());
        }
    }

    pub(crate) fn into_people(self) -> Vec<Person> {
        self.people.into_iter().map(|(person, _)| person).collect()
    }
}

/// The names of one line.
fn names(line: &str) -> Vec<String> {
    const TITLES: &[&str] = &[
        "jr",
        "jr.",
        "sr",
        "sr.",
        "ii",
        "iii",
        "iv",
        "phd",
        "ph.d.",
        "md",
        "m.d.",
        "member",
        "ieee",
        "senior member",
        "fellow",
        "student member",
        "graduate student member",
        "life fellow",
        "dr.",
        "",
    ];
    let line = line.replace(" and ", ",").replace(" AND ", ",").replace([';', '&'], ",");
    let mut out: Vec<String> = Vec::new();
    for part in line.split([',', '，']) {
        let part = part.trim().trim_start_matches("and ").trim();
        let part = part
            .trim_matches(|c: char| "*†‡§¶∗,.0123456789⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c) && c != '.')
            .trim();
        if TITLES.contains(&part.to_lowercase().as_str()) {
            continue;
        }
        if part.chars().any(char::is_alphabetic) {
            out.push(part.to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authors_have_the_affiliations_below_them() {
        let mut people = People::default();
        people.authors(
            "A. One, B. Two and C. Three\u{2028}Somewhere\u{2028}a@b.example\u{E003}D. Four Jr.",
            &[],
        );
        let people = people.into_people();
        let names: Vec<_> = people.iter().filter_map(|person| person.literal.as_deref()).collect();
        assert_eq!(names, ["A. One", "B. Two", "C. Three", "D. Four Jr."]);
        assert_eq!(people[0].affiliations, ["Somewhere"]);
        assert!(people[3].affiliations.is_empty());
    }

    #[test]
    fn marks_link_authors_to_affiliations() {
        let mut people = People::default();
        people.authors("A", &["1".to_owned()]);
        people.authors("B", &["2".to_owned()]);
        people.affiliation("X", &["2".to_owned()]);
        let people = people.into_people();
        assert!(people[0].affiliations.is_empty());
        assert_eq!(people[1].affiliations, ["X"]);
    }
}
