//! Carrel's PubMed plugin: NCBI's E-utilities as tools, and their documents as structured results.
//!
//! Each document has a file of its own that reads it: [`efetch`] (with [`book`]) into the types of
//! [`article`], [`esearch`], [`esummary`], [`elink`], [`einfo`], [`citmatch`], [`medline`], [`idconv`],
//! and the short ones in [`small`]. [`fate`] tells what became of an article, [`record`] makes
//! bibliographic records of articles, [`cite`] citations. A tool, in `tools`, makes requests with `ask`, which also knows the answers that have to
//! be asked for again.

pub mod article;
mod ask;
pub mod book;
pub mod cite;
pub mod citmatch;
mod dates;
pub mod efetch;
pub mod einfo;
pub mod elink;
pub mod esearch;
pub mod esummary;
pub mod fate;
pub mod idconv;
mod manifest;
pub mod medline;
mod parts;
pub mod record;
mod report;
mod resolve;
pub mod small;
mod tools;
mod write;

use carrel_pdk::{Code, Error, Host, Manifest, Plugin};
use serde::Serialize;

/// The plugin.
#[derive(Debug)]
pub struct Eutils;

impl Plugin for Eutils {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
        let run = match tool {
            "search" => tools::search::run,
            "fetch" => tools::fetch::run,
            "related" => tools::related::run,
            "convert_ids" => tools::convert::run,
            "citation_match" => tools::citations::run,
            "spell" => tools::spell::run,
            "mesh" => tools::mesh::run,
            "info" => tools::info::run,
            "lookup" => tools::lookup::run,
            "resource" => tools::resource::run,
            other => return Err(Error::unknown_tool(other)),
        };
        run(arguments, host)
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        // NCBI's gateway reports in JSON whatever was asked for.
        read(format, document).map_err(|error| match error.code {
            Code::InvalidDocument => report::gateway(document).unwrap_or(error),
            _ => error,
        })
    }
}

fn read(format: &str, document: &str) -> Result<String, Error> {
    match format {
        "efetch" => Ok(efetch::parse(document)?.to_json(document.len())),
        "works" => Ok(to_json(&record::Works::from(efetch::parse(document)?))),
        "esearch" => Ok(to_json(&esearch::parse(document)?)),
        "esummary" => Ok(to_json(&esummary::parse(document)?)),
        "elink" => Ok(to_json(&elink::parse(document)?)),
        "einfo" => Ok(to_json(&einfo::parse(document)?)),
        "espell" => Ok(to_json(&small::spelling(document)?)),
        "epost" => Ok(to_json(&small::posted(document)?)),
        "ecitmatch" => Ok(to_json(&citmatch::parse(document)?)),
        "medline" => Ok(to_json(&medline::parse(document)?)),
        "idconv" => Ok(to_json(&idconv::parse(document)?)),
        other => Err(Error::unknown_format(other)),
    }
}

/// A result as JSON text.
fn to_json(result: &impl Serialize) -> String {
    // No maps with odd keys and no floats are in these types, so there is nothing to fail.
    serde_json::to_string(result).unwrap_or_default()
}

carrel_pdk::plugin!(Eutils);
