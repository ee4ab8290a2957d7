//! Books and their chapters (`PubmedBookArticle`): NCBI's Bookshelf in PubMed.
//!
//! ```text
//! PubmedBookArticle
//!   BookDocument
//!     PMID, ArticleIdList, Book, LocationLabel, ArticleTitle, VernacularTitle, Pagination, Language…,
//!     AuthorList…, InvestigatorList, PublicationType…, Abstract, Sections, KeywordList…,
//!     ContributionDate, DateRevised, GrantList, ItemList, ReferenceList
//!       Book        Publisher (PublisherName, PublisherLocation), BookTitle, PubDate, BeginningDate,
//!                   EndingDate, AuthorList…, Volume, VolumeTitle, Edition, CollectionTitle, Isbn…,
//!                   ELocationID…, Medium, ReportNumber
//!       Sections    Section… (LocationLabel, SectionTitle, Section…)
//!   PubmedBookData  as `PubmedData` of an article
//! ```

use carrel_pdk::Error;
use carrel_pdk::xml::XmlReader;
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::{
    article::{Article, Author, PublicationDate, Text},
    elements::{self, Ids, once},
};

/// The book that a record is of, or of a part of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct BookInfo<'d> {
    /// Title of the book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'d>>,
    /// Collection or series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection_title: Option<Text<'d>>,
    /// Authors of the book, where the record is of a chapter with authors of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<Author<'d>>,
    /// Editors of the book.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub editors: Vec<Author<'d>>,
    /// Publisher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<Text<'d>>,
    /// Where the publisher is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher_location: Option<Text<'d>>,
    /// Date of the book.
    pub publication_date: PublicationDate<'d>,
    /// First date of a book that grows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beginning_date: Option<String>,
    /// Last date of a book that grew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending_date: Option<String>,
    /// Date the chapter was contributed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contribution_date: Option<String>,
    /// Date the chapter was last revised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_revised: Option<String>,
    /// Volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<Text<'d>>,
    /// Title of the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_title: Option<Text<'d>>,
    /// Edition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edition: Option<Text<'d>>,
    /// Number of a report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_number: Option<Text<'d>>,
    /// Medium, such as Internet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medium: Option<Text<'d>>,
    /// Pages of the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Text<'d>>,
    /// Where in the book the part is, such as Chapter 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub location_labels: Vec<Text<'d>>,
    /// ISBNs as given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub isbns: Vec<Text<'d>>,
    /// Accession in NCBI's Bookshelf, such as NBK22.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accession: Option<Text<'d>>,
    /// Chapters and sections, outer before inner.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<BookSection<'d>>,
}

/// A chapter or section.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct BookSection<'d> {
    /// Such as Chapter 1, or 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Text<'d>>,
    /// Title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'d>>,
    /// 1 for a chapter of the book, 2 for a section in it, and so on.
    pub level: u32,
}

/// The open `PubmedBookArticle`.
pub(crate) fn article<'d>(xml: &mut XmlReader<'d>) -> Result<Article<'d>, Error> {
    let mut article = Article::default();
    let mut book = BookInfo::default();
    let mut ids = Ids::default();
    while let Some(element) = xml.child()? {
        match element.local {
            "BookDocument" => document(xml, &mut article, &mut book, &mut ids)?,
            "PubmedBookData" => elements::pubmed_data(xml, &mut article, &mut ids)?,
            _ => xml.skip()?,
        }
    }
    if article.title.is_none() {
        article.title.clone_from(&book.title);
    }
    if article.authors.is_empty() {
        article.authors = std::mem::take(&mut book.authors);
    }
    article.issued = elements::iso_date(&book.publication_date);
    article.book_info = Some(book);
    elements::complete(&mut article, ids);
    Ok(article)
}

fn document<'d>(
    xml: &mut XmlReader<'d>,
    article: &mut Article<'d>,
    book: &mut BookInfo<'d>,
    ids: &mut Ids<'d>,
) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        match element.local {
            "PMID" => once(&mut article.pmid, xml.text()?),
            "ArticleIdList" => ids.list(xml)?,
            "Book" => read_book(xml, book, ids)?,
            "LocationLabel" => book.location_labels.extend(xml.text()?),
            "ArticleTitle" => once(&mut article.title, elements::prose(xml)?),
            "VernacularTitle" => once(&mut article.vernacular_title, elements::prose(xml)?),
            "Pagination" => once(&mut book.pages, elements::pagination(xml)?),
            "Language" => article.languages.extend(xml.text()?),
            "AuthorList" => {
                let editors = xml.attribute("Type").as_deref() == Some("editors");
                let people = elements::authors(xml)?;
                if editors { &mut book.editors } else { &mut article.authors }.extend(people);
            }
            "InvestigatorList" => article.investigators.extend(elements::authors(xml)?),
            "PublicationType" => article.publication_types.extend(xml.text()?),
            "Abstract" => elements::abstract_of(xml, article)?,
            "Sections" => sections(xml, 1, &mut book.sections)?,
            "KeywordList" => elements::texts(xml, "Keyword", &mut article.keywords)?,
            "ContributionDate" => book.contribution_date = elements::date(xml)?,
            "DateRevised" => book.date_revised = elements::date(xml)?,
            "GrantList" => elements::grants(xml, article)?,
            "ItemList" => xml.skip()?,
            "ReferenceList" => {
                elements::references(xml, &mut article.references)?;
            }
            _ => xml.skip()?,
        }
    }
    Ok(())
}

fn read_book<'d>(
    xml: &mut XmlReader<'d>,
    book: &mut BookInfo<'d>,
    ids: &mut Ids<'d>,
) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        match element.local {
            "Publisher" => {
                while let Some(element) = xml.child()? {
                    match element.local {
                        "PublisherName" => once(&mut book.publisher, xml.text()?),
                        "PublisherLocation" => once(&mut book.publisher_location, xml.text()?),
                        _ => xml.skip()?,
                    }
                }
            }
            "BookTitle" => once(&mut book.title, elements::prose(xml)?),
            "PubDate" => book.publication_date = elements::publication_date(xml)?,
            "BeginningDate" => book.beginning_date = elements::date(xml)?,
            "EndingDate" => book.ending_date = elements::date(xml)?,
            "AuthorList" => {
                let editors = xml.attribute("Type").as_deref() == Some("editors");
                let people = elements::authors(xml)?;
                if editors { &mut book.editors } else { &mut book.authors }.extend(people);
            }
            "Volume" => once(&mut book.volume, xml.text()?),
            "VolumeTitle" => once(&mut book.volume_title, xml.text()?),
            "Edition" => once(&mut book.edition, xml.text()?),
            "CollectionTitle" => once(&mut book.collection_title, xml.text()?),
            "Isbn" => book.isbns.extend(xml.text()?),
            "ELocationID" => ids.location(xml)?,
            "Medium" => once(&mut book.medium, xml.text()?),
            "ReportNumber" => once(&mut book.report_number, xml.text()?),
            _ => xml.skip()?,
        }
    }
    Ok(())
}

/// The open `Sections` or the sections inside the open `Section`. Recursion is bounded by the
/// reader's depth.
fn sections<'d>(
    xml: &mut XmlReader<'d>,
    level: u32,
    found: &mut Vec<BookSection<'d>>,
) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        if element.local != "Section" {
            xml.skip()?;
            continue;
        }
        let at = found.len();
        found.push(BookSection { level, ..BookSection::default() });
        section(xml, at, found)?;
    }
    Ok(())
}

fn section<'d>(
    xml: &mut XmlReader<'d>,
    at: usize,
    found: &mut Vec<BookSection<'d>>,
) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        match element.local {
            "LocationLabel" => {
                let text = xml.text()?;
                if let Some(section) = found.get_mut(at) {
                    once(&mut section.label, text);
                }
            }
            "SectionTitle" => {
                let text = xml.text()?;
                if let Some(section) = found.get_mut(at) {
                    once(&mut section.title, text);
                }
            }
            "Section" => {
                let level = found.get(at).map_or(1, |section| section.level) + 1;
                let inner = found.len();
                found.push(BookSection { level, ..BookSection::default() });
                section(xml, inner, found)?;
            }
            _ => xml.skip()?,
        }
    }
    Ok(())
}
