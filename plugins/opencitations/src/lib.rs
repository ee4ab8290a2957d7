//! Carrel's OpenCitations plugin: links between citing and cited works.
//!
//! [`formats`] hold one module for each part of a document, `tools` the reserved tools, `request` makes
//! requests, and `manifest` describes the plugin.

pub mod formats;
mod manifest;
mod request;
mod tools;

use carrel_pdk::{Error, Host, Manifest, Plugin};
use formats::links;
use tools::linked::Direction;

/// The upstream's name in messages.
pub(crate) const SOURCE: &str = "OpenCitations";

/// The plugin.
#[derive(Debug)]
pub struct OpenCitations;

impl Plugin for OpenCitations {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
        match tool {
            "role:citations" => tools::linked::run(Direction::Citations, arguments, host),
            "role:references" => tools::linked::run(Direction::References, arguments, host),
            other => Err(Error::unknown_tool(other)),
        }
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            // Both directions have one format.
            "citations" | "references" => Ok(links::links(document)?.to_json(document.len())),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(OpenCitations);
