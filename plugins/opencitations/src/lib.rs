//! Carrel's OpenCitations plugin: links between citing and cited works.
//!
//! [`formats`] hold one module for each part of a document, and `manifest` describes the plugin.

pub mod formats;
mod manifest;

use carrel_pdk::{Error, Host, Manifest, Plugin};
use formats::links;

/// The plugin.
#[derive(Debug)]
pub struct OpenCitations;

impl Plugin for OpenCitations {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, _arguments: &str, _host: &dyn Host) -> Result<String, Error> {
        Err(Error::unknown_tool(tool))
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            // Both directions come in one shape.
            "citations" | "references" => Ok(links::links(document)?.to_json(document.len())),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(OpenCitations);
