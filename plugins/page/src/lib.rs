//! Carrel's reader of web pages, Markdown and plain text, without tools or network, as documents of
//! `contract/v1/document.schema.json`.

mod article;
mod blocks;
mod charset;
mod clear;
mod content;
mod dom;
mod hints;
mod inline;
mod json;
mod kind;
mod math;
mod meta;
mod page;
mod posts;
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

/// Text that may hold tags and entities, as words.
pub(crate) fn plain_words(text: &str) -> String {
    let text = carrel_pdk::text::decode_entities(text);
    let mut out = String::new();
    let mut rest: &str = &text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let tag = &rest[at + 1..];
        let is_tag = tag.starts_with(|one: char| one.is_ascii_alphabetic() || one == '/');
        match tag.find('>').filter(|&end| is_tag && end < 200) {
            Some(end) => {
                out.push(' ');
                rest = &tag[end + 1..];
            }
            None => {
                out.push('<');
                rest = tag;
            }
        }
    }
    out.push_str(rest);
    carrel_pdk::text::collapse(&out).into_owned()
}
