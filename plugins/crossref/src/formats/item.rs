//! A work in Crossref's JSON and terms: the members that the record uses.
//!
//! A text can be a list of texts, of which the first counts. Only the members listed in `object!`
//! are read.
//!
//! ```text
//! WORK         {"DOI", "type", "title": [TEXT…], "author": [CONTRIBUTOR…], "issued": DATE, …}
//! CONTRIBUTOR  {"family", "given", "name", "ORCID", "affiliation": [{"name"}…]}
//! DATE         {"date-parts": [[YEAR, MONTH?, DAY?]]} or {"date-time": TEXT}
//! relation     {KIND: [{"id-type", "id", "asserted-by"}…]…}
//! update-to, updated-by   [{"DOI", "type", "label", "source", "updated": DATE}…]
//! ```

use serde::de::{Deserialize, Deserializer, MapAccess};

use carrel_pdk::json::lenient::{
    Count, List, Members, Object, Text, deserialize_object, object, read_object,
};

object! {
    /// One work.
    Item {
        "DOI" => doi: Text<'d>,
        "ISBN" => isbn: List<Text<'d>>,
        "ISSN" => issn: List<Text<'d>>,
        "URL" => url: Text<'d>,
        "abstract" => summary: Text<'d>,
        "article-number" => article_number: Text<'d>,
        "author" => authors: List<Contributor<'d>>,
        "container-title" => container_title: Text<'d>,
        "editor" => editors: List<Contributor<'d>>,
        "funder" => funders: List<Funder<'d>>,
        "is-referenced-by-count" => cited_by_count: Count,
        "isbn-type" => isbn_types: List<Typed<'d>>,
        "issn-type" => issn_types: List<Typed<'d>>,
        "issue" => issue: Text<'d>,
        "issued" => issued: Date,
        "language" => language: Text<'d>,
        "license" => licences: List<Licence<'d>>,
        "link" => links: List<Link<'d>>,
        "page" => page: Text<'d>,
        "posted" => posted: Date,
        "published" => published: Date,
        "published-online" => published_online: Date,
        "published-other" => published_other: Date,
        "published-print" => published_print: Date,
        "publisher" => publisher: Text<'d>,
        "reference" => references: List<Reference<'d>>,
        "reference-count" => reference_count: Count,
        "references-count" => references_count: Count,
        "relation" => relations: Members<'d, List<Relation<'d>>>,
        "subject" => subjects: List<Text<'d>>,
        "subtitle" => subtitle: Text<'d>,
        "title" => title: Text<'d>,
        "type" => kind: Text<'d>,
        "update-to" => updates: List<Update<'d>>,
        "updated-by" => updated_by: List<Update<'d>>,
        "volume" => volume: Text<'d>,
    }
}

object! {
    /// A person or an organisation.
    Contributor {
        "ORCID" => orcid: Text<'d>,
        "affiliation" => affiliations: List<Affiliation<'d>>,
        "family" => family: Text<'d>,
        "given" => given: Text<'d>,
        "literal" => literal: Text<'d>,
        "name" => name: Text<'d>,
        "suffix" => suffix: Text<'d>,
    }
}

/// An affiliation: a name, or, if the publisher gives nothing else, identifiers.
#[derive(Debug, Default, Clone)]
pub(crate) struct Affiliation<'d> {
    pub(crate) name: Text<'d>,
    pub(crate) ids: List<Identifier<'d>>,
}

impl<'d> Object<'d> for Affiliation<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "name" => self.name = map.next_value()?,
            "id" => self.ids = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    // Citation formats derived from Crossref's have plain strings here.
    fn from_text(text: &str) -> Self {
        Self { name: Text(Some(text.to_owned().into())), ids: List::default() }
    }
}

deserialize_object!(Affiliation);

object! {
    /// An identifier such as a ROR.
    Identifier {
        "id" => id: Text<'d>,
    }
}

object! {
    /// An ISBN or ISSN with its medium.
    Typed {
        "value" => value: Text<'d>,
    }
}

/// A date of up to three parts; the first list counts.
#[derive(Debug, Default, Clone)]
pub(crate) struct Date {
    pub(crate) parts: List<List<Count>>,
}

impl<'d> Object<'d> for Date {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key != "date-parts" {
            return Ok(false);
        }
        self.parts = map.next_value()?;
        Ok(true)
    }
}

impl<'d> Deserialize<'d> for Date {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

object! {
    /// A funder.
    Funder {
        "DOI" => doi: Text<'d>,
        "award" => awards: List<Text<'d>>,
        "name" => name: Text<'d>,
    }
}

object! {
    /// A licence.
    Licence {
        "URL" => url: Text<'d>,
        "content-version" => version: Text<'d>,
        "start" => start: Date,
    }
}

object! {
    /// A form of the work.
    Link {
        "URL" => url: Text<'d>,
        "content-type" => content_type: Text<'d>,
        "content-version" => version: Text<'d>,
        "intended-application" => application: Text<'d>,
    }
}

object! {
    /// A cited work.
    Reference {
        "DOI" => doi: Text<'d>,
        "article-title" => article_title: Text<'d>,
        "author" => author: Text<'d>,
        "journal-title" => journal_title: Text<'d>,
        "key" => key: Text<'d>,
        "series-title" => series_title: Text<'d>,
        "unstructured" => unstructured: Text<'d>,
        "volume-title" => volume_title: Text<'d>,
        "year" => year: Text<'d>,
    }
}

object! {
    /// A correction, retraction or the like.
    Update {
        "DOI" => doi: Text<'d>,
        "source" => source: Text<'d>,
        "type" => kind: Text<'d>,
        "updated" => updated: Date,
    }
}

object! {
    /// A relation to another work.
    Relation {
        "id" => id: Text<'d>,
        "id-type" => id_type: Text<'d>,
    }
}
