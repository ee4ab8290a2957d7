//! The parser: a page in, JSON or an error out. It makes no requests.

use carrel_pdk::{Error, text};
use schemars::JsonSchema;
use serde::Serialize;

/// What a page says of itself.
#[derive(Serialize, JsonSchema)]
pub struct Title {
    /// On one line.
    title: String,
}

/// The title of a page, as JSON text.
pub fn read(page: &str) -> Result<String, Error> {
    let lower = page.to_ascii_lowercase();
    let missing = || Error::invalid_document("expected a title but found none", 0, "");
    let start = lower.find("<title").and_then(|at| Some(at + lower[at..].find('>')? + 1));
    let start = start.ok_or_else(missing)?;
    let end = lower[start..].find("</title").map(|length| start + length).ok_or_else(missing)?;
    let title = text::collapse(&text::decode_entities(&page[start..end])).into_owned();
    Ok(serde_json::json!(Title { title }).to_string())
}
