//! Carrel's YouTube plugin: the transcript of a video as a document, with times.
//!
//! [`watch`] reads the page of a video, [`timedtext`] a transcript; `document` makes the document,
//! `tracks` chooses among transcripts, `tool` makes the requests, `manifest` describes the plugin.

mod document;
mod manifest;
pub mod timedtext;
mod tool;
mod tracks;
pub mod watch;

use carrel_pdk::{Error, Host, Manifest, Plugin};

/// The upstream's name in messages.
pub(crate) const SOURCE: &str = "YouTube";

/// The plugin.
#[derive(Debug)]
pub struct YouTube;

impl Plugin for YouTube {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error> {
        match tool {
            "transcript" => tool::transcript(arguments, host),
            other => Err(Error::unknown_tool(other)),
        }
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "watch" => Ok(json(&watch::video(document)?)),
            "timedtext" => Ok(json(&timedtext::transcript(document)?)),
            other => Err(Error::unknown_format(other)),
        }
    }
}

/// A result as JSON.
pub(crate) fn json(result: &impl serde::Serialize) -> String {
    serde_json::to_string(result).unwrap_or_default()
}

carrel_pdk::plugin!(YouTube);
