//! Carrel's PubMed plugin: NCBI's E-utilities as tools, and their documents as structured results.
//!
//! `tools` hold one module for each tool, [`formats`] one for each kind of document. `request` makes
//! requests, `response` tells results from errors, [`record`] turns articles into the contract's records, [`cite`]
//! writes citations, and `manifest` describes the plugin.

pub mod cite;
pub mod formats;
mod manifest;
pub mod record;
mod request;
mod response;
mod tools;

use carrel_pdk::{Code, Error, Host, Manifest, Plugin};
use serde::Serialize;

use formats::{
    ecitmatch, efetch, einfo, elink, epost, esearch, espell, esummary, idconv, medline, report,
};

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
            "convert_ids" => tools::convert_ids::run,
            "citation_match" => tools::citation_match::run,
            "spell" => tools::spell::run,
            "mesh" => tools::mesh::run,
            "info" => tools::info::run,
            "lookup" => tools::lookup::run,
            "resource" => tools::resource::run,
            "role:search" => tools::roles::search,
            "role:full_text" => tools::roles::full_text,
            other => return Err(Error::unknown_tool(other)),
        };
        run(arguments, host)
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        // NCBI's gateway reports errors as JSON for every requested format.
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
        "espell" => Ok(to_json(&espell::parse(document)?)),
        "epost" => Ok(to_json(&epost::parse(document)?)),
        "ecitmatch" => Ok(to_json(&ecitmatch::parse(document)?)),
        "medline" => Ok(to_json(&medline::parse(document)?)),
        "idconv" => Ok(to_json(&idconv::parse(document)?)),
        other => Err(Error::unknown_format(other)),
    }
}

/// A result as JSON text.
fn to_json(result: &impl Serialize) -> String {
    // These types have neither maps with non-string keys nor floats, so serialization cannot fail.
    serde_json::to_string(result).unwrap_or_default()
}

carrel_pdk::plugin!(Eutils);
