//! Carrel's Crossref plugin: works of Crossref's REST API as bibliographic records.
//!
//! [`tools`] hold one module for each tool, [`formats`] one for each kind of document. [`request`] makes
//! requests, `response` tells results from errors, `record` turns items into the contract's records,
//! and `manifest` describes the plugin.

pub mod formats;
mod manifest;
mod record;
pub mod request;
mod response;
pub mod tools;

use formats::works;
use tools::{citation_match, lookup, updates};

use carrel_pdk::{Error, Host, Manifest, Plugin};

/// The plugin.
#[derive(Debug)]
pub struct Crossref;

impl Plugin for Crossref {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
        match tool {
            "works" => tools::works::works(arguments, host),
            "work" => tools::works::work(arguments, host),
            "updates" => updates::run(arguments, host),
            "citation_match" => citation_match::run(arguments, host),
            "lookup" => lookup::run(arguments, host),
            "role:search" => tools::roles::search(arguments, host),
            "role:open_copies" => tools::roles::open_copies(arguments, host),
            "role:references" => tools::roles::references(arguments, host),
            other => Err(Error::unknown_tool(other)),
        }
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "work" => Ok(works::work(document)?.to_json(document.len())),
            "works" => Ok(works::works(document)?.to_json(document.len())),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(Crossref);
