//! Carrel's renderer of documents, without tools or network: reads the JSON of a document of
//! `contract/v1/document.schema.json`, whichever plugin made it, and gives its Markdown (format
//! `document_markdown`) or plain text (`document_text`) with the positions of its headings.
//!
//! The guest kit contains the renderer; this plugin makes it available to the host and to readers
//! that do not use the kit.

use carrel_pdk::document::{Document, render};
use carrel_pdk::json::Writer;
use carrel_pdk::manifest::{Format, Limits};
use carrel_pdk::{Error, Host, Manifest, Plugin, schema};
use schemars::JsonSchema;
use serde::Serialize;

/// The plugin.
#[derive(Debug)]
pub struct Render;

/// What a format returns.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Rendered {
    /// The document as text.
    text: String,
    /// The headings of its sections, in the text's order.
    headings: Vec<Heading>,
}

/// A heading.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Heading {
    /// Label and heading.
    heading: String,
    /// 1 for the outermost.
    level: u32,
    /// What it is above: abstract, body or references.
    part: String,
    /// The first of its characters in the text, counted from 0 in code points.
    start: u64,
}

impl Plugin for Render {
    fn manifest() -> Manifest {
        let mut manifest = Manifest::new(
            "render",
            env!("CARGO_PKG_VERSION"),
            "Shows documents that readers have read as Markdown and as plain text.",
        );
        manifest.title = Some("Documents as text".to_owned());
        // Holds the document and its text.
        manifest.limits = Some(Limits { memory_bytes: Some(512 << 20), ..Limits::default() });
        let format = |name: &str, description: &str| {
            Format::text(name, description, schema::output::<Rendered>())
        };
        manifest.formats = vec![
            format("document_markdown", "A document's JSON, to be shown as Markdown."),
            format("document_text", "A document's JSON, to be shown as plain text."),
        ];
        manifest
    }

    fn call(tool: &str, _arguments: &str, _host: &dyn Host) -> Result<String, Error> {
        Err(Error::unknown_tool(tool))
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "document_markdown" => rendered(document, true),
            "document_text" => rendered(document, false),
            other => Err(Error::unknown_format(other)),
        }
    }
}

fn rendered(json: &str, markdown: bool) -> Result<String, Error> {
    let document: Document = serde_json::from_str(json).map_err(|error| {
        let before: usize =
            json.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let offset = u64::try_from(before + error.column().saturating_sub(1)).unwrap_or_default();
        Error::invalid_document(format!("not the JSON of a document: {error}"), offset, "")
    })?;
    let rendered = document.rendered(markdown);
    drop(document);
    Ok(written(&rendered))
}

fn written(rendered: &render::Rendered) -> String {
    let mut json = Writer::with_capacity(rendered.text.len() + 100 * rendered.headings.len());
    let mut object = json.object();
    object.string("text", &rendered.text);
    object.objects("headings", &rendered.headings, |heading, item| {
        item.string("heading", &heading.text);
        item.number("level", u64::from(heading.level));
        item.string("part", heading.part.as_str());
        item.number("start", u64::try_from(heading.start).unwrap_or(u64::MAX));
    });
    object.end();
    json.finish()
}

carrel_pdk::plugin!(Render);
