//! Discussions: a post and its tree of comments as a document, with facts about how it was received.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Block, Document, Item, Kind, Metadatum, Person, Quality, Reason, Section};

/// The most comments of a document.
pub const MOST: usize = 500;
/// The most bytes of text of all comments.
pub const LONGEST: usize = 400_000;
/// The most addresses of comments that were left out.
pub const MOST_ADDRESSES: usize = 20;
/// The deepest list; replies to its comments are in the same list.
pub const DEEPEST: usize = 12;

/// A discussion.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Thread {
    /// Post and comments.
    pub document: Document,
    /// How it was received.
    pub forum: Forum,
}

/// Facts about a post that say how it was received.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Forum {
    /// The site's name, in lower case.
    pub platform: String,
    /// Votes for it, less those against it where the site counts so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upvotes: Option<i64>,
    /// Comments, as the site counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments: Option<u64>,
    /// Date of the post.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_published: Option<String>,
    /// Who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author_name: Option<String>,
}

/// A comment, and the replies to it.
#[derive(Debug, Clone, Default)]
pub struct Comment {
    /// Who wrote it; none if it was deleted.
    pub author: Option<String>,
    /// Its date, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Votes, where the site shows them.
    pub score: Option<i64>,
    /// Where it is read by itself, with its replies.
    pub url: Option<String>,
    /// Its text; nothing if it was deleted.
    pub blocks: Vec<Block>,
    /// The replies.
    pub replies: Vec<Comment>,
}

/// A post.
#[derive(Debug, Clone, Default)]
pub struct Post {
    /// The site's name for people.
    pub site: &'static str,
    /// Its title.
    pub title: Option<String>,
    /// The address that it discusses.
    pub url: Option<String>,
    /// Its text.
    pub blocks: Vec<Block>,
    /// The comments on it.
    pub replies: Vec<Comment>,
    /// Comments that the source did not send.
    pub missing: u64,
    /// Where these are read.
    pub missing_at: Vec<String>,
}

impl Thread {
    /// Makes the document of a post. Comments beyond the limits are counted in a warning, the document
    /// is then partial, and a last section has the addresses at which it continues; a deleted comment
    /// without replies is left out.
    pub fn new(post: Post, forum: Forum) -> Self {
        let mut document =
            Document { kind: Some("forum".to_owned()), title: post.title, ..Document::default() };
        let literal = |name: &String| Person { literal: Some(name.clone()), ..Person::default() };
        document.authors = forum.author_name.iter().map(literal).collect();
        let mut state = |name: &str, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                let (name, from) = (name.to_owned(), format!("{} {name}", forum.platform));
                document.metadata.push(Metadatum { name, value, from, ..Metadatum::default() });
            }
        };
        state("site_name", Some(post.site.to_owned()));
        state("published", forum.date_published.clone());
        state("discusses", post.url.clone());
        let mut first = Section { level: 1, blocks: post.blocks, ..Section::default() };
        if let Some(url) = post.url {
            first.blocks.insert(0, Block::new(Kind::Paragraph, format!("Discusses: {url}")));
            document.link(&url, None);
        }
        if !first.blocks.is_empty() {
            document.sections.push(first);
        }
        let mut room =
            Room { comments: MOST, bytes: LONGEST, left_out: post.missing, at: Vec::new() };
        let items = items(post.replies, 1, &mut room);
        if !items.is_empty() {
            let list = Block { items, ..Block::empty(Kind::List) };
            document.sections.push(Section {
                level: 1,
                heading: Some("Comments".to_owned()),
                blocks: vec![list],
                ..Section::default()
            });
        }
        let at = room.at.into_iter().chain(post.missing_at);
        let at: Vec<String> = at.take(MOST_ADDRESSES).collect();
        if !at.is_empty() {
            let item = |url: &String| Item { text: Some(url.clone()), ..Item::default() };
            let list = Block { items: at.iter().map(item).collect(), ..Block::empty(Kind::List) };
            at.iter().for_each(|url| document.link(url, None));
            document.sections.push(Section {
                level: 1,
                heading: Some("Where the comments continue".to_owned()),
                blocks: vec![list],
                ..Section::default()
            });
        }
        if room.left_out > 0 {
            let message = format!("{} comments were left out", room.left_out);
            document.warn("comments_left_out", message, None);
            document.quality = Quality::Partial;
            document.quality_reason = Some(Reason::Truncated);
        }
        document.finish();
        Self { document, forum }
    }

    /// The thread as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What still fits.
struct Room {
    comments: usize,
    bytes: usize,
    left_out: u64,
    /// Where comments that do not fit are read.
    at: Vec<String>,
}

fn items(comments: Vec<Comment>, depth: usize, room: &mut Room) -> Vec<Item> {
    let mut items = Vec::new();
    for comment in comments {
        let is_gone = comment.blocks.is_empty();
        if is_gone && comment.replies.is_empty() {
            continue;
        }
        let size: usize =
            comment.blocks.iter().filter_map(|block| block.text.as_ref()).map(String::len).sum();
        if room.comments == 0 || room.bytes < size {
            room.left_out += count(&comment);
            if room.at.len() < MOST_ADDRESSES {
                room.at.extend(comment.url);
            }
            continue;
        }
        room.comments -= 1;
        room.bytes -= size;
        let mut item = Item { label: Some(heading(&comment)), ..Item::default() };
        let mut blocks = comment.blocks.into_iter().peekable();
        if is_gone {
            item.text = Some("(deleted)".to_owned());
        } else if blocks.peek().is_some_and(|block| block.kind == Kind::Paragraph) {
            item.text = blocks.next().and_then(|block| block.text);
        }
        item.blocks = blocks.collect();
        let replies = items_below(comment.replies, depth, room);
        if depth < DEEPEST {
            if !replies.is_empty() {
                item.blocks.push(Block { items: replies, ..Block::empty(Kind::List) });
            }
            items.push(item);
        } else {
            items.push(item);
            items.extend(replies);
        }
    }
    items
}

fn items_below(replies: Vec<Comment>, depth: usize, room: &mut Room) -> Vec<Item> {
    items(replies, if depth < DEEPEST { depth + 1 } else { depth }, room)
}

fn heading(comment: &Comment) -> String {
    let mut heading = comment.author.clone().unwrap_or_else(|| "(unknown)".to_owned());
    let score = comment
        .score
        .map(|score| format!("{score} {}", if score.abs() == 1 { "point" } else { "points" }));
    let facts: Vec<String> = [comment.date.clone(), score].into_iter().flatten().collect();
    if !facts.is_empty() {
        heading.push_str(&format!(" ({})", facts.join(", ")));
    }
    heading.push(':');
    heading
}

fn count(comment: &Comment) -> u64 {
    1 + comment.replies.iter().map(count).sum::<u64>()
}

/// A JSON text whose lists deeper than `deepest` objects and lists are empty, and how often `key` is
/// in what was left out.
///
/// Reading nested objects takes stack, of which a component has little. Borrows if nothing is deeper.
pub fn pruned<'t>(json: &'t str, deepest: usize, key: &str) -> (Cow<'t, str>, usize) {
    let mut out = String::new();
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    // The start of the text not yet copied, and the depth of the list that is left out.
    let (mut start, mut cut): (usize, Option<usize>) = (0, None);
    let mut left_out = 0;
    for (at, byte) in json.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                if byte == b'[' && depth > deepest && cut.is_none() {
                    out.push_str(&json[start..=at]);
                    cut = Some(depth);
                    start = at + 1;
                }
            }
            b'}' | b']' if !quoted => {
                if cut == Some(depth) {
                    left_out += json[start..at].matches(key).count();
                    start = at;
                    cut = None;
                }
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    if start == 0 {
        return (Cow::Borrowed(json), 0);
    }
    out.push_str(if cut.is_some() { "" } else { &json[start..] });
    (Cow::Owned(out), left_out)
}

/// The date of seconds since 1970, if it is one of the years 1970 to 9999.
pub fn date(seconds: i64) -> Option<String> {
    if !(0..253_402_300_800).contains(&seconds) {
        return None;
    }
    // Howard Hinnant's civil_from_days: years that begin in March, in eras of 400 years.
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month < 3);
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

/// The date of `2020-01-02T03:04:05Z`.
pub fn day(moment: &str) -> Option<String> {
    let day = moment.get(..10)?;
    let form = day.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    form.then(|| day.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(text: &str, replies: Vec<Comment>) -> Comment {
        let blocks = vec![Block::new(Kind::Paragraph, text)];
        Comment { author: Some("ada".to_owned()), blocks, replies, ..Comment::default() }
    }

    fn thread(replies: Vec<Comment>) -> Thread {
        let title = Some("Desks".to_owned());
        Thread::new(Post { site: "Lists", title, replies, ..Post::default() }, Forum::default())
    }

    #[test]
    fn replies_are_lists_in_lists() {
        let tree = thread(vec![comment("One", vec![comment("Two", Vec::new())])]);
        assert_eq!(tree.document.to_text(), "Desks\n\nComments\n\n- ada: One\n\n  - ada: Two\n");
        assert_eq!(tree.document.quality, Quality::Complete);
    }

    #[test]
    fn comments_beyond_the_limit_are_counted() {
        let many = (0..MOST + 7).map(|_| comment("One", Vec::new())).collect();
        let document = thread(many).document;
        assert_eq!(document.warnings[0].message, "7 comments were left out");
        assert_eq!(document.quality_reason, Some(Reason::Truncated));
        assert!(!document.to_text().contains("continue"));
        let long = thread(vec![comment(&"x".repeat(LONGEST + 1), vec![comment("y", Vec::new())])]);
        assert_eq!(long.document.warnings[0].message, "2 comments were left out");
    }

    #[test]
    fn comments_beyond_the_limit_have_their_addresses() {
        let many = (0..MOST + 30)
            .map(|number| {
                let url = Some(format!("https://desks.example.org/{number}"));
                Comment { url, ..comment("One", Vec::new()) }
            })
            .collect();
        let document = thread(many).document;
        let text = document.to_text();
        assert!(
            text.contains("\nWhere the comments continue\n\n- https://desks.example.org/500\n")
        );
        assert!(text.contains("/519\n") && !text.contains("/520\n") && !text.contains("/499\n"));
        assert_eq!(document.links.len(), MOST_ADDRESSES);
    }

    #[test]
    fn deep_replies_are_kept_in_the_deepest_list() {
        let chain = (0..40).fold(comment("last", Vec::new()), |inner, _| comment("x", vec![inner]));
        let text = thread(vec![chain]).document.to_text();
        assert_eq!(text.matches("ada:").count(), 41);
        assert!(text.contains("ada: last"));
    }

    #[test]
    fn deep_lists_are_emptied_and_counted() {
        let json = r#"{"a": [{"id": 1, "b": [{"id": 2, "c": "]["}, {"id": 3}]}], "d": [4]}"#;
        assert_eq!(pruned(json, 4, "\"id\""), (Cow::Borrowed(json), 0));
        let (text, count) = pruned(json, 3, "\"id\"");
        assert_eq!((&*text, count), (r#"{"a": [{"id": 1, "b": []}], "d": [4]}"#, 2));
        let (text, count) = pruned(json, 1, "\"id\"");
        assert_eq!((&*text, count), (r#"{"a": [], "d": []}"#, 3));
        for broken in ["[[[", "]]]", "{\"", "", "[\"\\"] {
            let _ = pruned(broken, 1, "x");
        }
    }

    #[test]
    fn a_deleted_comment_stays_where_it_was_answered() {
        let deleted = |replies| Comment { replies, ..Comment::default() };
        let text = thread(vec![deleted(vec![comment("One", Vec::new())]), deleted(Vec::new())])
            .document
            .to_text();
        assert_eq!(text.matches("(deleted)").count(), 1);
        assert!(text.contains("ada: One"));
    }

    #[test]
    fn dates_are_of_the_calendar() {
        for (seconds, expected) in [
            (0, Some("1970-01-01")),
            (951_782_400, Some("2000-02-29")),
            (1_700_000_000, Some("2023-11-14")),
            (4_102_444_799, Some("2099-12-31")),
            (-1, None),
            (i64::MAX, None),
        ] {
            assert_eq!(date(seconds).as_deref(), expected, "{seconds}");
        }
        assert_eq!(day("2006-10-09T18:21:51.000Z").as_deref(), Some("2006-10-09"));
        assert_eq!(day("yesterday, 2006"), None);
    }
}
