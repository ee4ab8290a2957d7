//! EPost → the history session that identifiers were put into. Pure.
//!
//! ```text
//! ePostResult
//!   QueryKey, WebEnv
//!   InvalidIdList: Id…
//!   ERROR
//! ```

use std::borrow::Cow;

use carrel_pdk::Error;
use carrel_pdk::xml::XmlReader;
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::{
    article::Text,
    elements::{once, texts},
    report,
};

/// An answer of EPost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Posted<'d> {
    /// The history session.
    pub web_env: Text<'d>,
    /// The list's number in it.
    pub query_key: Text<'d>,
    /// Identifiers that NCBI did not take.
    pub invalid: Vec<Text<'d>>,
}

/// Reads an answer of EPost.
///
/// # Errors
///
/// `invalid_document` with a position when it is no `ePostResult`; `upstream_error` when it reports
/// that the request failed.
pub fn parse(document: &str) -> Result<Posted<'_>, Error> {
    let mut xml = XmlReader::new(document, &[]);
    let root = xml.root("an answer of EPost")?;
    if root.local != "ePostResult" {
        return Err(report::unexpected(&mut xml, root, root.local, "ePostResult")?);
    }
    let (mut web_env, mut query_key) = (None, None);
    let mut invalid = Vec::new();
    let mut failed = Vec::new();
    while let Some(element) = xml.child()? {
        match element.local {
            "WebEnv" => once(&mut web_env, xml.text()?),
            "QueryKey" => once(&mut query_key, xml.text()?),
            "InvalidIdList" => texts(&mut xml, "Id", &mut invalid)?,
            "ERROR" => failed.extend(xml.text()?.map(Cow::into_owned)),
            _ => xml.skip()?,
        }
    }
    xml.finish()?;
    match (web_env, query_key) {
        _ if !failed.is_empty() => Err(report::error(&failed.join("; "))),
        (Some(web_env), Some(query_key)) => Ok(Posted { web_env, query_key, invalid }),
        _ => Err(xml.error("expected a history session but found none")),
    }
}
