//! ESummary, versions 1 and 2.0, → summaries. Pure.
//!
//! ```text
//! eSummaryResult
//!   DocSum…                       version 1
//!     Id, Item… @Name @Type       an Item of type List or Structure holds Items
//!   DocumentSummarySet            version 2.0
//!     DocumentSummary… @uid       Title, Source, PubDate, EPubDate, Authors/Author/Name,
//!                                 ArticleIds/ArticleId (IdType, Value), References/Reference, …
//!       error                     there is no such record
//!   ERROR                         the request failed
//! ```
//!
//! Version 1 has a `DocSum` of named `Item`s, version 2.0 a `DocumentSummary` with elements that
//! the database defines. Records of PubMed, PMC and Bookshelf become summaries of articles; members
//! of other databases are in `fields` by name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use carrel_pdk::Error;
use carrel_pdk::id::{Pmcid, Pmid};
use carrel_pdk::xml::XmlReader;
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::{
    article::{Correction, Text},
    elements::{self, once},
    report,
    updates::{Notice, Updates},
};

/// The summaries of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Summaries<'d> {
    /// Summaries in the document's order.
    pub summaries: Vec<Summary<'d>>,
    /// What NCBI reports of single identifiers.
    pub errors: Vec<String>,
    /// Identifiers without a summary.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_found: Vec<Text<'d>>,
}

/// A record in brief.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Summary<'d> {
    /// PubMed identifier; absent from records of other databases that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<Text<'d>>,
    /// Identifier in the database that was asked.
    pub uid: Text<'d>,
    /// True when it was retracted, with or without a notice on record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_retracted: bool,
    /// True when an expression of concern about it is on record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_of_concern: bool,
    /// Notices about it: retractions, concerns, corrections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updated_by: Vec<Notice<'d>>,
    /// Title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'d>>,
    /// Authors as NCBI prints them: Almeida MC.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<Text<'d>>,
    /// The journal's abbreviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Text<'d>>,
    /// Date of publication in NCBI's words: 2006 Dec 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pub_date: Option<Text<'d>>,
    /// Date of electronic publication, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epub_date: Option<Text<'d>>,
    /// DOI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<Text<'d>>,
    /// PubMed Central identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmcid: Option<Text<'d>>,
    /// Volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<Text<'d>>,
    /// Issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<Text<'d>>,
    /// Pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Text<'d>>,
    /// The journal's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_journal_name: Option<Text<'d>>,
    /// ISSN of the printed edition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issn: Option<Text<'d>>,
    /// ISSN of the electronic edition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub essn: Option<Text<'d>>,
    /// Title of the book that the record is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub book_title: Option<Text<'d>>,
    /// Languages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<Text<'d>>,
    /// Such as Journal Article.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub publication_types: Vec<Text<'d>>,
    /// Citations of it in PubMed Central.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmc_ref_count: Option<u64>,
    /// Status of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_status: Option<Text<'d>>,
    /// What a record that is no article has to say, by upstream's names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<Text<'d>, Vec<Text<'d>>>,
}

/// Reads a document.
///
/// # Errors
///
/// `invalid_document` with a position when it is no `eSummaryResult`; `upstream_error` when it
/// reports that the request failed.
pub fn parse(document: &str) -> Result<Summaries<'_>, Error> {
    let mut xml = XmlReader::new(document, &[]);
    let root = xml.root("an answer of ESummary")?;
    if root.local != "eSummaryResult" {
        return Err(report::unexpected(&mut xml, root, root.local, "eSummaryResult")?);
    }
    let mut found = Summaries::default();
    let mut failed = Vec::new();
    while let Some(element) = xml.child()? {
        match element.local {
            "DocSum" => found.summaries.extend(version_1(&mut xml)?),
            "DocumentSummarySet" => {
                while let Some(element) = xml.child()? {
                    match element.local {
                        "DocumentSummary" => version_2(&mut xml, &mut found)?,
                        _ => xml.skip()?,
                    }
                }
            }
            "ERROR" => failed.extend(xml.text()?.map(Cow::into_owned)),
            _ => xml.skip()?,
        }
    }
    xml.finish()?;
    if !failed.is_empty() && found.summaries.is_empty() {
        return Err(report::error(&failed.join("; ")));
    }
    found.errors.extend(failed);
    Ok(found)
}

/// Elements of version 2.0 that are one text, with any markup.
const TEXTS: [&str; 13] = [
    "Title",
    "Source",
    "PubDate",
    "EPubDate",
    "Volume",
    "Issue",
    "Pages",
    "FullJournalName",
    "ISSN",
    "ESSN",
    "BookTitle",
    "RecordStatus",
    "ELocationID",
];

/// The parts of a record that are read before its kind is known.
#[derive(Default)]
struct Draft<'d> {
    summary: Summary<'d>,
    pubmed: Option<Text<'d>>,
    location: Option<Text<'d>>,
    corrections: Vec<Correction<'d>>,
    is_article: bool,
}

impl<'d> Draft<'d> {
    /// A text of the record. `name` is upstream's.
    fn take(&mut self, around: &'d str, name: &'d str, text: Text<'d>) {
        let summary = &mut self.summary;
        let text = match name {
            "Title" | "BookTitle" => match elements::unescaped(text) {
                Some(text) => text,
                None => return,
            },
            _ => text,
        };
        let field = match name {
            "Title" => &mut summary.title,
            "Source" => &mut summary.source,
            "PubDate" => &mut summary.pub_date,
            "EPubDate" => &mut summary.epub_date,
            "Volume" => &mut summary.volume,
            "Issue" => &mut summary.issue,
            "Pages" => &mut summary.pages,
            "FullJournalName" => &mut summary.full_journal_name,
            "ISSN" => &mut summary.issn,
            "ESSN" => &mut summary.essn,
            "BookTitle" => &mut summary.book_title,
            "RecordStatus" => &mut summary.record_status,
            "ELocationID" => &mut self.location,
            "PmcRefCount" => {
                summary.pmc_ref_count = text.parse().ok();
                return;
            }
            _ => {
                // In lists, the elements' names are only the type of the value.
                let key = match name {
                    "string" | "int" | "flag" | "Date" if !around.is_empty() => around,
                    _ => name,
                };
                summary.fields.entry(Cow::Borrowed(key)).or_default().push(text);
                return;
            }
        };
        once(field, Some(text));
    }

    /// An identifier of the record.
    fn identify(&mut self, kind: &str, value: Text<'d>) {
        match kind.to_ascii_lowercase().as_str() {
            // PMC writes "0" where there is none.
            "pubmed" | "pmid" if Pmid::parse(&value).is_ok() => once(&mut self.pubmed, Some(value)),
            "doi" => once(&mut self.summary.doi, elements::doi(value)),
            "pmc" | "pmcid" => {
                // Also as "pmc-id: PMC1762328;".
                let bare = value.trim_start_matches("pmc-id:").split(';').next().unwrap_or("");
                if let Ok(id) = Pmcid::parse(bare) {
                    once(&mut self.summary.pmcid, Some(Cow::Owned(id.to_string())));
                }
            }
            _ => {}
        }
        self.is_article = true;
    }

    fn finish(mut self, uid: Text<'d>) -> Summary<'d> {
        let mut summary = self.summary;
        let located = |text: &str| {
            text.split_whitespace().map(|part| part.trim_end_matches(['.', ';'])).find_map(|part| {
                carrel_pdk::id::Doi::parse(part).ok().map(|doi| Cow::Owned(doi.to_string()))
            })
        };
        if summary.doi.is_none() {
            summary.doi = self.location.as_deref().and_then(located);
        }
        // Other databases also have a `Source`, without a date of publication.
        self.is_article |= summary.full_journal_name.is_some()
            || summary.source.is_some() && summary.pub_date.is_some();
        if self.is_article {
            summary.fields.clear();
        }
        let types = summary.publication_types.iter().map(AsRef::as_ref);
        let status = Updates::new(types, &self.corrections);
        (summary.is_retracted, summary.is_of_concern) =
            (status.is_retracted, status.is_of_concern());
        summary.updated_by = status.notices;
        // A record of PMC names its PubMed identifier, if it has one. Its own number is not a PMID;
        // neither is that of a record of other databases.
        let of_pmc = summary.pmcid.as_deref().and_then(|id| id.strip_prefix("PMC")) == Some(&*uid);
        let of_pubmed = self.is_article && !of_pmc;
        summary.pmid = self.pubmed.or_else(|| Some(uid.clone()).filter(|_| of_pubmed));
        summary.uid = uid;
        summary
    }
}

/// The open `DocumentSummary`.
fn version_2<'d>(xml: &mut XmlReader<'d>, found: &mut Summaries<'d>) -> Result<(), Error> {
    let uid = xml.attribute("uid");
    let mut draft = Draft::default();
    let mut error = None;
    while let Some(element) = xml.child()? {
        match element.local {
            "error" => once(&mut error, xml.text()?),
            "Authors" => {
                while let Some(element) = xml.child()? {
                    if element.local != "Author" {
                        xml.skip()?;
                        continue;
                    }
                    while let Some(element) = xml.child()? {
                        match element.local {
                            "Name" => draft.summary.authors.extend(xml.text()?),
                            _ => xml.skip()?,
                        }
                    }
                }
            }
            "ArticleIds" => {
                while let Some(element) = xml.child()? {
                    if element.local != "ArticleId" {
                        xml.skip()?;
                        continue;
                    }
                    let (mut kind, mut value) = (None, None);
                    while let Some(element) = xml.child()? {
                        match element.local {
                            "IdType" => once(&mut kind, xml.text()?),
                            "Value" => once(&mut value, xml.text()?),
                            _ => xml.skip()?,
                        }
                    }
                    if let (Some(kind), Some(value)) = (kind, value) {
                        draft.identify(&kind, value);
                    }
                }
            }
            "References" => draft.corrections.extend(references(xml)?),
            "Lang" => xml.leaves(|_, _, text| draft.summary.languages.push(text))?,
            "PubType" => xml.leaves(|_, _, text| draft.summary.publication_types.push(text))?,
            name if TEXTS.contains(&name) => {
                if let Some(text) = xml.text()? {
                    draft.take("", name, text);
                }
            }
            _ => xml.leaves(|around, name, text| draft.take(around, name, text))?,
        }
    }
    match (uid, error) {
        (uid, Some(error)) => {
            found.errors.push(match &uid {
                Some(uid) => format!("{uid}: {error}"),
                None => error.into_owned(),
            });
            found.not_found.extend(uid);
        }
        (Some(uid), None) => found.summaries.push(draft.finish(uid)),
        (None, None) => {}
    }
    Ok(())
}

/// The open `References`: statements of other records about this one, and of this one about them.
fn references<'d>(xml: &mut XmlReader<'d>) -> Result<Vec<Correction<'d>>, Error> {
    let mut found = Vec::new();
    while let Some(element) = xml.child()? {
        if element.local != "Reference" {
            xml.skip()?;
            continue;
        }
        let mut correction = Correction::default();
        while let Some(element) = xml.child()? {
            match element.local {
                "RefType" => once(&mut correction.ref_type, xml.text()?),
                "RefSource" => once(&mut correction.ref_source, xml.text()?),
                "PMID" => once(&mut correction.pmid, xml.text()?),
                _ => xml.skip()?,
            }
        }
        found.push(correction);
    }
    Ok(found)
}

/// The open `DocSum`; `None` when it has no identifier.
fn version_1<'d>(xml: &mut XmlReader<'d>) -> Result<Option<Summary<'d>>, Error> {
    let mut uid = None;
    let mut draft = Draft::default();
    while let Some(element) = xml.child()? {
        match element.local {
            "Id" => once(&mut uid, xml.text()?),
            "Item" => item(xml, "", &mut draft)?,
            _ => xml.skip()?,
        }
    }
    Ok(uid.map(|uid| draft.finish(uid)))
}

/// The open `Item`, in the list or structure called `around`. Recursion is bounded by the reader's
/// depth.
fn item<'d>(xml: &mut XmlReader<'d>, around: &str, draft: &mut Draft<'d>) -> Result<(), Error> {
    let name = xml.attribute("Name").unwrap_or_default();
    if matches!(xml.attribute("Type").as_deref(), Some("List" | "Structure")) {
        while let Some(element) = xml.child()? {
            match element.local {
                "Item" => item(xml, &name, draft)?,
                _ => xml.skip()?,
            }
        }
        return Ok(());
    }
    let Some(text) = xml.text()? else { return Ok(()) };
    match (around, &*name) {
        ("AuthorList", _) => draft.summary.authors.push(text),
        ("LangList", _) => draft.summary.languages.push(text),
        ("PubTypeList", _) => draft.summary.publication_types.push(text),
        ("ArticleIds", kind) => draft.identify(kind, text),
        ("", "DOI") => draft.identify("doi", text),
        ("", _) => match name {
            Cow::Borrowed(name) => draft.take("", name, text),
            Cow::Owned(name) => draft.summary.fields.entry(name.into()).or_default().push(text),
        },
        (around, name) => {
            let key = if matches!(name, "string" | "int" | "flag") { around } else { name };
            let key = Cow::Owned(key.to_owned());
            draft.summary.fields.entry(key).or_default().push(text);
        }
    }
    Ok(())
}
