//! ESpell → the corrected query. Pure.
//!
//! ```text
//! eSpellResult
//!   Query, CorrectedQuery
//!   SpelledQuery: Replaced | Original, in the order of the query
//!   ERROR, empty unless the request failed
//! ```

use carrel_pdk::Error;
use carrel_pdk::xml::XmlReader;
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::{
    article::Text,
    elements::{once, texts},
    report,
};

/// An answer of ESpell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Spelling<'d> {
    /// The query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<Text<'d>>,
    /// The query with corrections; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_query: Option<Text<'d>>,
    /// The words that were put in.
    pub replaced: Vec<Text<'d>>,
}

/// Reads an answer of ESpell.
///
/// # Errors
///
/// `invalid_document` with a position when it is no `eSpellResult`; `upstream_error` when it
/// reports that the request failed.
pub fn parse(document: &str) -> Result<Spelling<'_>, Error> {
    let mut xml = XmlReader::new(document, &[]);
    let root = xml.root("an answer of ESpell")?;
    if root.local != "eSpellResult" {
        return Err(report::unexpected(&mut xml, root, root.local, "eSpellResult")?);
    }
    let mut found = Spelling::default();
    while let Some(element) = xml.child()? {
        match element.local {
            "Query" => once(&mut found.query, xml.text()?),
            "CorrectedQuery" => once(&mut found.corrected_query, xml.text()?),
            "SpelledQuery" => texts(&mut xml, "Replaced", &mut found.replaced)?,
            // Empty in every successful answer.
            "ERROR" => {
                if let Some(words) = xml.text()? {
                    return Err(report::error(&words));
                }
            }
            _ => xml.skip()?,
        }
    }
    xml.finish()?;
    Ok(found)
}
