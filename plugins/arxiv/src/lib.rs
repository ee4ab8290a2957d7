//! Carrel's arXiv plugin: one tool, `query`, and the Atom feeds of arXiv's query API as structured
//! entries (format `feed`) or as bibliographic records (format `works`).
//!
//! In the order of a call: [`arguments`] and [`ids`] read what was asked, [`query`] makes requests of
//! it, [`feed`] reads an answer into the types of [`entry`], [`merge`] makes one page of several
//! answers, [`source`] checks source links, [`call`] strings them together. [`record`] makes
//! records of entries; [`lookup`] is the reserved tool that brings them by identifier.

pub mod arguments;
pub mod call;
pub mod entry;
pub mod feed;
pub mod ids;
mod links;
pub mod lookup;
mod manifest;
pub mod merge;
pub mod query;
pub mod record;
pub mod source;

use carrel_pdk::{Error, Host, Manifest, Plugin};

/// The plugin.
#[derive(Debug)]
pub struct Arxiv;

impl Plugin for Arxiv {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
        match tool {
            "query" => call::query(arguments, host),
            "lookup" => lookup::lookup(arguments, host),
            other => Err(Error::unknown_tool(other)),
        }
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "feed" => Ok(feed::parse(document)?.to_json(document.len())),
            "works" => Ok(record::Works::from(feed::parse(document)?).to_json()),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(Arxiv);
