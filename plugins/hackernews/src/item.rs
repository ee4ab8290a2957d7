//! One answer of the API → a thread. Pure.
//!
//! ```text
//! item     {"id", "created_at", "author", "type", "title", "url", "text", "points", "children": [item…]}
//! failure  {"status": 404, "error": TEXT}
//! ```
//!
//! Every member may be null: of a deleted comment all but its number and its children are.

use carrel_pdk::document::thread::{self, Comment, Forum, Post, Thread};
use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, List, Text, object};
use carrel_pdk::{Error, report};

use crate::SOURCE;
use crate::text;

const EXPECTED: &str = "an item of Hacker News";
/// The deepest nesting that is read: 16 levels of comments.
const DEEPEST: usize = 33;
const SITE: &str = "Hacker News";
const PAGES: &str = "https://news.ycombinator.com/item?id=";

object! {
    /// A post or a comment.
    Item {
        "id" => id: Text<'d>,
        "created_at" => created_at: Text<'d>,
        "author" => author: Text<'d>,
        "title" => title: Text<'d>,
        "url" => url: Text<'d>,
        "text" => text: Text<'d>,
        "points" => points: Text<'d>,
        "children" => children: List<Item<'d>>,
        "status" => status: Count,
        "error" => error: Text<'d>,
    }
}

/// Reads an item of the API.
///
/// # Errors
///
/// The API's error report; `invalid_document` for text that is not JSON or is no item.
pub fn thread(source: &str) -> Result<Thread, Error> {
    let (text, missing) = thread::pruned(source, DEEPEST, "\"children\"");
    let item: Item<'_> = document::read(SOURCE, EXPECTED, &text)?;
    if item.id.0.is_none() {
        let words = item.error.0.as_deref().unwrap_or_default();
        if item.status.0.is_some() || !words.is_empty() {
            return Err(report::report(SOURCE, item.status.0, words));
        }
        return Err(document::unexpected(EXPECTED, "an object without an id", source));
    }
    let comments = item.children.0.iter().map(count).sum::<u64>() + missing as u64;
    let author = plain(item.author.0.as_deref());
    let forum = Forum {
        platform: "hackernews".to_owned(),
        upvotes: item.points.0.as_deref().and_then(|points| points.trim().parse().ok()),
        comments: Some(comments),
        date_published: item.created_at.0.as_deref().and_then(thread::day),
        author_name: author.clone(),
    };
    let title = plain(item.title.0.as_deref());
    let post = Post {
        site: SITE,
        title: title.or_else(|| author.map(|author| format!("Comment by {author}"))),
        url: plain(item.url.0.as_deref()).filter(|url| url.starts_with("http")),
        blocks: text::blocks(item.text.0.as_deref().unwrap_or_default()),
        replies: item.children.0.into_iter().map(comment).collect(),
        missing: missing as u64,
        missing_at: Vec::new(),
    };
    Ok(Thread::new(post, forum))
}

fn comment(item: Item<'_>) -> Comment {
    Comment {
        author: plain(item.author.0.as_deref()),
        date: item.created_at.0.as_deref().and_then(thread::day),
        score: None,
        url: item
            .id
            .0
            .as_deref()
            .and_then(|id| id.parse::<u64>().ok())
            .map(|id| format!("{PAGES}{id}")),
        blocks: text::blocks(item.text.0.as_deref().unwrap_or_default()),
        replies: item.children.0.into_iter().map(comment).collect(),
    }
}

fn count(item: &Item<'_>) -> u64 {
    let own = u64::from(item.text.0.as_deref().is_some_and(|text| !text.trim().is_empty()));
    own + item.children.0.iter().map(count).sum::<u64>()
}

fn plain(text: Option<&str>) -> Option<String> {
    let text = carrel_pdk::text::decode_entities(text?);
    carrel_pdk::text::present(&text).map(std::borrow::Cow::into_owned)
}
