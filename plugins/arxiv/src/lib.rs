//! Carrel's arXiv plugin: one tool, `query`, and the Atom feeds of arXiv's query API as structured
//! entries (format `feed`) or as bibliographic records (format `works`).
//!
//! [`tools`] hold one module for each tool, [`formats`] one for each kind of document. [`request`] makes
//! requests, [`response`] reads responses, [`record`] turns entries into the contract's records, and
//! `manifest` describes the plugin.

pub mod formats;
mod manifest;
pub mod record;
pub mod request;
pub mod response;
pub mod tools;

use formats::feed;

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
            "query" => tools::query::run(arguments, host),
            "lookup" => tools::lookup::run(arguments, host),
            "role:search" => tools::roles::search(arguments, host),
            "role:full_text" => tools::roles::full_text(arguments),
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
