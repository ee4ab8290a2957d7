//! Carrel's DOAJ plugin: articles of the Directory of Open Access Journals as bibliographic records.
//!
//! [`formats`] hold one module for each part of a document, `record` turns articles into the contract's
//! records, `tools` hold one module for each reserved tool, `request` makes requests, and `manifest`
//! describes the plugin.

pub mod formats;
mod manifest;
mod record;
mod request;
mod tools;

use carrel_pdk::{Error, Host, Manifest, Plugin};
use formats::articles;

/// The upstream's name in messages.
pub(crate) const SOURCE: &str = "DOAJ";

/// The plugin.
#[derive(Debug)]
pub struct Doaj;

impl Plugin for Doaj {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
        match tool {
            "lookup" | "role:open_copies" => tools::lookup::run(arguments, host),
            "role:search" => tools::search::run(arguments, host),
            other => Err(Error::unknown_tool(other)),
        }
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "articles" => Ok(articles::articles(document)?.to_json(document.len())),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(Doaj);
