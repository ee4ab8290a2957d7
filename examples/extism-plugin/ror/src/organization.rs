//! Parses answers of version 2 of ROR's API.

use serde::{Deserialize, Serialize};

/// An organisation as this plugin returns it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Organization {
    /// ROR's identifier without the address, such as `03yrm5c26`.
    pub id: String,
    /// The name in the wanted language, else the one that ROR shows.
    pub name: String,
    /// All other names, acronyms included.
    pub other_names: Vec<String>,
    /// Country code by ISO 3166.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The place it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// `active`, `inactive` or `withdrawn`.
    pub status: String,
    /// The year it was founded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub established: Option<i32>,
    /// Its website.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
}

/// A page of results.
#[derive(Debug, Serialize)]
pub struct Page {
    /// Organisations that match.
    pub total: u64,
    /// The first of them.
    pub organizations: Vec<Organization>,
}

#[derive(Deserialize)]
struct Found {
    number_of_results: u64,
    items: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    id: String,
    names: Vec<Name>,
    #[serde(default)]
    locations: Vec<Location>,
    status: String,
    established: Option<i32>,
    #[serde(default)]
    links: Vec<Link>,
}

#[derive(Deserialize)]
struct Name {
    value: String,
    #[serde(default)]
    types: Vec<String>,
    lang: Option<String>,
}

#[derive(Deserialize)]
struct Location {
    geonames_details: Place,
}

#[derive(Deserialize)]
struct Place {
    name: Option<String>,
    country_code: Option<String>,
}

#[derive(Deserialize)]
struct Link {
    #[serde(rename = "type")]
    kind: String,
    value: String,
}

/// Reads an answer to a search.
pub fn read_page(json: &[u8], language: &str, most: usize) -> Result<Page, serde_json::Error> {
    let found: Found = serde_json::from_slice(json)?;
    let organizations = found.items.into_iter().take(most);
    Ok(Page {
        total: found.number_of_results,
        organizations: organizations.map(|record| record.into_organization(language)).collect(),
    })
}

/// Reads an answer to a request for one organisation.
pub fn read_organization(json: &[u8], language: &str) -> Result<Organization, serde_json::Error> {
    let record: Record = serde_json::from_slice(json)?;
    Ok(record.into_organization(language))
}

/// The bare identifier in a ROR id of any spelling; none when it is no ROR id.
pub fn bare_id(text: &str) -> Option<&str> {
    let text = text.trim().trim_end_matches('/');
    let text = text.strip_prefix("ror:").unwrap_or(text);
    let bare = text.rsplit('/').next()?;
    let valid = bare.len() == 9
        && bare.starts_with('0')
        && bare.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
    valid.then_some(bare)
}

/// Text made fit for a URL's query.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            quoted.push(char::from(byte));
        } else {
            quoted.push_str(&format!("%{byte:02X}"));
        }
    }
    quoted
}

impl Record {
    fn into_organization(self, language: &str) -> Organization {
        let shown = |name: &&Name| name.types.iter().any(|kind| kind == "ror_display");
        let wanted = |name: &&Name| {
            name.lang.as_deref() == Some(language) && name.types.iter().any(|kind| kind == "label")
        };
        let name = self.names.iter().find(wanted).or_else(|| self.names.iter().find(shown));
        let name = name.map_or_else(|| self.id.clone(), |name| name.value.clone());
        let other_names = self.names.iter().map(|other| other.value.clone());
        let place = self.locations.into_iter().next().map(|location| location.geonames_details);
        let (city, country) = place.map_or((None, None), |place| (place.name, place.country_code));
        Organization {
            id: self.id.rsplit('/').next().unwrap_or(&self.id).to_owned(),
            other_names: other_names.filter(|other| *other != name).collect(),
            name,
            country,
            city,
            status: self.status,
            established: self.established,
            website: self
                .links
                .into_iter()
                .find(|link| link.kind == "website")
                .map(|link| link.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{
        "id": "https://ror.org/012345678", "status": "active", "established": 1899,
        "names": [
            {"value": "Bibliothek der Pulte", "types": ["label"], "lang": "de"},
            {"value": "Library of Desks", "types": ["label", "ror_display"], "lang": "en"},
            {"value": "LoD", "types": ["acronym"], "lang": null}],
        "locations": [{"geonames_details": {"name": "Carrelton", "country_code": "GB"}}],
        "links": [{"type": "website", "value": "https://desks.example.org"}]}"#;

    #[test]
    fn the_name_is_the_one_of_the_wanted_language() -> Result<(), serde_json::Error> {
        assert_eq!(read_organization(RECORD.as_bytes(), "de")?.name, "Bibliothek der Pulte");
        let english = read_organization(RECORD.as_bytes(), "fr")?;
        assert_eq!(english.name, "Library of Desks");
        assert_eq!(english.other_names, ["Bibliothek der Pulte", "LoD"]);
        assert_eq!(english.id, "012345678");
        Ok(())
    }

    #[test]
    fn an_id_is_read_in_every_spelling() {
        for text in
            ["03yrm5c26", "https://ror.org/03yrm5c26", "ror.org/03yrm5c26/", "ror:03yrm5c26"]
        {
            assert_eq!(bare_id(text), Some("03yrm5c26"), "{text}");
        }
        for text in ["", "13yrm5c26", "03yrm5c2", "03YRM5C26", "10.1000/182"] {
            assert_eq!(bare_id(text), None, "{text}");
        }
    }

    #[test]
    fn a_query_is_quoted_byte_by_byte() {
        assert_eq!(quoted("Zürich & co"), "Z%C3%BCrich%20%26%20co");
    }

    #[test]
    fn what_is_no_answer_of_rors_is_an_error() {
        assert!(read_page(b"<html>", "en", 5).is_err());
        assert!(read_page(br#"{"errors": ["no"]}"#, "en", 5).is_err());
    }
}
