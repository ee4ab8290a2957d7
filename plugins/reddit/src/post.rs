//! One answer of the site → a thread. Pure.
//!
//! ```text
//! answer   [listing of one post, listing of comments]
//! listing  {"kind": "Listing", "data": {"children": [{"kind": KIND, "data": {…}}…]}}
//! KIND     t3 (a post), t1 (a comment), more (comments that were not sent)
//! failure  {"error": 403, "message": TEXT, "reason": "private"}
//! ```
//!
//! `replies` of a comment is a listing, or an empty text.

use carrel_pdk::document::thread::{self, Comment, Forum, MOST_ADDRESSES, Post, Thread};
use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, Flag, List, Object, Text, deserialize_object, object};
use carrel_pdk::{Error, report};
use serde::de::{MapAccess, SeqAccess};

use crate::SOURCE;
use crate::text;

const EXPECTED: &str = "a post of Reddit";
const PAGES: &str = "https://www.reddit.com/comments";
/// The deepest nesting that is read: ten levels of comments, as many as the site sends.
const DEEPEST: usize = 54;

object! {
    /// A list of things.
    Listing {
        "data" => data: Children<'d>,
    }
}

object! {
    /// The members of a list.
    Children {
        "children" => children: List<Thing<'d>>,
    }
}

object! {
    /// A thing and its kind.
    Thing {
        "kind" => kind: Text<'d>,
        "data" => data: Data<'d>,
    }
}

object! {
    /// A post, a comment, or comments that were not sent.
    Data {
        "author" => author: Text<'d>,
        "title" => title: Text<'d>,
        "selftext" => selftext: Text<'d>,
        "body" => body: Text<'d>,
        "url" => url: Text<'d>,
        "is_self" => is_self: Flag,
        "score" => score: Text<'d>,
        "score_hidden" => score_hidden: Flag,
        "num_comments" => num_comments: Count,
        "created_utc" => created_utc: Text<'d>,
        "subreddit_name_prefixed" => subreddit: Text<'d>,
        "replies" => replies: Listing<'d>,
        "count" => count: Count,
        "id" => id: Text<'d>,
        "parent_id" => parent: Text<'d>,
        "children" => children: List<Text<'d>>,
    }
}

/// An answer: its lists, or a report.
#[derive(Debug, Default)]
struct Answer<'d> {
    lists: Vec<Listing<'d>>,
    error: Count,
    message: Text<'d>,
    reason: Text<'d>,
}

impl<'d> Object<'d> for Answer<'d> {
    fn member<A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "error" => self.error = map.next_value()?,
            "message" => self.message = map.next_value()?,
            "reason" => self.reason = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn from_list<A: SeqAccess<'d>>(mut list: A) -> Result<Self, A::Error> {
        let mut lists = Vec::new();
        while let Some(next) = list.next_element()? {
            lists.push(next);
        }
        Ok(Self { lists, ..Self::default() })
    }
}

deserialize_object!(Answer);

/// Reads a post and its comments.
///
/// # Errors
///
/// The site's error report; `invalid_document` for text that is not JSON or has no post.
pub fn thread(source: &str) -> Result<Thread, Error> {
    let (text, deep) = thread::pruned(source, DEEPEST, "\"body\"");
    let answer: Answer<'_> = document::read(SOURCE, EXPECTED, &text)?;
    let words = |text: &Text<'_>| text.0.as_deref().unwrap_or_default().trim().to_owned();
    if answer.error.0.is_some() || answer.message.0.is_some() {
        let messages = [words(&answer.message), words(&answer.reason)];
        let messages: Vec<&str> =
            messages.iter().map(String::as_str).filter(|message| !message.is_empty()).collect();
        return Err(report::report(SOURCE, answer.error.0, &messages.join(": ")));
    }
    let mut lists = answer.lists.into_iter();
    let mut posts = lists.next().unwrap_or_default().data.children.0.into_iter();
    let Some(post) = posts.find(|post| post.kind.0.as_deref() == Some("t3")).map(|post| post.data)
    else {
        return Err(document::unexpected(EXPECTED, "no post", source));
    };
    let author = name(&post.author);
    let forum = Forum {
        platform: "reddit".to_owned(),
        upvotes: number(&post.score),
        comments: post.num_comments.0,
        date_published: seconds(&post.created_utc).and_then(thread::date),
        author_name: author,
    };
    let base = plain(&post.id).filter(|id| is_id(id)).map(|id| format!("{PAGES}/{id}/comment"));
    let mut not_sent = NotSent { base, count: deep as u64, at: Vec::new() };
    let replies = comments(lists.next().unwrap_or_default(), &mut not_sent);
    let mut blocks = text::blocks(post.selftext.0.as_deref().unwrap_or_default());
    if let Some(subreddit) = plain(&post.subreddit) {
        let line = format!("Posted in {subreddit}");
        blocks.insert(
            0,
            carrel_pdk::document::Block::new(carrel_pdk::document::Kind::Paragraph, line),
        );
    }
    let is_self = post.is_self.0.unwrap_or(false);
    let url = plain(&post.url).filter(|url| url.starts_with("http") && !is_self);
    let title = plain(&post.title);
    let (missing, missing_at) = (not_sent.count, not_sent.at);
    Ok(Thread::new(
        Post { site: "Reddit", title, url, blocks, replies, missing, missing_at },
        forum,
    ))
}

/// Comments that were not sent.
struct NotSent {
    /// The address below which a comment is read by its identifier.
    base: Option<String>,
    /// Their number.
    count: u64,
    /// Where they are read.
    at: Vec<String>,
}

impl NotSent {
    fn address(&self, id: &str) -> Option<String> {
        let base = self.base.as_deref()?;
        is_id(id).then(|| format!("{base}/{id}"))
    }

    /// Counts an entry `more`. The entry of a comment is read with that comment; the top one has the
    /// identifiers of its comments.
    fn add(&mut self, more: &Data<'_>) {
        // "continue this thread" counts 0.
        self.count += more.count.0.unwrap_or(0).max(1);
        let parent = more.parent.0.as_deref().and_then(|parent| parent.strip_prefix("t1_"));
        let ids = match parent {
            Some(parent) => vec![parent],
            None => more.children.0.iter().filter_map(|id| id.0.as_deref()).collect(),
        };
        for id in ids.into_iter().take(MOST_ADDRESSES.saturating_sub(self.at.len())) {
            self.at.extend(self.address(id));
        }
    }
}

/// Whether a text is an identifier of the site: letters and digits.
pub(crate) fn is_id(text: &str) -> bool {
    (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The comments of a list.
fn comments(list: Listing<'_>, not_sent: &mut NotSent) -> Vec<Comment> {
    let mut found = Vec::new();
    for thing in list.data.children.0 {
        match thing.kind.0.as_deref() {
            Some("t1") => {
                let data = thing.data;
                let url = data.id.0.as_deref().and_then(|id| not_sent.address(id));
                let replies = comments(data.replies, not_sent);
                let hidden = data.score_hidden.0.unwrap_or(false);
                found.push(Comment {
                    author: name(&data.author),
                    date: seconds(&data.created_utc).and_then(thread::date),
                    score: number(&data.score).filter(|_| !hidden),
                    blocks: text::blocks(data.body.0.as_deref().unwrap_or_default()),
                    url,
                    replies,
                });
            }
            Some("more") => not_sent.add(&thing.data),
            _ => {}
        }
    }
    found
}

/// The name of an author who has not deleted the account.
fn name(text: &Text<'_>) -> Option<String> {
    plain(text).filter(|name| !matches!(name.as_str(), "[deleted]" | "[removed]"))
}

fn plain(text: &Text<'_>) -> Option<String> {
    let text = text.0.as_deref()?;
    carrel_pdk::text::present(text).map(std::borrow::Cow::into_owned)
}

fn number(text: &Text<'_>) -> Option<i64> {
    text.0.as_deref()?.trim().parse().ok()
}

/// Seconds since 1970, possibly with a fraction.
fn seconds(text: &Text<'_>) -> Option<i64> {
    text.0.as_deref()?.trim().split('.').next()?.parse().ok()
}
