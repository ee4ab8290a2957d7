//! Carrel's Europe PMC plugin: articles of its REST API as bibliographic records.
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
use formats::works;

/// The upstream's name in messages.
pub(crate) const SOURCE: &str = "Europe PMC";

/// The plugin.
#[derive(Debug)]
pub struct EuropePmc;

impl Plugin for EuropePmc {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
        match tool {
            "lookup" | "role:open_copies" => tools::lookup::run(arguments, host),
            "role:search" => tools::search::run(arguments, host),
            "role:full_text" => tools::copies::run(arguments, host),
            "role:references" => tools::linked::run(tools::linked::REFERENCES, arguments, host),
            "role:citations" => tools::linked::run(tools::linked::CITATIONS, arguments, host),
            other => Err(Error::unknown_tool(other)),
        }
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
