//! Carrel's Europe PMC plugin: articles of its REST API as bibliographic records.
//!
//! [`formats`] hold one module for each part of a document, `record` turns articles into the contract's
//! records, and `manifest` describes the plugin.

pub mod formats;
mod manifest;
mod record;

use carrel_pdk::{Error, Host, Manifest, Plugin};
use formats::works;

/// The plugin.
#[derive(Debug)]
pub struct EuropePmc;

impl Plugin for EuropePmc {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, _arguments: &str, _host: &dyn Host) -> Result<String, Error> {
        Err(Error::unknown_tool(tool))
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        let read = match format {
            "search" => works::search,
            "citations" => works::citations,
            "references" => works::references,
            other => return Err(Error::unknown_format(other)),
        };
        Ok(read(document)?.to_json(document.len()))
    }
}

carrel_pdk::plugin!(EuropePmc);
