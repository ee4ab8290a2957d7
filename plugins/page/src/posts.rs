//! Finds the posts of discussions, by several kinds of markup.

use crate::article::Selection;
use crate::dom::{Id, Tree};
use crate::measure::{Measured, Stat};
use crate::needles::Needles;

/// Finds the contributions of a discussion: items of schema.org's types, or elements built alike whose
/// names say so.
pub(crate) fn find(measured: &Measured<'_>, gone: &[bool], stats: &[Stat]) -> Vec<Id> {
    let tree = measured.tree;
    let mut items: Vec<Id> = Vec::new();
    let mut named: std::collections::HashMap<String, Vec<Id>> = std::collections::HashMap::new();
    for id in tree.descendants(0) {
        if gone[id] || !tree.is_element(id) || stats[id].chars < 15 {
            continue;
        }
        if is_item(tree, id) && items.last().is_none_or(|&last| id >= tree.end(last)) {
            items.push(id);
        }
        if !matches!(tree.name(id), "div" | "article" | "li" | "section" | "table" | "tr" | "td") {
            continue;
        }
        let classes = tree.attribute(id, "class").unwrap_or_default();
        for class in classes.split_ascii_whitespace() {
            if NAMES.has(class) {
                // A question is a contribution as its answers are.
                let name = class.to_ascii_lowercase();
                let name = if name == "question" { "answer".to_owned() } else { name };
                let same = named.entry(name).or_default();
                if same.last().is_none_or(|&last| id >= tree.end(last)) {
                    same.push(id);
                }
                break;
            }
        }
    }
    if items.len() > 1 {
        return items;
    }
    let chars = |ids: &[Id]| ids.iter().map(|&id| stats[id].chars).sum::<u32>();
    let total = stats.first().map_or(0, |stat| stat.chars);
    let best = named.into_values().filter(|ids| ids.len() > 1).max_by_key(|ids| chars(ids));
    best.filter(|ids| {
        let links: f32 = ids.iter().map(|&id| stats[id].link).sum();
        chars(ids) * 3 > total && links < chars(ids) as f32 * 0.4
    })
    .unwrap_or_default()
}

fn is_item(tree: &Tree, id: Id) -> bool {
    tree.attribute(id, "itemtype").is_some_and(|kind| {
        ["/Question", "/Answer", "/DiscussionForumPosting", "/Comment"]
            .iter()
            .any(|suffix| kind.trim().ends_with(suffix))
    })
}

/// Names of contributions that forums' software gives.
static NAMES: Needles = Needles::new(&[
    "post",
    "postbit",
    "postcontainer",
    "post-container",
    "post_container",
    "topic-post",
    "forum-post",
    "forumpost",
    "message",
    "message--post",
    "cpost",
    "crawler-post",
    "topic-body",
    "post-stream-item",
    "question",
    "answer",
    "comtr",
    "postbody",
    "post_body",
    "post-wrapper",
    "reply",
    "ipscomment",
    "kpost",
    "postbitlegacy",
]);

/// The contributions as the page's text.
pub(crate) fn select(measured: &Measured<'_>, gone: &[bool], posts: &[Id]) -> Option<Selection> {
    let tree = measured.tree;
    let mut gone = gone.to_vec();
    for &post in posts {
        let mut at = post + 1;
        while at < tree.end(post) {
            if gone[at] || is_beside(measured, at) {
                gone[at..tree.end(at)].fill(true);
                at = tree.end(at);
            } else {
                at += 1;
            }
        }
    }
    let stats = measured.stats(&gone);
    let chars = posts.iter().map(|&post| stats[post].chars as usize).sum();
    Some(Selection { roots: posts.to_vec(), gone, chars })
}

/// Parts of names of elements of a post that are not its text.
static BESIDE: Needles = Needles::new(&[
    "signature",
    "post-buttons",
    "postbuttons",
    "post-menu",
    "post-controls",
    "post-actions",
    "js-post-menu",
    "votecell",
    "vote-",
    "badge",
    "share",
    "likes",
    "reactions",
    "profile",
    "message-attribution-opposite",
    "message-userextras",
    "user-stats",
    "postfoot",
    "post-links",
]);

/// Signatures, buttons, the author's profile.
fn is_beside(measured: &Measured<'_>, id: Id) -> bool {
    let tree = measured.tree;
    if matches!(tree.name(id), "button" | "form" | "nav" | "footer" | "aside") {
        return !tree.has_class(id, "quote");
    }
    tree.attribute(id, "class").is_some_and(|class| BESIDE.any(class))
}
