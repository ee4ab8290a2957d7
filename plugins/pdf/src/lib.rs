//! Carrel's reader of PDF files (format `pdf`), without tools or network, as documents of
//! `contract/v1/document.schema.json`.

mod bidi;
mod blocks;
mod font;
mod geometry;
mod interpret;
mod lines;
mod open;
mod order;
mod stream;
mod strings;

use carrel_pdk::Error;
use carrel_pdk::document::Document;

/// Reads a document.
///
/// # Errors
///
/// `invalid_document` when it is not a PDF file.
pub fn read(document: &[u8], options: &str) -> Result<Document, Error> {
    open::read(document, options)
}
