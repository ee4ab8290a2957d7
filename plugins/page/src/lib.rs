//! Carrel's reader of web pages, Markdown and plain text, without tools or network, as documents of
//! `contract/v1/document.schema.json`.

mod article;
mod blocks;
mod charset;
mod content;
mod dom;
mod hints;
mod inline;
mod math;
mod page;
mod table;

use carrel_pdk::Error;
use carrel_pdk::document::Document;

/// What the caller knows of a document beside its bytes.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The charset, or the whole media type, that the answer's header named.
    pub charset: Option<String>,
}

/// Reads a document in one of the plugin's formats.
///
/// # Errors
///
/// `unknown_format` for another format.
pub fn read(format: &str, document: &[u8], options: &Options) -> Result<Document, Error> {
    let decoded = charset::decode(document, options.charset.as_deref(), format == "html");
    match format {
        "html" => page::read(&decoded.text),
        other => Err(Error::unknown_format(other)),
    }
}
