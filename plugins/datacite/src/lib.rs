//! Carrel's DataCite plugin: DOIs of its REST API as bibliographic records.
//!
//! [`formats`] hold one module for each part of a document, `record` turns resources into the contract's
//! records, and `manifest` describes the plugin.

pub mod formats;
mod manifest;
mod record;

use carrel_pdk::{Error, Host, Manifest, Plugin};
use formats::works;

/// The plugin.
#[derive(Debug)]
pub struct DataCite;

impl Plugin for DataCite {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, _arguments: &str, _host: &dyn Host) -> Result<String, Error> {
        Err(Error::unknown_tool(tool))
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "doi" => Ok(works::doi(document)?.to_json(document.len())),
            "dois" => Ok(works::dois(document)?.to_json(document.len())),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(DataCite);
