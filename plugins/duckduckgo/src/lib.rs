//! Carrel's DuckDuckGo plugin: searches the web.
//!
//! [`request`] makes requests of searches, [`answer`] reads what comes, `manifest` describes the plugin.
//! What all providers share is in `carrel-websearch`.

pub mod answer;
mod manifest;
pub mod request;
mod tags;

use carrel_pdk::{Error, Host, Manifest, Plugin};
use carrel_websearch::provider;

/// The plugin.
#[derive(Debug)]
pub struct DuckDuckGo;

impl Plugin for DuckDuckGo {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
        provider::call(tool, arguments, host, answer::search)
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        provider::parse(format, document, answer::results)
    }
}

carrel_pdk::plugin!(DuckDuckGo);
