//! Parts that articles and book chapters share: people, abstracts, dates, identifiers, references.

use std::borrow::Cow;

use carrel_pdk::Error;
use carrel_pdk::id::{Doi, Pmcid};
use carrel_pdk::xml::XmlReader;

use crate::formats::article::{
    Article, Author, Event, Grant, OtherAbstract, PublicationDate, Reference, Section, Text,
};

pub(crate) use crate::formats::dates::iso_date;
use crate::formats::updates::Updates;

/// Reads a field that occurs once; the first occurrence counts.
pub(crate) fn once<'d>(field: &mut Option<Text<'d>>, text: Option<Text<'d>>) {
    if field.is_none() {
        *field = text;
    }
}

/// The open element's text, for titles, abstracts and citations: some publishers escape the tags in
/// them, and neither form is text for readers.
pub(crate) fn prose<'d>(xml: &mut XmlReader<'d>) -> Result<Option<Text<'d>>, Error> {
    Ok(match xml.text()? {
        // The raw text, in which an unescaped angle bracket would be a tag.
        Some(Cow::Borrowed(text)) => Some(Cow::Borrowed(text)),
        text => text.and_then(unescaped),
    })
}

/// The text without tags that upstream escaped. Only a text with an end tag has markup: `P<0.001`
/// is text.
pub(crate) fn unescaped(text: Text<'_>) -> Option<Text<'_>> {
    // Fast path: few texts have this byte.
    if !text.contains('<') || !has_end_tag(&text) {
        return Some(text);
    }
    carrel_pdk::text::marked_up(&text).map(|shown| Cow::Owned(shown.into_owned()))
}

/// Whether a text has the beginning of an end tag. `p</=0.05`, the old spelling of "less than or
/// equal" in abstracts, has none.
fn has_end_tag(text: &str) -> bool {
    text.match_indices("</")
        .any(|(at, _)| text.as_bytes().get(at + 2).is_some_and(u8::is_ascii_alphabetic))
}

/// The texts of the open element's children called `name`.
pub(crate) fn texts<'d>(
    xml: &mut XmlReader<'d>,
    name: &str,
    found: &mut Vec<Text<'d>>,
) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        if element.local == name {
            found.extend(xml.text()?);
        } else {
            xml.skip()?;
        }
    }
    Ok(())
}

/// The people of the open list, whatever each is called.
pub(crate) fn authors<'d>(xml: &mut XmlReader<'d>) -> Result<Vec<Author<'d>>, Error> {
    let mut people = Vec::new();
    while let Some(element) = xml.child()? {
        match element.local {
            "Author" | "Investigator" | "PersonalNameSubject" => people.extend(author(xml)?),
            _ => xml.skip()?,
        }
    }
    Ok(people)
}

/// The open author; `None` when there is no name of any kind.
fn author<'d>(xml: &mut XmlReader<'d>) -> Result<Option<Author<'d>>, Error> {
    let mut author = Author::default();
    while let Some(element) = xml.child()? {
        match element.local {
            "LastName" => once(&mut author.last_name, xml.text()?),
            // Records from before 2002 have FirstName and MiddleName.
            "ForeName" | "FirstName" => once(&mut author.first_name, xml.text()?),
            "Initials" => once(&mut author.initials, xml.text()?),
            "Suffix" => once(&mut author.suffix, xml.text()?),
            "CollectiveName" => once(&mut author.collective_name, xml.text()?),
            "Identifier" => {
                let is_orcid = xml
                    .attribute("Source")
                    .is_some_and(|source| source.eq_ignore_ascii_case("orcid"));
                let text = xml.text()?;
                if is_orcid {
                    once(&mut author.orcid, text.as_deref().and_then(orcid));
                }
            }
            "AffiliationInfo" => {
                while let Some(element) = xml.child()? {
                    match element.local {
                        "Affiliation" => author.affiliations.extend(xml.text()?),
                        _ => xml.skip()?,
                    }
                }
            }
            // Before 2015 without the enclosing element.
            "Affiliation" => author.affiliations.extend(xml.text()?),
            _ => xml.skip()?,
        }
    }
    let named = author.last_name.is_some()
        || author.first_name.is_some()
        || author.initials.is_some()
        || author.collective_name.is_some();
    Ok(named.then_some(author))
}

/// An ORCID in any form that publishers send: with or without URL, hyphens and spaces.
fn orcid<'d>(text: &str) -> Option<Text<'d>> {
    let tail = text.rsplit('/').next()?;
    let digits: String = tail
        .chars()
        .filter(|character| character.is_ascii_digit() || matches!(character, 'X' | 'x'))
        .collect::<String>()
        .to_ascii_uppercase();
    let right = digits.len() == 16
        && digits.bytes().take(15).all(|byte| byte.is_ascii_digit())
        && tail.chars().all(|character| {
            character.is_ascii_digit() || matches!(character, 'X' | 'x' | '-' | ' ')
        });
    right.then(|| {
        let part = |from: usize| digits.get(from..from + 4).unwrap_or_default();
        Cow::Owned(format!("{}-{}-{}-{}", part(0), part(4), part(8), part(12)))
    })
}

/// The open `Abstract`.
pub(crate) fn abstract_of<'d>(
    xml: &mut XmlReader<'d>,
    article: &mut Article<'d>,
) -> Result<(), Error> {
    let sections = &mut article.abstract_sections;
    while let Some(element) = xml.child()? {
        match element.local {
            "AbstractText" => sections.extend(section(xml)?),
            "CopyrightInformation" => once(&mut article.copyright, xml.text()?),
            _ => xml.skip()?,
        }
    }
    article.abstract_text = whole(sections);
    Ok(())
}

/// The open `OtherAbstract`.
pub(crate) fn other_abstract<'d>(
    xml: &mut XmlReader<'d>,
) -> Result<Option<OtherAbstract<'d>>, Error> {
    let mut found = OtherAbstract {
        kind: xml.attribute("Type"),
        language: xml.attribute("Language"),
        sections: Vec::new(),
    };
    while let Some(element) = xml.child()? {
        match element.local {
            "AbstractText" => found.sections.extend(section(xml)?),
            _ => xml.skip()?,
        }
    }
    Ok(Some(found).filter(|found| !found.sections.is_empty()))
}

fn section<'d>(xml: &mut XmlReader<'d>) -> Result<Option<Section<'d>>, Error> {
    let (label, nlm_category) = (xml.attribute("Label"), xml.attribute("NlmCategory"));
    Ok(prose(xml)?.map(|text| Section { label, nlm_category, text }))
}

/// The sections as one text, as MEDLINE prints them, without "UNLABELLED", which NLM writes where
/// the article has no label.
fn whole<'d>(sections: &[Section<'d>]) -> Option<Text<'d>> {
    match sections {
        [] => None,
        [Section { label: None, text, .. }] => Some(text.clone()),
        several => {
            let length = several.iter().map(|section| section.text.len() + 24).sum();
            let mut out = String::with_capacity(length);
            for section in several {
                if !out.is_empty() {
                    out.push(' ');
                }
                if let Some(label) = section.label.as_deref().filter(|label| *label != "UNLABELLED")
                {
                    out.push_str(label.trim_end_matches(':'));
                    out.push_str(": ");
                }
                out.push_str(&section.text);
            }
            Some(Cow::Owned(out))
        }
    }
}

/// The open `PubDate`.
pub(crate) fn publication_date<'d>(xml: &mut XmlReader<'d>) -> Result<PublicationDate<'d>, Error> {
    let mut date = PublicationDate::default();
    while let Some(element) = xml.child()? {
        match element.local {
            "Year" => {
                if let Some(text) = xml.text()? {
                    match text.parse() {
                        Ok(year @ ..=9999) => date.year = Some(year),
                        _ => once(&mut date.medline_date, Some(text)),
                    }
                }
            }
            "Month" => once(&mut date.month, xml.text()?),
            "Day" => date.day = xml.text()?.and_then(|text| text.parse().ok()),
            "Season" => once(&mut date.season, xml.text()?),
            "MedlineDate" => once(&mut date.medline_date, xml.text()?),
            _ => xml.skip()?,
        }
    }
    Ok(date)
}

/// The open date of year, month and day.
pub(crate) fn date(xml: &mut XmlReader<'_>) -> Result<Option<String>, Error> {
    Ok(iso_date(&publication_date(xml)?))
}

/// The open `Pagination`: pages as printed, else from the first to the last.
pub(crate) fn pagination<'d>(xml: &mut XmlReader<'d>) -> Result<Option<Text<'d>>, Error> {
    let (mut pages, mut start, mut end) = (None, None, None);
    while let Some(element) = xml.child()? {
        match element.local {
            "MedlinePgn" => once(&mut pages, xml.text()?),
            "StartPage" => once(&mut start, xml.text()?),
            "EndPage" => once(&mut end, xml.text()?),
            _ => xml.skip()?,
        }
    }
    Ok(pages.or(match (start, end) {
        (Some(start), Some(end)) if start != end => Some(Cow::Owned(format!("{start}-{end}"))),
        (start, end) => start.or(end),
    }))
}

/// The open `GrantList`.
pub(crate) fn grants<'d>(xml: &mut XmlReader<'d>, article: &mut Article<'d>) -> Result<(), Error> {
    let list = &mut article.grant_list;
    while let Some(element) = xml.child()? {
        if element.local != "Grant" {
            xml.skip()?;
            continue;
        }
        let mut grant = Grant::default();
        while let Some(element) = xml.child()? {
            match element.local {
                "GrantID" => once(&mut grant.grant_id, known(xml.text()?)),
                "Acronym" => once(&mut grant.acronym, known(xml.text()?)),
                "Agency" => once(&mut grant.agency, known(xml.text()?)),
                "Country" => once(&mut grant.country, known(xml.text()?)),
                _ => xml.skip()?,
            }
        }
        if grant != Grant::default() {
            list.push(grant);
        }
    }
    Ok(())
}

/// The text, unless it is the placeholder for missing values in NLM's data.
fn known(text: Option<Text<'_>>) -> Option<Text<'_>> {
    text.filter(|text| *text != "NULL")
}

/// The open `ReferenceList`, lists inside it included.
pub(crate) fn references<'d>(
    xml: &mut XmlReader<'d>,
    found: &mut Vec<Reference<'d>>,
) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        match element.local {
            "Reference" => {
                let mut reference = Reference::default();
                let mut ids = Ids::default();
                while let Some(element) = xml.child()? {
                    match element.local {
                        "Citation" => once(&mut reference.citation, prose(xml)?),
                        "ArticleIdList" => ids.list(xml)?,
                        _ => xml.skip()?,
                    }
                }
                reference.pmid = ids.pmid;
                reference.doi = ids.listed_doi;
                reference.pmcid = ids.pmcid;
                if reference != Reference::default() {
                    found.push(reference);
                }
            }
            "ReferenceList" => references(xml, found)?,
            _ => xml.skip()?,
        }
    }
    Ok(())
}

/// The open `PubmedData` or `PubmedBookData`.
pub(crate) fn pubmed_data<'d>(
    xml: &mut XmlReader<'d>,
    article: &mut Article<'d>,
    ids: &mut Ids<'d>,
) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        match element.local {
            "History" => {
                while let Some(element) = xml.child()? {
                    if element.local != "PubMedPubDate" {
                        xml.skip()?;
                        continue;
                    }
                    let status = xml.attribute("PubStatus");
                    if matches!(status.as_deref(), Some("entrez" | "pubmed" | "medline")) {
                        xml.skip()?;
                    } else if let Some(date) = date(xml)? {
                        article.history.push(Event { status, date });
                    }
                }
            }
            "PublicationStatus" => once(&mut article.publication_status, xml.text()?),
            "ArticleIdList" => ids.list(xml)?,
            "ReferenceList" => references(xml, &mut article.references)?,
            _ => xml.skip()?,
        }
    }
    Ok(())
}

/// Identifiers in document order, before the choice among them.
#[derive(Debug, Default)]
pub(crate) struct Ids<'d> {
    valid_doi: Option<Text<'d>>,
    any_doi: Option<Text<'d>>,
    pub(crate) listed_doi: Option<Text<'d>>,
    pub(crate) pmid: Option<Text<'d>>,
    pub(crate) pmcid: Option<Text<'d>>,
    pii: Option<Text<'d>>,
    accession: Option<Text<'d>>,
}

impl<'d> Ids<'d> {
    /// The open `ELocationID`.
    pub(crate) fn location(&mut self, xml: &mut XmlReader<'d>) -> Result<(), Error> {
        let valid = xml.attribute("ValidYN").as_deref() != Some("N");
        let kind = xml.attribute("EIdType");
        let text = xml.text()?;
        match kind.as_deref() {
            Some("doi") if valid => once(&mut self.valid_doi, text.and_then(doi)),
            Some("doi") => once(&mut self.any_doi, text.and_then(doi)),
            Some("pii") => once(&mut self.pii, text),
            _ => {}
        }
        Ok(())
    }

    /// The open `ArticleIdList`.
    pub(crate) fn list(&mut self, xml: &mut XmlReader<'d>) -> Result<(), Error> {
        while let Some(element) = xml.child()? {
            if element.local != "ArticleId" {
                xml.skip()?;
                continue;
            }
            let kind = xml.attribute("IdType");
            let text = xml.text()?;
            match kind.as_deref() {
                Some("doi") => once(&mut self.listed_doi, text.and_then(doi)),
                Some("pubmed") => once(&mut self.pmid, text),
                Some("pmc") => once(&mut self.pmcid, text.and_then(pmcid)),
                Some("pii") => once(&mut self.pii, text),
                Some("bookaccession") => once(&mut self.accession, text),
                _ => {}
            }
        }
        Ok(())
    }

    /// Sets the article's identifiers. The DOI is the valid one of the article itself, else any of
    /// the article, else that of the identifier lists.
    fn into_article(self, article: &mut Article<'d>) {
        article.doi = self.valid_doi.or(self.any_doi).or(self.listed_doi);
        article.pmcid = self.pmcid;
        article.pii = self.pii;
        if article.pmid.is_none() {
            article.pmid = self.pmid;
        }
        if let Some(book) = &mut article.book_info {
            book.accession = self.accession;
        }
    }
}

/// Completes an article that has been read: its identifiers and its updates.
pub(crate) fn complete<'d>(article: &mut Article<'d>, ids: Ids<'d>) {
    ids.into_article(article);
    let status = Updates::of(article);
    (article.is_retracted, article.is_of_concern) = (status.is_retracted, status.is_of_concern());
}

/// The text if it is a DOI, without prefix or resolver.
pub(crate) fn doi(text: Text<'_>) -> Option<Text<'_>> {
    let parsed = Doi::parse(&text).ok()?;
    if parsed.as_str() == text { Some(text) } else { Some(Cow::Owned(parsed.as_str().to_owned())) }
}

/// The text when it is an identifier of PubMed Central; a bare number gets its prefix.
pub(crate) fn pmcid(text: Text<'_>) -> Option<Text<'_>> {
    let bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = Pmcid::parse(&if bare { format!("PMC{text}") } else { text.to_string() }).ok()?;
    let shown = parsed.to_string();
    if shown == text { Some(text) } else { Some(Cow::Owned(shown)) }
}

/// A whole number, as NCBI writes counts.
pub(crate) fn count(xml: &mut XmlReader<'_>) -> Result<Option<u64>, Error> {
    let offset = xml.offset();
    let Some(text) = xml.text()? else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        let found = carrel_pdk::text::excerpt(&text);
        xml.error_at(offset, format!("expected a number but found {found:?}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orcids_are_read_in_every_spelling() {
        for text in [
            "0000-0002-1825-009X",
            "https://orcid.org/0000-0002-1825-009X",
            "http://orcid.org/0000-0002-1825-009x",
            "000000021825009X",
            "0000 0002 1825 009X",
        ] {
            assert_eq!(orcid(text).as_deref(), Some("0000-0002-1825-009X"), "{text}");
        }
        for text in
            ["", "0000-0002-1825", "0000-0002-1825-00977", "A-1825-2010", "X000000218250097"]
        {
            assert_eq!(orcid(text), None, "{text}");
        }
    }

    #[test]
    fn identifiers_lose_what_is_put_in_front() {
        assert_eq!(doi("doi:10.5555/A".into()).as_deref(), Some("10.5555/A"));
        assert_eq!(doi("S0140-6736(20)".into()), None);
        assert_eq!(pmcid("1234".into()).as_deref(), Some("PMC1234"));
        assert_eq!(pmcid("PMC1234".into()).as_deref(), Some("PMC1234"));
        assert_eq!(pmcid("none".into()), None);
    }
}
