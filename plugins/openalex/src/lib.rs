//! Carrel's OpenAlex plugin: works of OpenAlex's API as bibliographic records.
//!
//! [`tools`] hold one module for each tool, [`formats`] one for each kind of document. [`request`] makes
//! requests, `response` tells results from errors, `record` turns works into the contract's records, and
//! `manifest` describes the plugin.

pub mod formats;
mod manifest;
mod record;
pub mod request;
mod response;
pub mod tools;

use carrel_pdk::{Error, Host, Manifest, Plugin};

/// The plugin.
#[derive(Debug)]
pub struct OpenAlex;

impl Plugin for OpenAlex {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
        tools::call(tool, arguments, host)
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "work" => Ok(formats::works::work(document)?.to_json(document.len())),
            "works" => Ok(formats::works::works(document)?.to_json(document.len())),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(OpenAlex);
