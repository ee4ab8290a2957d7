//! A work in OpenAlex's JSON and terms: the members that the record uses.
//!
//! One type reads three generations of the format; comments mark members of only one generation.
//! Only the members listed in `object!` are read.
//!
//! ```text
//! WORK      {"id", "doi", "title", "type", "authorships": [AUTHORSHIP…], "primary_location": LOCATION, …}
//! LOCATION  {"is_oa", "landing_page_url", "pdf_url", "license", "version", "source": SOURCE or null}
//! abstract_inverted_index   {WORD: [POSITION…]…}
//! ```

use carrel_pdk::json::lenient::{Count, Flag, List, Members, Text, object};

object! {
    /// One work.
    Item {
        "id" => id: Text<'d>,
        "ids" => ids: Identifiers<'d>,
        "doi" => doi: Text<'d>,
        "title" => title: Text<'d>,
        "display_name" => display_name: Text<'d>,
        "entity_type" => entity_type: Text<'d>,
        "publication_date" => publication_date: Text<'d>,
        "publication_year" => publication_year: Count,
        "language" => language: Text<'d>,
        "type" => kind: Text<'d>,
        "type_crossref" => crossref_kind: Text<'d>,
        "primary_location" => primary_location: Location<'d>,
        "best_oa_location" => best_location: Location<'d>,
        "locations" => locations: List<Location<'d>>,
        // Until 2023.
        "host_venue" => host_venue: Source<'d>,
        "open_access" => open_access: OpenAccess<'d>,
        "authorships" => authorships: List<Authorship<'d>>,
        "biblio" => biblio: Biblio<'d>,
        "abstract_inverted_index" => inverted_index: Members<'d, List<Count>>,
        "abstract_inverted_index_v3" => newer_inverted_index: Members<'d, List<Count>>,
        "abstract" => summary: Text<'d>,
        "keywords" => keywords: List<Subject<'d>>,
        "topics" => topics: List<Subject<'d>>,
        // Until topics replaced them.
        "concepts" => concepts: List<Subject<'d>>,
        "awards" => awards: List<Award<'d>>,
        "funders" => funders: List<Funder<'d>>,
        // Until 2025.
        "grants" => grants: List<Grant<'d>>,
        "referenced_works" => references: List<Text<'d>>,
        "referenced_works_count" => references_count: Count,
        "cited_by_count" => cited_by_count: Count,
        "is_retracted" => is_retracted: Flag,
    }
}

object! {
    /// Identifiers, each an address.
    Identifiers {
        "doi" => doi: Text<'d>,
        "openalex" => openalex: Text<'d>,
        "pmcid" => pmcid: Text<'d>,
        "pmid" => pmid: Text<'d>,
    }
}

object! {
    /// A location of the work.
    Location {
        "is_oa" => is_oa: Flag,
        "landing_page_url" => landing_page_url: Text<'d>,
        "license" => license: Text<'d>,
        "pdf_url" => pdf_url: Text<'d>,
        "raw_source_name" => raw_source_name: Text<'d>,
        "source" => source: Source<'d>,
        "version" => version: Text<'d>,
    }
}

object! {
    /// A journal, a repository, a series.
    Source {
        "display_name" => display_name: Text<'d>,
        "host_organization_name" => host_organization_name: Text<'d>,
        "issn" => issn: List<Text<'d>>,
        "issn_l" => issn_l: Text<'d>,
        // Until 2023.
        "publisher" => publisher: Text<'d>,
        "type" => kind: Text<'d>,
    }
}

object! {
    /// The open-access status.
    OpenAccess {
        "is_oa" => is_oa: Flag,
        "oa_status" => status: Text<'d>,
        "oa_url" => url: Text<'d>,
    }
}

object! {
    /// An author of the work.
    Authorship {
        "author" => author: Author<'d>,
        "institutions" => institutions: List<Named<'d>>,
        // Until 2023, and one text.
        "raw_affiliation_string" => raw_affiliation: Text<'d>,
        "raw_affiliation_strings" => raw_affiliations: List<Text<'d>>,
        "raw_author_name" => raw_name: Text<'d>,
        "raw_orcid" => raw_orcid: Text<'d>,
    }
}

object! {
    /// A person.
    Author {
        "display_name" => display_name: Text<'d>,
        "orcid" => orcid: Text<'d>,
    }
}

object! {
    /// Anything with a name.
    Named {
        "display_name" => display_name: Text<'d>,
    }
}

object! {
    /// The work's position in its container: volume, issue, pages.
    Biblio {
        "first_page" => first_page: Text<'d>,
        "issue" => issue: Text<'d>,
        "last_page" => last_page: Text<'d>,
        "volume" => volume: Text<'d>,
    }
}

object! {
    /// A keyword, topic or concept.
    Subject {
        "display_name" => display_name: Text<'d>,
        // Of the first generation.
        "keyword" => keyword: Text<'d>,
    }
}

object! {
    /// An award.
    Award {
        "funder_award_id" => number: Text<'d>,
        "funder_display_name" => funder: Text<'d>,
    }
}

object! {
    /// A funder.
    Funder {
        "display_name" => display_name: Text<'d>,
    }
}

object! {
    /// A funder together with its award.
    Grant {
        "award_id" => number: Text<'d>,
        "funder_display_name" => funder: Text<'d>,
    }
}

impl Item<'_> {
    /// Whether it is a work: by its identifier, or, if `select` left that out, by a member that
    /// only works have.
    pub(crate) fn is_work(&self) -> bool {
        let id = self.id.0.as_deref().or(self.ids.openalex.0.as_deref());
        match (self.entity_type.0.as_deref(), id) {
            (Some(kind), _) if !kind.eq_ignore_ascii_case("work") => false,
            (_, Some(id)) => identifier(id).is_some(),
            (_, None) => {
                let texts = [&self.doi, &self.title, &self.publication_date, &self.crossref_kind];
                texts.iter().any(|text| text.0.is_some())
                    || self.publication_year.0.is_some()
                    || self.is_retracted.0.is_some()
                    || self.references_count.0.is_some()
                    || !self.authorships.0.is_empty()
                    || !self.references.0.is_empty()
                    || !self.inverted_index.0.is_empty()
            }
        }
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> Option<&str> {
        [&self.display_name, &self.title, &self.id].into_iter().find_map(|text| text.0.as_deref())
    }
}

/// The identifier of a work, without the address in front: W and digits.
pub(crate) fn identifier(text: &str) -> Option<String> {
    let last = text.trim().trim_end_matches('/').rsplit(['/', ':']).next()?;
    let number = last.strip_prefix(['W', 'w'])?;
    let right = !number.is_empty()
        && number.len() <= 15
        && number.bytes().all(|byte| byte.is_ascii_digit());
    right.then(|| format!("W{number}"))
}
