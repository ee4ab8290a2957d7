//! Carrel's reader of Office documents and books, without tools or network: Word (format `docx`),
//! PowerPoint (`pptx`), OpenDocument text (`odt`) and EPUB (`epub`), as documents of
//! `contract/v1/document.schema.json`.
//!
//! [`zip`] unpacks with bounds, [`package`] knows parts and relations, [`outline`], [`table`] and [`omml`]
//! make sections, grids and formulas; [`docx`], [`pptx`], [`odt`] and [`epub`] know the vocabularies.

mod docx;
mod drawing;
mod epub;
mod manifest;
mod odt;
mod omml;
mod outline;
mod package;
mod pptx;
mod properties;
mod sealed;
mod styles;
mod xhtml;
mod zip;

use carrel_pdk::document::Document;
use carrel_pdk::{Error, Host, Manifest, Plugin, arguments};
use serde::Deserialize;

/// The deepest nesting of blocks; deeper ones are read as one paragraph.
const DEEPEST: u32 = 24;

/// The plugin.
#[derive(Debug)]
pub struct Office;

/// There are no options; others are refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {}

impl Plugin for Office {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, _arguments: &str, _host: &dyn Host) -> Result<String, Error> {
        Err(Error::unknown_tool(tool))
    }

    fn parse(format: &str, _document: &str) -> Result<String, Error> {
        Err(Error::unknown_format(format))
    }

    fn parse_bytes(format: &str, document: &[u8], options: &str) -> Result<String, Error> {
        let Options {} = arguments(options)?;
        read(format, document).map(|read| read.to_json(document.len()))
    }
}

/// Reads a document in one of the plugin's formats.
///
/// # Errors
///
/// `invalid_document` when it is no archive of that format or its main part is not well-formed XML;
/// `too_large` when it inflates beyond the limits.
pub fn read(format: &str, document: &[u8]) -> Result<Document, Error> {
    if !matches!(format, "docx" | "pptx" | "odt" | "epub") {
        return Err(Error::unknown_format(format));
    }
    if let Some(outcome) = sealed::compound(document) {
        return outcome;
    }
    let zip = zip::Zip::open(document)?;
    let mut read = match format {
        "docx" => docx::read(zip),
        "pptx" => pptx::read(zip),
        "odt" => odt::read(zip),
        "epub" => epub::read(zip),
        other => Err(Error::unknown_format(other)),
    }?;
    read.finish();
    Ok(read)
}

carrel_pdk::plugin!(Office, bytes);
