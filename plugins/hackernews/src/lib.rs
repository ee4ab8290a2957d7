//! Carrel's Hacker News plugin: threads as documents, by the API of the site's search.
//!
//! [`item`] reads an answer of the API, `text` the HTML of posts and comments; `manifest` describes the
//! plugin.

pub mod item;
mod manifest;
mod text;

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::{Code, Error, Host, Manifest, Plugin, Request, arguments};
use schemars::JsonSchema;
use serde::Deserialize;

/// The upstream's name in messages.
pub(crate) const SOURCE: &str = "Hacker News";
const ITEMS: &str = "https://hn.algolia.com/api/v1/items";

/// The arguments of `thread`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Number of a post or of a comment.
    #[schemars(range(min = 1))]
    id: u64,
}

/// The plugin.
#[derive(Debug)]
pub struct HackerNews;

impl Plugin for HackerNews {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments_text: &str, host: &dyn Host) -> Result<String, Error> {
        if tool != "thread" {
            return Err(Error::unknown_tool(tool));
        }
        let requested: Wanted = arguments(arguments_text)?;
        let response = host.fetch(Request::get(format!("{ITEMS}/{}", requested.id)))?;
        let thread = answer::read(SOURCE, &response, Asked::ForOne, item::thread)?;
        if thread.document.title.is_none() && thread.document.sections.is_empty() {
            // Of a deleted or dead item the API has the number only.
            let message = format!("{SOURCE}: item {} was deleted, or is dead", requested.id);
            return Err(Error::new(Code::NotFound, message));
        }
        Ok(thread.to_json())
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "item" => Ok(item::thread(document)?.to_json()),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(HackerNews);
