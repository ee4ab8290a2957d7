//! Carrel's Semantic Scholar plugin: papers of the Graph API as bibliographic records.
//!
//! [`tools`] hold one module for each tool, [`formats`] one for each kind of document. [`request`] makes
//! requests, `response` tells results from errors, `record` turns papers into the contract's records, and
//! `manifest` describes the plugin.

pub mod formats;
mod manifest;
mod record;
pub mod request;
mod response;
pub mod tools;

use carrel_pdk::{Error, Host, Manifest, Plugin};

use formats::{
    links::{self, Side},
    papers,
};

/// The plugin.
#[derive(Debug)]
pub struct SemanticScholar;

impl Plugin for SemanticScholar {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
        tools::call(tool, arguments, host)
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "paper" => Ok(papers::paper(document)?.to_json(document.len())),
            "papers" => Ok(papers::papers(document)?.to_json(document.len())),
            "citations" => Ok(links::links(Side::Citing, document)?.to_json(document.len())),
            "references" => Ok(links::links(Side::Cited, document)?.to_json(document.len())),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(SemanticScholar);
