//! Carrel's DOAJ plugin: articles of the Directory of Open Access Journals as bibliographic records.
//!
//! [`formats`] hold one module for each part of a document, `record` turns articles into the contract's
//! records, and `manifest` describes the plugin.

pub mod formats;
mod manifest;
mod record;

use carrel_pdk::{Error, Host, Manifest, Plugin};
use formats::articles;

/// The plugin.
#[derive(Debug)]
pub struct Doaj;

impl Plugin for Doaj {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, _arguments: &str, _host: &dyn Host) -> Result<String, Error> {
        Err(Error::unknown_tool(tool))
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "articles" => Ok(articles::articles(document)?.to_json(document.len())),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(Doaj);
