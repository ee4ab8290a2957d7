//! An article in DOAJ's JSON and terms: the members that the record uses.

use carrel_pdk::json::lenient::{List, Object, Text, deserialize_object, object};
use serde::de::{IgnoredAny, MapAccess};

/// Members that only journals have.
const OF_JOURNALS: [&str; 8] = [
    "apc",
    "boai",
    "editorial",
    "eissn",
    "oa_start",
    "pissn",
    "plagiarism",
    "publication_time_weeks",
];

object! {
    /// One item of a list.
    Article {
        "id" => id: Text<'d>,
        "es_type" => kind: Text<'d>,
        "bibjson" => bibjson: Option<Bibjson<'d>>,
    }
}

impl Article<'_> {
    /// Whether it describes a journal.
    pub(crate) fn is_journal(&self) -> bool {
        self.kind.0.as_deref() == Some("journal")
            || self
                .bibjson
                .as_ref()
                .is_some_and(|bibjson| bibjson.is_journal && !bibjson.in_journal)
    }
}

/// The description of an article.
#[derive(Debug, Default, Clone)]
pub(crate) struct Bibjson<'d> {
    pub(crate) title: Text<'d>,
    pub(crate) summary: Text<'d>,
    pub(crate) authors: List<Author<'d>>,
    pub(crate) identifiers: List<Identifier<'d>>,
    pub(crate) links: List<Link<'d>>,
    pub(crate) journal: Journal<'d>,
    pub(crate) year: Text<'d>,
    pub(crate) month: Text<'d>,
    pub(crate) start_page: Text<'d>,
    pub(crate) end_page: Text<'d>,
    pub(crate) keywords: List<Text<'d>>,
    pub(crate) subjects: List<Subject<'d>>,
    /// Whether it has a member that only journals have.
    pub(crate) is_journal: bool,
    /// Whether it names a journal.
    pub(crate) in_journal: bool,
}

impl<'d> Object<'d> for Bibjson<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "title" => self.title = map.next_value()?,
            "abstract" => self.summary = map.next_value()?,
            "author" => self.authors = map.next_value()?,
            "identifier" => self.identifiers = map.next_value()?,
            "link" => self.links = map.next_value()?,
            "journal" => {
                self.journal = map.next_value()?;
                self.in_journal = true;
            }
            "year" => self.year = map.next_value()?,
            "month" => self.month = map.next_value()?,
            "start_page" => self.start_page = map.next_value()?,
            "end_page" => self.end_page = map.next_value()?,
            "keywords" => self.keywords = map.next_value()?,
            "subject" => self.subjects = map.next_value()?,
            other if OF_JOURNALS.contains(&other) => {
                map.next_value::<IgnoredAny>()?;
                self.is_journal = true;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

deserialize_object!(Bibjson);

object! {
    /// A person or an organisation.
    Author {
        "name" => name: Text<'d>,
        "affiliation" => affiliations: List<Text<'d>>,
        "orcid_id" => orcid: Text<'d>,
    }
}

object! {
    /// A DOI or an ISSN.
    Identifier {
        "type" => kind: Text<'d>,
        "id" => id: Text<'d>,
    }
}

object! {
    /// A form of the article.
    Link {
        "url" => url: Text<'d>,
        "content_type" => content_type: Text<'d>,
        "type" => kind: Text<'d>,
    }
}

object! {
    /// The journal and the issue that hold the article.
    Journal {
        "title" => title: Text<'d>,
        "publisher" => publisher: Text<'d>,
        "volume" => volume: Text<'d>,
        "number" => number: Text<'d>,
        "issns" => issns: List<Text<'d>>,
        "language" => languages: List<Text<'d>>,
        "license" => licenses: List<License<'d>>,
    }
}

object! {
    /// The licence that the journal uses. Its URL is the journal's own page about it.
    License {
        "type" => kind: Text<'d>,
        "title" => title: Text<'d>,
    }
}

object! {
    /// A subject.
    Subject {
        "term" => term: Text<'d>,
    }
}
