//! ESearch → identifiers, and what NCBI made of the query. Pure.
//!
//! ```text
//! eSearchResult
//!   Count, RetMax, RetStart, QueryKey, WebEnv
//!   IdList              Id…
//!   TranslationSet      Translation… (From, To)
//!   QueryTranslation
//!   ErrorList           PhraseNotFound…, FieldNotFound…
//!   WarningList         PhraseIgnored…, QuotedPhraseNotFound…, OutputMessage…
//!   ERROR               the request failed
//! ```

use carrel_pdk::Error;
use carrel_pdk::xml::XmlReader;
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::{
    article::Text,
    elements::{self, once},
    report,
};

/// A page of identifiers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Found<'d> {
    /// Matches in all.
    pub count: u64,
    /// Identifiers in this page, as NCBI states it.
    pub retmax: u64,
    /// 0-based index of the first one.
    pub retstart: u64,
    /// The identifiers; of another database when that one was searched.
    pub pmids: Vec<Text<'d>>,
    /// The query as NCBI understood it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_translation: Option<Text<'d>>,
    /// The history session that holds the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_env: Option<Text<'d>>,
    /// The result's number in the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_key: Option<Text<'d>>,
    /// Terms that NCBI replaced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub translations: Vec<Translation<'d>>,
    /// What NCBI left out of the query, or says of the result: the kind, a colon, and the words.
    pub warnings: Vec<String>,
    /// What NCBI did not find or know in the query, likewise.
    pub errors: Vec<String>,
}

/// A term that NCBI replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Translation<'d> {
    /// As it was given.
    pub from: Text<'d>,
    /// What was searched for instead.
    pub to: Text<'d>,
}

impl Found<'_> {
    /// The same with owned strings.
    pub(crate) fn into_owned(self) -> Found<'static> {
        fn own(text: Text<'_>) -> Text<'static> {
            Text::Owned(text.into_owned())
        }
        Found {
            count: self.count,
            retmax: self.retmax,
            retstart: self.retstart,
            pmids: self.pmids.into_iter().map(own).collect(),
            query_translation: self.query_translation.map(own),
            web_env: self.web_env.map(own),
            query_key: self.query_key.map(own),
            translations: self
                .translations
                .into_iter()
                .map(|pair| Translation { from: own(pair.from), to: own(pair.to) })
                .collect(),
            warnings: self.warnings,
            errors: self.errors,
        }
    }
}

/// Reads a document.
///
/// # Errors
///
/// `invalid_document` with a position when it is no `eSearchResult`; `upstream_error` when it
/// reports that the search failed.
pub fn parse(document: &str) -> Result<Found<'_>, Error> {
    let mut xml = XmlReader::new(document, &[]);
    let root = xml.root("an answer of ESearch")?;
    if root.local != "eSearchResult" {
        return Err(report::unexpected(&mut xml, root, root.local, "eSearchResult")?);
    }
    let mut found = Found::default();
    let mut counted = false;
    while let Some(element) = xml.child()? {
        match element.local {
            "Count" => {
                if let Some(count) = elements::count(&mut xml)? {
                    (found.count, counted) = (count, true);
                }
            }
            "RetMax" => found.retmax = elements::count(&mut xml)?.unwrap_or_default(),
            "RetStart" => found.retstart = elements::count(&mut xml)?.unwrap_or_default(),
            "QueryKey" => once(&mut found.query_key, xml.text()?),
            "WebEnv" => once(&mut found.web_env, xml.text()?),
            "IdList" => elements::texts(&mut xml, "Id", &mut found.pmids)?,
            "TranslationSet" => translations(&mut xml, &mut found.translations)?,
            "QueryTranslation" => once(&mut found.query_translation, xml.text()?),
            "ErrorList" => named(&mut xml, &mut found.errors)?,
            "WarningList" => named(&mut xml, &mut found.warnings)?,
            "ERROR" => {
                let words = xml.text()?;
                if let Some(words) = words {
                    return Err(report::error(&words));
                }
            }
            _ => xml.skip()?,
        }
    }
    xml.finish()?;
    if !counted {
        return Err(xml.error("expected a count of matches but found none"));
    }
    Ok(found)
}

fn translations<'d>(
    xml: &mut XmlReader<'d>,
    found: &mut Vec<Translation<'d>>,
) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        if element.local != "Translation" {
            xml.skip()?;
            continue;
        }
        let (mut from, mut to) = (None, None);
        while let Some(element) = xml.child()? {
            match element.local {
                "From" => once(&mut from, xml.text()?),
                "To" => once(&mut to, xml.text()?),
                _ => xml.skip()?,
            }
        }
        if let (Some(from), Some(to)) = (from, to) {
            found.push(Translation { from, to });
        }
    }
    Ok(())
}

/// The children of the open list, each as its kind and its text. `OutputMessage` has only the text.
fn named(xml: &mut XmlReader<'_>, found: &mut Vec<String>) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        let kind = element.local;
        if let Some(words) = xml.text()? {
            found.push(match kind {
                "OutputMessage" => words.into_owned(),
                _ => format!("{kind}: {words}"),
            });
        }
    }
    Ok(())
}
