//! EFetch's records of PubMed: articles and book chapters, in the terms of NLM's DTD, in
//! snake_case.
//!
//! Everything borrows from the document where it can. A field that the record lacks is absent: no
//! empty strings, no nulls.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::book::BookInfo;

/// A text that borrows from the document where it can.
pub type Text<'d> = Cow<'d, str>;

/// The records of a document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Articles<'d> {
    /// Articles and book chapters in the document's order.
    pub articles: Vec<Article<'d>>,
    /// Identifiers that the document says do not exist.
    pub not_found: Vec<Text<'d>>,
    /// What the document reports of single identifiers.
    pub errors: Vec<String>,
    /// PubMed identifiers of records that NLM has deleted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<Text<'d>>,
}

/// One record of PubMed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Article<'d> {
    /// PubMed identifier; absent from records that have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<Text<'d>>,
    /// True when it was retracted, with or without a notice on record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_retracted: bool,
    /// True when an expression of concern about it is on record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_of_concern: bool,
    /// Title in English; in brackets when it is NLM's translation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'d>>,
    /// Title in the language of the article.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vernacular_title: Option<Text<'d>>,
    /// Abstract in one piece, each section behind its label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abstract_text: Option<Text<'d>>,
    /// Abstract by sections; one section without label when it is not structured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub abstract_sections: Vec<Section<'d>>,
    /// Copyright of the abstract.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copyright: Option<Text<'d>>,
    /// Abstracts from others, or in other languages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_abstracts: Vec<OtherAbstract<'d>>,
    /// Authors in order; a group is an author with a collective name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<Author<'d>>,
    /// False when the record does not list all authors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authors_complete: Option<bool>,
    /// Members of a group that is an author.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub investigators: Vec<Author<'d>>,
    /// The journal and the place in it; absent from books.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal_info: Option<JournalInfo<'d>>,
    /// The book, when the record is of one or of a part of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub book_info: Option<BookInfo<'d>>,
    /// Date of publication as far as it is sure: YYYY, YYYY-MM or YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued: Option<String>,
    /// Date of electronic publication, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub electronic_date: Option<String>,
    /// Such as Journal Article, Review, Retracted Publication.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub publication_types: Vec<Text<'d>>,
    /// Keywords of authors and of others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<Text<'d>>,
    /// MeSH descriptors with their qualifiers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mesh_terms: Vec<MeshTerm<'d>>,
    /// Supplementary concepts: protocols, diseases, organisms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub supplementary_concepts: Vec<Concept<'d>>,
    /// Substances.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chemicals: Vec<Concept<'d>>,
    /// Symbols of genes, from the 1990s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gene_symbols: Vec<Text<'d>>,
    /// People the article is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub personal_name_subjects: Vec<Author<'d>>,
    /// Databanks with data of the article.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data_banks: Vec<DataBank<'d>>,
    /// Grants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grant_list: Vec<Grant<'d>>,
    /// DOI as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<Text<'d>>,
    /// PubMed Central identifier with its prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmcid: Option<Text<'d>>,
    /// The publisher's identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pii: Option<Text<'d>>,
    /// Languages by MARC's codes of three letters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<Text<'d>>,
    /// Corrections, retractions, comments and the like, to and from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments_corrections: Vec<Correction<'d>>,
    /// Cited works.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference<'d>>,
    /// How many works are cited, where NLM counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number_of_references: Option<u64>,
    /// Statement of competing interests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coi_statement: Option<Text<'d>>,
    /// Notes of indexers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Text<'d>>,
    /// Space flights the data come from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub space_flight_missions: Vec<Text<'d>>,
    /// Identifiers of other organisations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_ids: Vec<OtherId<'d>>,
    /// Status of the record, such as MEDLINE, PubMed-not-MEDLINE, In-Process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'d>>,
    /// Status of the publication, such as ppublish, epublish, aheadofprint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publication_status: Option<Text<'d>>,
    /// Points in the publication's history, such as received, revised, accepted; when NCBI's own
    /// databases took it in is left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Event<'d>>,
}

/// One section of an abstract.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Section<'d> {
    /// The label as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Text<'d>>,
    /// NLM's category: BACKGROUND, OBJECTIVE, METHODS, RESULTS, CONCLUSIONS, UNASSIGNED.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nlm_category: Option<Text<'d>>,
    /// The text.
    pub text: Text<'d>,
}

/// An abstract from somebody else, or in another language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct OtherAbstract<'d> {
    /// Whose it is, such as Publisher, NASA, PIP, plain-language-summary.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Text<'d>>,
    /// Language by MARC's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<Text<'d>>,
    /// Its sections.
    pub sections: Vec<Section<'d>>,
}

/// An author, investigator or editor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Author<'d> {
    /// Family name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_name: Option<Text<'d>>,
    /// Given names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_name: Option<Text<'d>>,
    /// Initials of the given names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initials: Option<Text<'d>>,
    /// Such as Jr or 3rd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suffix: Option<Text<'d>>,
    /// Name of a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collective_name: Option<Text<'d>>,
    /// ORCID with hyphens, without its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orcid: Option<Text<'d>>,
    /// Affiliations, this author's own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub affiliations: Vec<Text<'d>>,
}

/// A journal and the place in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct JournalInfo<'d> {
    /// Full title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'d>>,
    /// Abbreviation by ISO 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iso_abbreviation: Option<Text<'d>>,
    /// NLM's abbreviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medline_ta: Option<Text<'d>>,
    /// ISSN of the edition that was indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issn: Option<Text<'d>>,
    /// ISSN that links all editions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issn_linking: Option<Text<'d>>,
    /// NLM's identifier of the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nlm_unique_id: Option<Text<'d>>,
    /// Where it is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<Text<'d>>,
    /// Volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<Text<'d>>,
    /// Issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<Text<'d>>,
    /// Pages as printed, such as 737-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Text<'d>>,
    /// Date of the issue.
    pub publication_date: PublicationDate<'d>,
}

/// The date of an issue or of a book, in the words of the record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PublicationDate<'d> {
    /// Year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<u16>,
    /// Month as written: Mar, or 03.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub month: Option<Text<'d>>,
    /// Day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<u8>,
    /// Season, such as Spring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub season: Option<Text<'d>>,
    /// A date that is no single day, month or year, such as 1998 Dec-1999 Jan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medline_date: Option<Text<'d>>,
}

/// A MeSH descriptor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct MeshTerm<'d> {
    /// Its name.
    pub descriptor_name: Text<'d>,
    /// Its identifier, such as D009369.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ui: Option<Text<'d>>,
    /// Whether the descriptor itself is a main topic; a qualifier can be one without it.
    pub is_major_topic: bool,
    /// Its qualifiers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub qualifiers: Vec<Qualifier<'d>>,
}

/// A MeSH qualifier.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Qualifier<'d> {
    /// Its name.
    pub name: Text<'d>,
    /// Its identifier, such as Q000628.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ui: Option<Text<'d>>,
    /// Whether descriptor and qualifier together are a main topic.
    pub is_major_topic: bool,
}

/// A substance or supplementary concept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Concept<'d> {
    /// Its name.
    pub name: Text<'d>,
    /// Its MeSH identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ui: Option<Text<'d>>,
    /// Its kind, for supplementary concepts.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Text<'d>>,
    /// CAS or EC number, or UNII, for substances that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry_number: Option<Text<'d>>,
}

/// A databank with data of the article.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DataBank<'d> {
    /// Such as ClinicalTrials.gov or GENBANK.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Text<'d>>,
    /// Identifiers there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accession_numbers: Vec<Text<'d>>,
}

/// A grant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Grant<'d> {
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant_id: Option<Text<'d>>,
    /// Acronym of the institute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acronym: Option<Text<'d>>,
    /// Who gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agency: Option<Text<'d>>,
    /// Country of the agency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<Text<'d>>,
}

/// A correction, retraction, comment and the like.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Correction<'d> {
    /// Such as RetractionIn, ErratumFor, CommentOn, UpdateIn; Cites in older records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ref_type: Option<Text<'d>>,
    /// PubMed identifier of the other record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<Text<'d>>,
    /// The other publication as a citation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ref_source: Option<Text<'d>>,
    /// A note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Text<'d>>,
}

/// A cited work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Reference<'d> {
    /// The citation as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation: Option<Text<'d>>,
    /// PubMed identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<Text<'d>>,
    /// DOI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<Text<'d>>,
    /// PubMed Central identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmcid: Option<Text<'d>>,
}

/// An identifier of another organisation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct OtherId<'d> {
    /// Whose it is, such as NASA, KIE, NLM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Text<'d>>,
    /// The identifier.
    pub id: Text<'d>,
}

/// A point in a record's history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Event<'d> {
    /// What happened, such as received, revised, accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'d>>,
    /// When: YYYY-MM-DD.
    pub date: String,
}
