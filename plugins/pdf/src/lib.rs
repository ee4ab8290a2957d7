//! Carrel's reader of PDF files (format `pdf`), without tools or network, as documents of
//! `contract/v1/document.schema.json`.
//!
//! [`open`] opens a file and iterates over its pages. [`interpret`] reads the text operators of a
//! page's content to glyphs with their positions, with the fonts of [`font`]. [`lines`], [`bidi`],
//! [`tables`], [`blocks`] and [`order`] make lines, blocks and their reading order from them;
//! [`structure`] finds title, headings, captions, notes, references, and running headers;
//! [`metadata`] reads the file's metadata. Images are never decoded.

mod bidi;
mod blocks;
mod bomb;
mod font;
mod geometry;
mod identifiers;
mod interpret;
mod lines;
mod manifest;
mod metadata;
mod open;
mod options;
mod order;
mod prose;
mod references;
mod stream;
mod strings;
mod structure;
mod tables;
mod tags;

use carrel_pdk::document::Document;
use carrel_pdk::{Error, Host, Manifest, Plugin};

/// The plugin.
#[derive(Debug)]
pub struct Pdf;

impl Plugin for Pdf {
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
        match format {
            "pdf" => read(document, options).map(|read| read.to_json(document.len() / 2)),
            other => Err(Error::unknown_format(other)),
        }
    }
}

/// Reads a document; `options` is empty or JSON such as `{"pages": "3-7"}`.
///
/// A document that needs a password, or whose pages cannot be found, has the quality `none`.
///
/// # Errors
///
/// `invalid_document` when the bytes are not a PDF file, `too_large` when it inflates beyond the
/// limit, `invalid_arguments` when the options are invalid.
pub fn read(document: &[u8], options: &str) -> Result<Document, Error> {
    open::read(document, options)
}

carrel_pdk::plugin!(Pdf, bytes);
