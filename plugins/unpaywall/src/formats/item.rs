//! A record in Unpaywall's JSON and terms: the members that Carrel's record uses.
//!
//! ```text
//! RECORD    {"doi", "is_oa", "oa_status", "best_oa_location": LOCATION or null, "oa_locations": [LOCATION…], …}
//! LOCATION  {"url", "url_for_pdf", "url_for_landing_page", "host_type", "version", "license"}
//! z_authors [{"given", "family", "name", "ORCID", "affiliation"}…]   or, since 2025, of OpenAlex's shape
//! ```

use carrel_pdk::json::lenient::{Count, Flag, List, Object, Text, deserialize_object, object};
use serde::de::MapAccess;

object! {
    /// One record.
    Item {
        "doi" => doi: Text<'d>,
        "doi_url" => doi_url: Text<'d>,
        "title" => title: Text<'d>,
        "genre" => genre: Text<'d>,
        "is_oa" => is_oa: Flag,
        "oa_status" => oa_status: Text<'d>,
        "best_oa_location" => best_location: Location<'d>,
        "oa_locations" => locations: List<Location<'d>>,
        "published_date" => published_date: Text<'d>,
        "year" => year: Count,
        "journal_name" => journal_name: Text<'d>,
        // One text with commas, or a list.
        "journal_issns" => journal_issns: List<Text<'d>>,
        "journal_issn_l" => journal_issn_l: Text<'d>,
        "publisher" => publisher: Text<'d>,
        "z_authors" => authors: List<Author<'d>>,
    }
}

object! {
    /// A copy.
    Location {
        "host_type" => host_type: Text<'d>,
        "license" => license: Text<'d>,
        "url" => url: Text<'d>,
        "url_for_landing_page" => url_for_landing_page: Text<'d>,
        "url_for_pdf" => url_for_pdf: Text<'d>,
        "version" => version: Text<'d>,
    }
}

object! {
    /// A person or an organisation.
    Author {
        "ORCID" => orcid: Text<'d>,
        "affiliation" => affiliations: List<Affiliation<'d>>,
        "family" => family: Text<'d>,
        "given" => given: Text<'d>,
        "name" => name: Text<'d>,
        "suffix" => suffix: Text<'d>,
        // OpenAlex's.
        "raw_affiliation_strings" => raw_affiliations: List<Text<'d>>,
        "raw_author_name" => raw_name: Text<'d>,
    }
}

/// An affiliation: an object with a name, or a text.
#[derive(Debug, Default, Clone)]
pub(crate) struct Affiliation<'d> {
    pub(crate) name: Text<'d>,
}

impl<'d> Object<'d> for Affiliation<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key != "name" {
            return Ok(false);
        }
        self.name = map.next_value()?;
        Ok(true)
    }

    fn from_text(text: &str) -> Self {
        Self { name: Text(Some(text.to_owned().into())) }
    }
}

deserialize_object!(Affiliation);

impl Item<'_> {
    /// Whether it is a record: one has a DOI.
    pub(crate) fn is_record(&self) -> bool {
        let texts = [&self.doi, &self.doi_url, &self.genre, &self.oa_status];
        texts.iter().any(|text| text.0.as_deref().is_some_and(|text| !text.trim().is_empty()))
            || self.is_oa.0.is_some()
    }
}
