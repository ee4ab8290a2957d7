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
    /// Identifier of the post: the letters and digits behind `comments/` in its address. Behind a
    /// slash that of a comment, which is then read with its replies.
    #[schemars(length(min = 1, max = 33))]
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
        let requested: Wanted = arguments(arguments_text)?;
        let (id, comment) = requested
            .id
            .split_once('/')
            .map_or((&*requested.id, None), |(id, comment)| (id, Some(comment)));
        if !post::is_id(id) || !comment.is_none_or(post::is_id) {
            let message = "id: expected letters and digits, perhaps a slash and those of a comment";
            return Err(Error::new(Code::InvalidArguments, message));
        }
        // `raw_json` leaves out a layer of HTML's escapes.
        let path = match comment {
            Some(comment) => format!("{id}/comment/{comment}"),
            None => id.to_owned(),
        };
        let url = format!("{COMMENTS}/{}.json?raw_json=1&limit=300", path.to_ascii_lowercase());
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
