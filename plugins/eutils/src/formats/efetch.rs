//! EFetch of PubMed → articles. Pure: a document in, records or a positioned error out.
//!
//! ```text
//! PubmedArticleSet | PubmedBookArticleSet
//!   PubmedArticle…
//!     MedlineCitation @Status
//!       PMID
//!       Article
//!         Journal          ISSN, JournalIssue (Volume, Issue, PubDate), Title, ISOAbbreviation
//!         ArticleTitle, VernacularTitle, Pagination, ELocationID…, Language…, ArticleDate…
//!         Abstract         AbstractText… @Label, CopyrightInformation
//!         AuthorList       Author… (LastName, ForeName, Initials, Suffix | CollectiveName,
//!                          Identifier, AffiliationInfo/Affiliation…)
//!         DataBankList, GrantList, PublicationTypeList
//!         Affiliation      until 2014: the first author's
//!       MedlineJournalInfo, ChemicalList, SupplMeshList, MeshHeadingList, KeywordList…,
//!       CommentsCorrectionsList, GeneSymbolList, PersonalNameSubjectList, OtherID…,
//!       OtherAbstract…, InvestigatorList, CoiStatement, GeneralNote…, SpaceFlightMission…
//!     PubmedData           History, PublicationStatus, ArticleIdList, ReferenceList
//!   PubmedBookArticle…     see `book`
//!   DeleteCitation, DeleteDocument    PMID…
//!   error                  one identifier is missing
//!   ERROR                  the request failed
//! ```
//!
//! The document is a `PubmedArticleSet`, a `PubmedBookArticleSet`, or one record by itself. The
//! parser does not depend on the order of elements, and every part of a record may be missing.

use carrel_pdk::Error;
use carrel_pdk::text::excerpt;
use carrel_pdk::xml::XmlReader;

use crate::formats::{
    article::{
        Article, Articles, Concept, Correction, DataBank, JournalInfo, MeshTerm, OtherId,
        Qualifier, Text,
    },
    book,
    elements::{self, Ids, once},
    report,
};

/// Reads a document.
///
/// # Errors
///
/// `invalid_document` with a position when it is not a well-formed set of records; `upstream_error`
/// when it is NCBI's report that the whole request failed, an upper-case `ERROR`.
pub fn parse(document: &str) -> Result<Articles<'_>, Error> {
    read(document).map(|(articles, _)| articles)
}

/// Reads a document and returns, for each article, its range in the document.
///
/// # Errors
///
/// As [`parse`].
pub fn read(document: &str) -> Result<(Articles<'_>, Vec<&str>), Error> {
    let mut xml = XmlReader::new(document, &[]);
    let root = xml.root("a set of PubMed articles")?;
    let mut found = Articles::default();
    let mut sources = Vec::new();
    match root.local {
        "PubmedArticleSet" | "PubmedBookArticleSet" => {
            while let Some(element) = xml.child()? {
                let article = match element.local {
                    "PubmedArticle" => article(&mut xml)?,
                    "MedlineCitation" => lone_citation(&mut xml)?,
                    "PubmedBookArticle" => book::article(&mut xml)?,
                    "DeleteCitation" | "DeleteDocument" => {
                        elements::texts(&mut xml, "PMID", &mut found.deleted)?;
                        continue;
                    }
                    "ERROR" => return Err(report::failure(&mut xml)?),
                    "error" => {
                        missing(&mut xml, &mut found)?;
                        continue;
                    }
                    _ => {
                        xml.skip()?;
                        continue;
                    }
                };
                found.articles.push(article);
                sources.push(&document[element.offset..xml.offset()]);
            }
        }
        "PubmedArticle" => found.articles.push(article(&mut xml)?),
        "PubmedBookArticle" => found.articles.push(book::article(&mut xml)?),
        "MedlineCitation" => found.articles.push(lone_citation(&mut xml)?),
        "pmc-articleset" => pmc(&mut xml, &mut found)?,
        other => return Err(report::unexpected(&mut xml, root, other, "PubmedArticleSet")?),
    }
    if sources.is_empty() && found.articles.len() == 1 {
        sources.push(&document[root.offset..xml.offset()]);
    }
    xml.finish()?;
    Ok((found, sources))
}

/// Reads the open lower-case `error`: one identifier is missing; the rest of the document is valid.
fn missing<'d>(xml: &mut XmlReader<'d>, found: &mut Articles<'d>) -> Result<(), Error> {
    let id = xml.attribute("id").or_else(|| xml.attribute("Id"));
    let text = xml.text()?;
    let words = text.as_deref().unwrap_or("not available");
    found.errors.push(match &id {
        Some(id) => format!("{id}: {words}"),
        None => words.to_owned(),
    });
    found.not_found.extend(id);
    Ok(())
}

/// The open set of PubMed Central. Its articles are full texts, which are another format; only its
/// list of missing articles is read.
fn pmc<'d>(xml: &mut XmlReader<'d>, found: &mut Articles<'d>) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        match element.local {
            "error" => missing(xml, found)?,
            "Reply" => {
                let words = xml.attribute("error");
                let id = xml.attribute("Id").or_else(|| xml.attribute("id"));
                xml.skip()?;
                if let (Some(id), Some(words)) = (id, words) {
                    found.errors.push(format!("{id}: {words}"));
                    found.not_found.push(id);
                }
            }
            "ERROR" => return Err(report::failure(xml)?),
            other => {
                let other = excerpt(other);
                let message = format!("expected records of PubMed but found <{other}> of PMC");
                return Err(xml.error_at(element.offset, message));
            }
        }
    }
    Ok(())
}

/// The open `PubmedArticle`.
fn article<'d>(xml: &mut XmlReader<'d>) -> Result<Article<'d>, Error> {
    let mut article = Article::default();
    let mut ids = Ids::default();
    while let Some(element) = xml.child()? {
        match element.local {
            "MedlineCitation" => citation(xml, &mut article, &mut ids)?,
            "PubmedData" => elements::pubmed_data(xml, &mut article, &mut ids)?,
            _ => xml.skip()?,
        }
    }
    elements::complete(&mut article, ids);
    Ok(article)
}

/// The open `MedlineCitation` as the root element, as in old MEDLINE files.
fn lone_citation<'d>(xml: &mut XmlReader<'d>) -> Result<Article<'d>, Error> {
    let mut article = Article::default();
    let mut ids = Ids::default();
    citation(xml, &mut article, &mut ids)?;
    elements::complete(&mut article, ids);
    Ok(article)
}

/// The open `MedlineCitation`.
fn citation<'d>(
    xml: &mut XmlReader<'d>,
    article: &mut Article<'d>,
    ids: &mut Ids<'d>,
) -> Result<(), Error> {
    article.status = xml.attribute("Status");
    let mut journal = article.journal_info.take().unwrap_or_default();
    while let Some(element) = xml.child()? {
        match element.local {
            "PMID" => once(&mut article.pmid, xml.text()?),
            "Article" => core(xml, article, &mut journal, ids)?,
            "MedlineJournalInfo" => {
                while let Some(element) = xml.child()? {
                    match element.local {
                        "Country" => once(&mut journal.country, xml.text()?),
                        "MedlineTA" => once(&mut journal.medline_ta, xml.text()?),
                        "NlmUniqueID" => once(&mut journal.nlm_unique_id, xml.text()?),
                        "ISSNLinking" => once(&mut journal.issn_linking, xml.text()?),
                        _ => xml.skip()?,
                    }
                }
            }
            "ChemicalList" => chemicals(xml, article)?,
            "SupplMeshList" => supplementary(xml, article)?,
            "CommentsCorrectionsList" => corrections(xml, article)?,
            "GeneSymbolList" => elements::texts(xml, "GeneSymbol", &mut article.gene_symbols)?,
            "MeshHeadingList" => mesh(xml, &mut article.mesh_terms)?,
            "NumberOfReferences" => article.number_of_references = lenient_count(xml)?,
            "PersonalNameSubjectList" => {
                article.personal_name_subjects.extend(elements::authors(xml)?);
            }
            "OtherID" => {
                let source = xml.attribute("Source");
                article.other_ids.extend(xml.text()?.map(|id| OtherId { source, id }));
            }
            "OtherAbstract" => article.other_abstracts.extend(elements::other_abstract(xml)?),
            "KeywordList" => elements::texts(xml, "Keyword", &mut article.keywords)?,
            "CoiStatement" => once(&mut article.coi_statement, xml.text()?),
            "SpaceFlightMission" => article.space_flight_missions.extend(xml.text()?),
            "InvestigatorList" => article.investigators.extend(elements::authors(xml)?),
            "GeneralNote" => article.notes.extend(xml.text()?),
            _ => xml.skip()?,
        }
    }
    article.issued = elements::iso_date(&journal.publication_date);
    article.journal_info = Some(journal);
    Ok(())
}

/// The open `Article`.
fn core<'d>(
    xml: &mut XmlReader<'d>,
    article: &mut Article<'d>,
    journal: &mut JournalInfo<'d>,
    ids: &mut Ids<'d>,
) -> Result<(), Error> {
    let mut affiliations = Vec::new();
    while let Some(element) = xml.child()? {
        match element.local {
            "Journal" => read_journal(xml, journal)?,
            "ArticleTitle" => once(&mut article.title, elements::prose(xml)?),
            "VernacularTitle" => once(&mut article.vernacular_title, elements::prose(xml)?),
            "Pagination" => once(&mut journal.pages, elements::pagination(xml)?),
            "ELocationID" => ids.location(xml)?,
            "Abstract" => elements::abstract_of(xml, article)?,
            "AuthorList" => {
                if xml.attribute("CompleteYN").as_deref() == Some("N") {
                    article.authors_complete = Some(false);
                }
                article.authors.extend(elements::authors(xml)?);
            }
            "Language" => article.languages.extend(xml.text()?),
            "DataBankList" => data_banks(xml, article)?,
            "GrantList" => elements::grants(xml, article)?,
            "PublicationTypeList" => {
                elements::texts(xml, "PublicationType", &mut article.publication_types)?;
            }
            "ArticleDate" => {
                let date = elements::date(xml)?;
                if article.electronic_date.is_none() {
                    article.electronic_date = date;
                }
            }
            // PubMed's form until 2014, before the list.
            "Affiliation" => affiliations.extend(xml.text()?),
            _ => xml.skip()?,
        }
    }
    if let Some(author) = article.authors.first_mut() {
        author.affiliations.extend(affiliations);
    }
    Ok(())
}

fn read_journal<'d>(xml: &mut XmlReader<'d>, journal: &mut JournalInfo<'d>) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        match element.local {
            "ISSN" => once(&mut journal.issn, xml.text()?),
            "Title" => once(&mut journal.title, xml.text()?),
            "ISOAbbreviation" => once(&mut journal.iso_abbreviation, xml.text()?),
            "JournalIssue" => {
                while let Some(element) = xml.child()? {
                    match element.local {
                        "Volume" => once(&mut journal.volume, xml.text()?),
                        "Issue" => once(&mut journal.issue, xml.text()?),
                        "PubDate" => journal.publication_date = elements::publication_date(xml)?,
                        _ => xml.skip()?,
                    }
                }
            }
            _ => xml.skip()?,
        }
    }
    Ok(())
}

/// Whether an attribute is `Y`.
fn is_yes(xml: &XmlReader<'_>, name: &str) -> bool {
    xml.attribute(name).as_deref() == Some("Y")
}

fn mesh<'d>(xml: &mut XmlReader<'d>, terms: &mut Vec<MeshTerm<'d>>) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        if element.local != "MeshHeading" {
            xml.skip()?;
            continue;
        }
        let mut descriptor = None;
        let mut term = MeshTerm::default();
        while let Some(element) = xml.child()? {
            let (ui, is_major_topic) = (xml.attribute("UI"), is_yes(xml, "MajorTopicYN"));
            match element.local {
                "DescriptorName" => {
                    (term.ui, term.is_major_topic) = (ui, is_major_topic);
                    once(&mut descriptor, xml.text()?);
                }
                "QualifierName" => {
                    if let Some(name) = xml.text()? {
                        term.qualifiers.push(Qualifier { name, ui, is_major_topic });
                    }
                }
                _ => xml.skip()?,
            }
        }
        if let Some(name) = descriptor {
            term.descriptor_name = name;
            terms.push(term);
        }
    }
    Ok(())
}

fn chemicals<'d>(xml: &mut XmlReader<'d>, article: &mut Article<'d>) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        if element.local != "Chemical" {
            xml.skip()?;
            continue;
        }
        let (mut name, mut ui, mut number) = (None, None, None);
        while let Some(element) = xml.child()? {
            match element.local {
                // NLM writes "0" where there is no number.
                "RegistryNumber" => number = xml.text()?.filter(|number| *number != "0"),
                "NameOfSubstance" => {
                    ui = xml.attribute("UI");
                    once(&mut name, xml.text()?);
                }
                _ => xml.skip()?,
            }
        }
        let concept = |name| Concept { name, ui, kind: None, registry_number: number };
        article.chemicals.extend(name.map(concept));
    }
    Ok(())
}

fn supplementary<'d>(xml: &mut XmlReader<'d>, article: &mut Article<'d>) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        if element.local != "SupplMeshName" {
            xml.skip()?;
            continue;
        }
        let (ui, kind) = (xml.attribute("UI"), xml.attribute("Type"));
        let concept = |name| Concept { name, ui, kind, registry_number: None };
        article.supplementary_concepts.extend(xml.text()?.map(concept));
    }
    Ok(())
}

fn corrections<'d>(xml: &mut XmlReader<'d>, article: &mut Article<'d>) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        if element.local != "CommentsCorrections" {
            xml.skip()?;
            continue;
        }
        let mut correction =
            Correction { ref_type: xml.attribute("RefType"), ..Correction::default() };
        while let Some(element) = xml.child()? {
            match element.local {
                "PMID" => once(&mut correction.pmid, xml.text()?),
                "RefSource" => once(&mut correction.ref_source, xml.text()?),
                "Note" => once(&mut correction.note, xml.text()?),
                _ => xml.skip()?,
            }
        }
        if correction != Correction::default() {
            article.comments_corrections.push(correction);
        }
    }
    Ok(())
}

fn data_banks<'d>(xml: &mut XmlReader<'d>, article: &mut Article<'d>) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        if element.local != "DataBank" {
            xml.skip()?;
            continue;
        }
        let mut bank = DataBank::default();
        while let Some(element) = xml.child()? {
            match element.local {
                "DataBankName" => once(&mut bank.name, xml.text()?),
                "AccessionNumberList" => {
                    elements::texts(xml, "AccessionNumber", &mut bank.accession_numbers)?;
                }
                _ => xml.skip()?,
            }
        }
        if bank != DataBank::default() {
            article.data_banks.push(bank);
        }
    }
    Ok(())
}

/// A count, typed by indexers, so it may not be a number.
fn lenient_count(xml: &mut XmlReader<'_>) -> Result<Option<u64>, Error> {
    Ok(xml.text()?.and_then(|text: Text<'_>| text.parse().ok()))
}
