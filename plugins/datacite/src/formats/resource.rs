//! A DOI in DataCite's JSON and terms: the members that the record uses.
//!
//! `publisher` and affiliations are texts, or objects with a `name` if the request asked for them.
//! A list may be null, or a single item instead of a list.

use carrel_pdk::json::lenient::{Count, List, Object, Text, deserialize_object, object};
use serde::de::MapAccess;

/// A resource of JSON:API.
#[derive(Debug, Default, Clone)]
pub(crate) struct Resource<'d> {
    pub(crate) id: Text<'d>,
    kind: Text<'d>,
    pub(crate) attributes: Attributes<'d>,
}

impl<'d> Object<'d> for Resource<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "id" => self.id = map.next_value()?,
            "type" => self.kind = map.next_value()?,
            "attributes" => self.attributes = map.next_value()?,
            _ => return self.attributes.member(key, map),
        }
        Ok(true)
    }
}

deserialize_object!(Resource);

impl Resource<'_> {
    /// The type of a resource that is not a DOI, such as `clients`.
    pub(crate) fn other_kind(&self) -> Option<&str> {
        self.kind.0.as_deref().filter(|kind| *kind != "dois" && !self.is_doi())
    }

    /// Whether it has a DOI.
    pub(crate) fn is_doi(&self) -> bool {
        let is_doi = |text: &Text<'_>| {
            text.0.as_deref().is_some_and(|text| carrel_pdk::id::Doi::parse(text).is_ok())
        };
        is_doi(&self.attributes.doi) || is_doi(&self.id)
    }
}

object! {
    /// The metadata of a DOI.
    Attributes {
        "doi" => doi: Text<'d>,
        "identifiers" => identifiers: List<Identifier<'d>>,
        "alternateIdentifiers" => alternates: List<Alternate<'d>>,
        "creators" => creators: List<Agent<'d>>,
        "contributors" => contributors: List<Agent<'d>>,
        "titles" => titles: List<Title<'d>>,
        "publisher" => publisher: Named<'d>,
        "container" => container: Container<'d>,
        "publicationYear" => year: Count,
        "subjects" => subjects: List<Subject<'d>>,
        "dates" => dates: List<Date<'d>>,
        "language" => language: Text<'d>,
        "types" => types: Types<'d>,
        "relatedIdentifiers" => related: List<Related<'d>>,
        "relatedItems" => items: List<Item<'d>>,
        "rightsList" => rights: List<Rights<'d>>,
        "descriptions" => descriptions: List<Description<'d>>,
        "fundingReferences" => funding: List<Funding<'d>>,
        "url" => url: Text<'d>,
        "contentUrl" => content_urls: List<Text<'d>>,
        "referenceCount" => reference_count: Count,
        "citationCount" => citation_count: Count,
    }
}

impl Attributes<'_> {
    /// Whether it has metadata, not only an identifier.
    pub(crate) fn has_content(&self) -> bool {
        !self.titles.0.is_empty()
            || !self.creators.0.is_empty()
            || self.types.general.0.is_some()
            || self.types.citeproc.0.is_some()
    }
}

object! {
    /// Another identifier of the same thing.
    Identifier {
        "identifier" => id: Text<'d>,
        "identifierType" => kind: Text<'d>,
    }
}

object! {
    /// The same member in its other spelling.
    Alternate {
        "alternateIdentifier" => id: Text<'d>,
        "alternateIdentifierType" => kind: Text<'d>,
    }
}

object! {
    /// A creator or contributor.
    Agent {
        "name" => name: Text<'d>,
        "nameType" => name_type: Text<'d>,
        "givenName" => given: Text<'d>,
        "familyName" => family: Text<'d>,
        "affiliation" => affiliations: List<Named<'d>>,
        "nameIdentifiers" => ids: List<NameId<'d>>,
        "contributorType" => role: Text<'d>,
    }
}

object! {
    /// An identifier of a person or organisation.
    NameId {
        "nameIdentifier" => id: Text<'d>,
        "nameIdentifierScheme" => scheme: Text<'d>,
        "schemeUri" => scheme_uri: Text<'d>,
    }
}

/// A name, or an object that has one.
#[derive(Debug, Default, Clone)]
pub(crate) struct Named<'d> {
    pub(crate) name: Text<'d>,
}

impl<'d> Object<'d> for Named<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "name" => self.name = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn from_text(text: &str) -> Self {
        Self { name: Text(Some(text.to_owned().into())) }
    }
}

deserialize_object!(Named);

object! {
    /// A title, a subtitle, a translation.
    Title {
        "title" => title: Text<'d>,
        "titleType" => kind: Text<'d>,
    }
}

object! {
    /// What holds the work.
    Container {
        "title" => title: Text<'d>,
        "volume" => volume: Text<'d>,
        "issue" => issue: Text<'d>,
        "firstPage" => first_page: Text<'d>,
        "lastPage" => last_page: Text<'d>,
        "identifier" => id: Text<'d>,
        "identifierType" => id_type: Text<'d>,
    }
}

object! {
    /// A subject.
    Subject {
        "subject" => subject: Text<'d>,
    }
}

object! {
    /// A date, such as `Issued`.
    Date {
        "date" => date: Text<'d>,
        "dateType" => kind: Text<'d>,
    }
}

object! {
    /// The type in the words of several vocabularies.
    Types {
        "resourceTypeGeneral" => general: Text<'d>,
        "resourceType" => own: Text<'d>,
        "citeproc" => citeproc: Text<'d>,
    }
}

object! {
    /// A related work by its identifier.
    Related {
        "relationType" => kind: Text<'d>,
        "relatedIdentifier" => id: Text<'d>,
        "relatedIdentifierType" => id_type: Text<'d>,
    }
}

object! {
    /// A related work by its description.
    Item {
        "relationType" => kind: Text<'d>,
        "titles" => titles: List<Title<'d>>,
        "volume" => volume: Text<'d>,
        "issue" => issue: Text<'d>,
        "firstPage" => first_page: Text<'d>,
        "lastPage" => last_page: Text<'d>,
        "relatedItemIdentifier" => id: ItemId<'d>,
    }
}

object! {
    /// An identifier of a related work.
    ItemId {
        "relatedItemIdentifier" => id: Text<'d>,
        "relatedItemIdentifierType" => kind: Text<'d>,
    }
}

object! {
    /// A licence.
    Rights {
        "rightsUri" => url: Text<'d>,
    }
}

object! {
    /// An abstract or another description.
    Description {
        "description" => text: Text<'d>,
        "descriptionType" => kind: Text<'d>,
    }
}

object! {
    /// A funder and one award.
    Funding {
        "funderName" => name: Text<'d>,
        "funderIdentifier" => id: Text<'d>,
        "awardNumber" => award: Text<'d>,
    }
}
