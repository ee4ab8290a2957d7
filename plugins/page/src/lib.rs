//! Carrel's reader of web pages, Markdown and plain text, without tools or network, as documents of
//! `contract/v1/document.schema.json`.
//!
//! A page is decoded ([`charset`]), parsed ([`tokenizer`], [`parser`], [`dom`]) and classified
//! ([`kind`]). Several extractors find its text ([`article`], [`clear`], [`posts`]), [`content`]
//! chooses one result, which is written as blocks ([`blocks`], [`inline`], [`table`], [`math`]).
//! [`meta`] reads metadata from its tags, by the names of [`vocabulary`].

mod ancestry;
mod article;
mod blocks;
mod charset;
mod clear;
mod colours;
mod content;
mod dom;
mod ending;
mod entities;
mod flat;
mod hints;
mod inline;
mod json;
mod kind;
mod latexml;
mod manifest;
mod markdown;
mod math;
mod measure;
mod media;
mod meta;
mod needles;
mod page;
mod parser;
mod plain;
mod posts;
mod references;
mod seen;
mod selectors;
mod styles;
mod stylesheet;
mod table;
mod tokenizer;
mod vocabulary;

use carrel_pdk::document::{Document, Metadatum};
use carrel_pdk::{Error, Host, Manifest, Plugin, arguments};
use serde::Deserialize;

/// The plugin.
#[derive(Debug)]
pub struct Page;

/// Options: what the caller knows about a document besides its bytes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The charset, or the whole media type, of the response header.
    pub charset: Option<String>,
}

impl Plugin for Page {
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
        let options: Options = arguments(options)?;
        read(format, document, &options).map(|read| read.to_json(document.len() / 4))
    }
}

/// Reads a document in one of the plugin's formats.
///
/// # Errors
///
/// `unknown_format` for another format; `too_large` when a page has too many elements.
pub fn read(format: &str, document: &[u8], options: &Options) -> Result<Document, Error> {
    if !matches!(format, "html" | "markdown" | "text") {
        return Err(Error::unknown_format(format));
    }
    let decoded = charset::decode(document, options.charset.as_deref(), format == "html");
    let text = &decoded.text;
    let mut read = match format {
        "html" => page::read(text)?,
        "markdown" => markdown::read(text),
        _ => plain::read(text),
    };
    // Before the charset statement is added, which is not content.
    read.finish();
    if decoded.charset != "UTF-8" {
        read.metadata.push(Metadatum {
            name: "charset".to_owned(),
            value: decoded.charset.to_owned(),
            from: decoded.from.to_owned(),
            ..Metadatum::default()
        });
    }
    if decoded.damaged {
        let message =
            format!("some bytes are not {}: they are replacement characters", decoded.charset);
        read.warn("undecodable_bytes", message, Some(decoded.from.to_owned()));
    }
    Ok(read)
}

/// Text without its tags, entities decoded.
pub(crate) fn plain_words(text: &str) -> String {
    let text = carrel_pdk::text::decode_entities(text);
    let mut out = String::new();
    let mut rest: &str = &text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let tag = &rest[at + 1..];
        let is_tag = tag.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/');
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

carrel_pdk::plugin!(Page, bytes);
