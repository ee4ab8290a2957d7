//! Carrel's Reddit plugin: a post with its comments as a document.
//!
//! [`post`] reads an answer of the site, `text` the Markdown of posts and comments; `manifest` describes
//! the plugin.

mod manifest;
pub mod post;
mod text;

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::{Code, Error, Host, Manifest, Plugin, Request, arguments};
use schemars::JsonSchema;
use serde::Deserialize;

/// The upstream's name in messages.
pub(crate) const SOURCE: &str = "Reddit";
const COMMENTS: &str = "https://www.reddit.com/comments";

/// The arguments of `post`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Identifier of the post: the letters and digits behind `comments/` in its address.
    #[schemars(length(min = 1, max = 16))]
    id: String,
}

/// The plugin.
#[derive(Debug)]
pub struct Reddit;

impl Plugin for Reddit {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, arguments_text: &str, host: &dyn Host) -> Result<String, Error> {
        if tool != "post" {
            return Err(Error::unknown_tool(tool));
        }
        let wanted: Wanted = arguments(arguments_text)?;
        if wanted.id.is_empty() || !wanted.id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            let message = "id: expected letters and digits";
            return Err(Error::new(Code::InvalidArguments, message));
        }
        // `raw_json` leaves out a layer of HTML's escapes.
        let url =
            format!("{COMMENTS}/{}.json?raw_json=1&limit=300", wanted.id.to_ascii_lowercase());
        let response = host.fetch(Request::get(url))?;
        Ok(answer::read(SOURCE, &response, Asked::ForOne, post::thread)?.to_json())
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "post" => Ok(post::thread(document)?.to_json()),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(Reddit);
