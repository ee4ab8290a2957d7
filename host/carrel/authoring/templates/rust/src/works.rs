//! The parser: a document in, JSON or a positioned error out. It makes no requests.

use carrel_pdk::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page as the source writes it; members that are not declared here are ignored.
#[derive(Deserialize)]
struct Page {
    total: u32,
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    id: String,
    title: String,
    #[serde(default)]
    authors: Vec<String>,
    year: Option<u32>,
}

/// Works that were found.
#[derive(Serialize, JsonSchema)]
pub struct Works {
    /// How many there are in all.
    total_results: u32,
    /// Those of this page.
    works: Vec<Work>,
}

/// One work.
#[derive(Serialize, JsonSchema)]
pub struct Work {
    /// The source's identifier.
    id: String,
    /// On one line.
    title: String,
    /// As the source writes their names.
    authors: Vec<String>,
    /// Of publication; absent when the source does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    year: Option<u32>,
}

/// The works of a page, as JSON text.
pub fn read(document: &str) -> Result<String, Error> {
    let page: Page = serde_json::from_str(document).map_err(|error| wrong(document, &error))?;
    let works = Works {
        total_results: page.total,
        works: page.items.into_iter().map(work).collect(),
    };
    Ok(serde_json::json!(works).to_string())
}

fn work(item: Item) -> Work {
    Work {
        id: item.id,
        title: item.title.split_whitespace().collect::<Vec<_>>().join(" "),
        authors: item.authors,
        year: item.year,
    }
}

/// The place of a fault, in bytes from the document's start.
fn wrong(document: &str, error: &serde_json::Error) -> Error {
    let lines = document.split_inclusive('\n').take(error.line().saturating_sub(1));
    let offset = lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text);
    Error::invalid_document(message, offset as u64, "")
}
