//! The text of a page that is no article: all of it without navigation, advertisement and the rest of what
//! surrounds content.

use crate::article::{Measured, Selection, Stat};
use crate::dom::Id;

/// Leaves out what surrounds the content; with `comments` those of readers stay.
pub(crate) fn clear(measured: &Measured<'_>, gone: &[bool], comments: bool) -> Option<Selection> {
    let tree = measured.tree;
    let body = tree.descendants(0).find(|&id| tree.name(id) == "body")?;
    let mut gone = gone.to_vec();
    let stats = measured.stats(&gone);
    let total = stats[body].chars;
    let mut at = body + 1;
    while at < tree.end(body) {
        if gone[at] || is_beside(measured, at, &stats, total, comments) {
            gone[at..tree.end(at)].fill(true);
            at = tree.end(at);
        } else {
            at += 1;
        }
    }
    let stats = measured.stats(&gone);
    let root = root(measured, body, &gone, &stats);
    Some(Selection { roots: vec![root], chars: stats[root].chars as usize, gone })
}

/// The element that says that it is the content, if it holds much of it.
fn root(measured: &Measured<'_>, body: Id, gone: &[bool], stats: &[Stat]) -> Id {
    let tree = measured.tree;
    let total = stats[body].chars;
    let mut best: Option<Id> = None;
    let mut articles = Vec::new();
    for id in tree.descendants(body) {
        if gone[id] || !tree.is_element(id) {
            continue;
        }
        let says = tree.name(id) == "main"
            || tree.attribute(id, "role") == Some("main")
            || tree.attribute(id, "itemprop").is_some_and(|what| {
                matches!(what, "articleBody" | "mainContentOfPage" | "mainEntity")
            });
        let larger = best.is_none_or(|best| stats[best].chars < stats[id].chars);
        if says && larger && stats[id].chars * 5 >= total * 2 {
            best = Some(id);
        }
        if tree.name(id) == "article" && !tree.ancestors(id).any(|one| tree.name(one) == "article") {
            articles.push(id);
        }
    }
    if let (None, [only]) = (best, &articles[..]) {
        if stats[*only].chars * 2 >= total {
            return *only;
        }
    }
    best.unwrap_or(body)
}

fn is_beside(m: &Measured<'_>, id: Id, stats: &[Stat], total: u32, comments: bool) -> bool {
    let tree = m.tree;
    if !tree.is_element(id) {
        return false;
    }
    let stat = &stats[id];
    let density = stat.link_density();
    let inside = |names: &[&str]| tree.ancestors(id).any(|one| names.contains(&tree.name(one)));
    match tree.name(id) {
        "nav" | "footer" | "aside" | "button" | "dialog" | "menu" => return true,
        "header" => {
            if !inside(&["article", "main", "section"])
                && (density > 0.3 || tree.find(id, "h1").is_none())
            {
                return true;
            }
        }
        "form" if stat.chars < 300 => return true,
        "ul" | "ol" | "div" | "section" | "table" => {
            let links = tree.descendants(id).filter(|&one| tree.name(one) == "a").count();
            if links > 2 && density > 0.75 && stat.link / (links as f32) < 25.0 {
                return true;
            }
        }
        "main" | "article" | "h1" | "h2" | "h3" => return false,
        _ => {}
    }
    if let Some(role) = tree.attribute(id, "role") {
        if matches!(
            role,
            "navigation" | "banner" | "contentinfo" | "complementary" | "search" | "dialog"
                | "alertdialog" | "alert" | "menu" | "menubar" | "toolbar" | "tooltip"
        ) {
            return true;
        }
    }
    let hint = m.hints.of(id);
    let small = stat.chars * 3 < total;
    if hint.comment && !comments && small {
        return true;
    }
    hint.boilerplate
        && small
        && (density > 0.3 || stat.chars < 400)
        && tree.find(id, "h1").is_none()
}
