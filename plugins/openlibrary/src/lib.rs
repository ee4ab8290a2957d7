//! Carrel's Open Library plugin: books by ISBN as bibliographic records.
//!
//! [`formats`] hold one module for each part of a document, `record` turns books into the contract's
//! records, `names` divides authors' names, `dates` reads dates of publication, `tools` has the reserved
//! tool, `request` makes requests, and `manifest` describes the plugin.

mod dates;
pub mod formats;
mod manifest;
mod names;
mod record;
mod request;
mod tools;

use carrel_pdk::{Error, Host, Manifest, Plugin};
use formats::books;

/// The upstream's name in messages.
pub(crate) const SOURCE: &str = "Open Library";

/// The plugin.
#[derive(Debug)]
pub struct OpenLibrary;

impl Plugin for OpenLibrary {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
        match tool {
            "lookup" => tools::lookup::run(arguments, host),
            other => Err(Error::unknown_tool(other)),
        }
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "books" => Ok(books::books(document)?.to_json(document.len())),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(OpenLibrary);
