//! Carrel's reader of articles in XML, without tools or network: JATS and its forerunner NLM (format
//! `jats`), and TEI as GROBID writes it (format `tei`), as documents of `contract/v1/document.schema.json`.
//!
//! [`article`] and [`tei`] know the two vocabularies' outlines; [`front`], [`people`] and
//! [`reference`] read metadata, contributors and citations; [`blocks`], [`table`] and [`inline`]
//! read text of both vocabularies, whose element names do not conflict.

mod article;
mod blocks;
mod front;
mod inline;
mod manifest;
mod people;
mod reader;
mod reference;
mod table;
mod tei;

use carrel_pdk::document::Document;
use carrel_pdk::{Error, Host, Manifest, Plugin};

/// The plugin.
#[derive(Debug)]
pub struct Jats;

impl Plugin for Jats {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, _arguments: &str, _host: &dyn Host) -> Result<String, Error> {
        Err(Error::unknown_tool(tool))
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        // Metadata, links and references repeat parts of the text.
        read(format, document).map(|read| read.to_json(document.len()))
    }
}

/// Reads a document in one of the plugin's formats.
///
/// # Errors
///
/// `invalid_document` with a position when it is not well-formed XML or has another root;
/// `too_large` when it has too many elements.
pub fn read(format: &str, document: &str) -> Result<Document, Error> {
    match format {
        "jats" => article::parse(document),
        "tei" => tei::parse(document),
        other => Err(Error::unknown_format(other)),
    }
}

carrel_pdk::plugin!(Jats);
