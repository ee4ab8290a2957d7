//! A paper in Semantic Scholar's JSON and terms: the members that the record uses.
//!
//! Only the requested fields are present, and each may be null. Only the members listed in
//! `object!` are read.
//!
//! ```text
//! PAPER     {"paperId", "title", "externalIds": {"DOI", "ArXiv", "PubMed", …}, "journal": {"name", …}, …}
//! AUTHOR    {"authorId", "name", "affiliations": [TEXT…]}
//! OPEN      {"url", "status", "license"}   "url" is "" when closed
//! ```

use carrel_pdk::json::lenient::{Count, Flag, List, Object, Text, deserialize_object, object};
use serde::de::MapAccess;

object! {
    /// One paper.
    Item {
        "paperId" => id: Text<'d>,
        "corpusId" => corpus_id: Text<'d>,
        "externalIds" => external_ids: ExternalIds<'d>,
        "url" => url: Text<'d>,
        "title" => title: Text<'d>,
        "abstract" => summary: Text<'d>,
        "authors" => authors: List<Author<'d>>,
        "venue" => venue: Text<'d>,
        "publicationVenue" => publication_venue: Venue<'d>,
        "journal" => journal: Journal<'d>,
        "year" => year: Count,
        "publicationDate" => publication_date: Text<'d>,
        "publicationTypes" => publication_types: List<Text<'d>>,
        "fieldsOfStudy" => fields_of_study: List<Text<'d>>,
        "s2FieldsOfStudy" => s2_fields_of_study: List<Field<'d>>,
        "isOpenAccess" => is_open_access: Flag,
        "openAccessPdf" => open_access_pdf: OpenAccess<'d>,
        "references" => references: List<Cited<'d>>,
        "referenceCount" => reference_count: Count,
        "citationCount" => citation_count: Count,
        // Members that only other objects have.
        "authorId" => author_id: Text<'d>,
        "name" => name: Text<'d>,
    }
}

object! {
    /// Identifiers elsewhere. Some are numbers, some lists.
    ExternalIds {
        "ArXiv" => arxiv: Text<'d>,
        "DOI" => doi: Text<'d>,
        "PubMed" => pmid: Text<'d>,
        "PubMedCentral" => pmcid: Text<'d>,
    }
}

/// A person.
#[derive(Debug, Default, Clone)]
pub(crate) struct Author<'d> {
    pub(crate) name: Text<'d>,
    pub(crate) affiliations: List<Text<'d>>,
    pub(crate) external_ids: PersonIds<'d>,
}

impl<'d> Object<'d> for Author<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "name" => self.name = map.next_value()?,
            "affiliations" => self.affiliations = map.next_value()?,
            "externalIds" => self.external_ids = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    // Snippets have plain names.
    fn from_text(text: &str) -> Self {
        Self { name: Text(Some(text.to_owned().into())), ..Self::default() }
    }
}

deserialize_object!(Author);

object! {
    /// Identifiers of a person.
    PersonIds {
        "ORCID" => orcid: Text<'d>,
    }
}

object! {
    /// Where papers appear.
    Venue {
        "alternate_issns" => alternate_issns: List<Text<'d>>,
        "issn" => issn: Text<'d>,
        "name" => name: Text<'d>,
        "type" => kind: Text<'d>,
    }
}

object! {
    /// Where in a journal.
    Journal {
        "name" => name: Text<'d>,
        "pages" => pages: Text<'d>,
        "volume" => volume: Text<'d>,
    }
}

object! {
    /// A field of study.
    Field {
        "category" => category: Text<'d>,
    }
}

object! {
    /// An open copy.
    OpenAccess {
        "license" => license: Text<'d>,
        "status" => status: Text<'d>,
        "url" => url: Text<'d>,
    }
}

object! {
    /// A paper in the list of another one's references.
    Cited {
        "authors" => authors: List<Author<'d>>,
        "externalIds" => external_ids: ExternalIds<'d>,
        "paperId" => id: Text<'d>,
        "title" => title: Text<'d>,
        "venue" => venue: Text<'d>,
        "year" => year: Count,
    }
}

impl Item<'_> {
    /// Whether it is a paper: by its identifier, or by a member that only papers have.
    pub(crate) fn is_paper(&self) -> bool {
        let texts = [&self.id, &self.corpus_id, &self.title, &self.publication_date];
        texts.iter().any(|text| text.0.as_deref().is_some_and(|text| !text.trim().is_empty()))
            || self.external_ids.doi.0.is_some()
            || self.external_ids.arxiv.0.is_some()
            || self.year.0.is_some()
    }

    /// The name of another kind of object, for messages.
    pub(crate) fn other_name(&self) -> Option<&str> {
        [&self.name, &self.author_id].into_iter().find_map(|text| text.0.as_deref())
    }
}
