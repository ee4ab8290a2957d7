//! Carrel's DataCite plugin: DOIs of its REST API as bibliographic records.
//!
//! [`formats`] hold one module for each part of a document, `record` turns resources into the contract's
//! records, `tools` hold one module for each reserved tool, `request` makes requests, and `manifest`
//! describes the plugin.

pub mod formats;
mod manifest;
mod record;
mod request;
mod tools;

use carrel_pdk::{Error, Host, Manifest, Plugin};
use formats::works;

/// The upstream's name in messages.
pub(crate) const SOURCE: &str = "DataCite";

/// The plugin.
#[derive(Debug)]
pub struct DataCite;

impl Plugin for DataCite {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
        match tool {
            "lookup" => tools::lookup::run(arguments, host),
            "role:search" => tools::search::run(arguments, host),
            other => Err(Error::unknown_tool(other)),
        }
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
