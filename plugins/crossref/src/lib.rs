//! Carrel's Crossref plugin: works of Crossref's REST API as bibliographic records.
//!
//! In the order of a call: `arguments` reads what was asked, `query` makes requests of it, `answer`
//! tells results from errors, `document` reads an answer into the types of `item` (whose members may
//! all be missing or odd, see `lenient`), `record` makes records of items, `page` writes them. `call`
//! (works, work), `updates`, `citation` with `compare`, and `lookup` are the tools.

mod answer;
pub mod arguments;
mod call;
pub mod citation;
pub mod compare;
mod document;
mod item;
mod kinds;
mod lenient;
mod lookup;
mod manifest;
pub mod page;
pub mod parse;
mod place;
pub mod query;
mod record;
pub mod updates;

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
            "works" => call::works(arguments, host),
            "work" => call::work(arguments, host),
            "updates" => updates::updates(arguments, host),
            "citation_match" => citation::citation_match(arguments, host),
            "lookup" => lookup::lookup(arguments, host),
            other => Err(Error::unknown_tool(other)),
        }
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "work" => Ok(parse::work(document)?.to_json(document.len())),
            "works" => Ok(parse::works(document)?.to_json(document.len())),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(Crossref);
