//! Extracts the text of a page that is not an article: everything except navigation, advertisement
//! and other boilerplate.

use crate::article::Selection;
use crate::dom::Id;
use crate::measure::{Measured, Stat};
use crate::needles::Needles;

/// Leaves out boilerplate; with `comments`, readers' comments are kept.
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

/// Leaves out parts of an article whose names or position mark them as boilerplate, unless they are
/// much of it.
pub(crate) fn trim(measured: &Measured<'_>, selection: &mut Selection, is_article: bool) {
    let mut trimmed = selection.clone();
    trim_names(measured, &mut trimmed);
    trim_ends(measured, &mut trimmed, is_article);
    let stats = measured.stats(&trimmed.gone);
    trimmed.chars = trimmed.roots.iter().map(|&root| stats[root].chars as usize).sum();
    if trimmed.chars * 5 >= selection.chars {
        *selection = trimmed;
    }
}

/// Leaves out elements named like boilerplate.
fn trim_names(measured: &Measured<'_>, selection: &mut Selection) {
    let tree = measured.tree;
    let stats = measured.stats(&selection.gone);
    let total = u32::try_from(selection.chars).unwrap_or(u32::MAX);
    for &root in &selection.roots {
        let mut at = root + 1;
        while at < tree.end(root) {
            if selection.gone[at] {
                at = tree.end(at);
                continue;
            }
            let stat = &stats[at];
            let hint = measured.hints.of(at);
            let name = tree.name(at);
            if matches!(name, "math" | "mjx-container") {
                // Names inside formulas have other meanings.
                at = tree.end(at);
                continue;
            }
            let text = matches!(
                name,
                "main"
                    | "article"
                    | "body"
                    | "p"
                    | "table"
                    | "pre"
                    | "code"
                    | "figure"
                    | "figcaption"
                    | "span"
                    | "a"
                    | ""
            );
            // Below a short text, a comment form may be longer than the text.
            let most = if hint.comment { total / 2 } else { total / 4 };
            let names = (hint.boilerplate || hint.comment || hint.share || hint.about)
                && !text
                && stat.chars < most
                && (stat.chars < 400 || stat.link_density() > 0.3);
            let line = matches!(name, "time") && tree.elements(tree.parent(at)).nth(2).is_none();
            let byline = hint.byline
                && stat.chars < 150
                && stat.chars * 4 < total
                && !matches!(name, "a" | "body" | "article" | "main");
            if names || line || byline || announces(measured, at, &stats) {
                selection.gone[at..tree.end(at)].fill(true);
                at = tree.end(at);
            } else {
                at += 1;
            }
        }
    }
}

/// Beginnings of lines that refer to other pages.
static LEADS: Needles = Needles::new(&[
    "related",
    "you may also",
    "you might also",
    "read more",
    "read next",
    "read also",
    "also read",
    "recommended",
    "more from",
    "more on",
    "see more",
    "don't miss",
    "don’t miss",
    "share this",
    "follow us",
    "sign up",
    "subscribe",
    "advertisement",
    "sponsored",
    "verwandte",
    "das könnte",
    "das thema könnte",
    "auch interessant",
    "ähnliche",
    "mehr zum thema",
    "lesen sie auch",
    "anzeige",
    "werbung",
    "teilen",
    "lire aussi",
    "à lire",
    "articles similaires",
    "pour lire la suite",
    "partager",
    "leggi anche",
    "condividi",
    "te puede interesar",
    "compartir",
    "lees ook",
    "leia também",
    "weiterführend",
    "kommentar verfassen",
    "leave a comment",
    "leave a reply",
    "post a comment",
    "no comments",
    "keine kommentare",
    "schreibe einen kommentar",
    "weiter zu",
    "bewertung",
    "rate this",
    "tags:",
    "filed under",
    "posted in",
    "schlagw",
    "comments",
    "kommentare",
]);

/// Whether an element is a short line that refers to other pages, or links after one.
fn announces(measured: &Measured<'_>, id: Id, stats: &[Stat]) -> bool {
    let tree = measured.tree;
    let short = |id: Id| stats[id].chars > 0 && stats[id].chars < 120;
    let leads = |id: Id| LEADS.begin(&tree.all_text(id).to_lowercase());
    let name = tree.name(id);
    let line = matches!(name, "p" | "h2" | "h3" | "h4" | "h5" | "h6" | "div" | "strong");
    if line && short(id) && (stats[id].link_density() > 0.3 || stats[id].chars < 45) && leads(id) {
        return true;
    }
    matches!(name, "ul" | "ol" | "div") && stats[id].link_density() > 0.6 && {
        tree.element_before(id).is_some_and(|before| stats[before].chars < 60 && leads(before))
    }
}

/// Leaves out dates and links before the first paragraph, and links after the last one.
fn trim_ends(measured: &Measured<'_>, selection: &mut Selection, is_article: bool) {
    let tree = measured.tree;
    let stats = measured.stats(&selection.gone);
    let (Some(&from), Some(&last)) = (selection.roots.first(), selection.roots.last()) else {
        return;
    };
    let whole = from..tree.end(last);
    let real = |id: &Id| {
        !selection.gone[*id]
            && (tree.name(*id) == "p" || measured.has_runs(*id))
            && stats[*id].chars >= 80
            && stats[*id].link_density() < 0.3
    };
    let (first, end) = (whole.clone().find(real), whole.clone().rev().find(real));
    let (Some(first), Some(end)) = (first, end) else { return };
    let mut at = from;
    while at < whole.end {
        let name = tree.name(at);
        let holds = at <= end && end < tree.end(at) || at <= first && first < tree.end(at);
        let block = matches!(
            name,
            "p" | "div"
                | "ul"
                | "ol"
                | "dl"
                | "section"
                | "h2"
                | "h3"
                | "h4"
                | "h5"
                | "h6"
                | "span"
        );
        if selection.gone[at] || !block || holds {
            at += 1;
            continue;
        }
        let density = stats[at].link_density();
        let leave = if at < first {
            name != "h2" && stats[at].chars < 100 && (density > 0.6 || is_date(&tree.all_text(at)))
        } else if at >= tree.end(end) {
            density > 0.6
                || (is_article
                    && matches!(name, "p" | "div")
                    && (1..70).contains(&stats[at].chars)
                    // A short last paragraph after others: a greeting, a name.
                    && !(name == "p" && density == 0.0 && tree.parent(at) == tree.parent(end))
                    && tree.find(at, "math").is_none()
                    && !tree
                        .all_text(at)
                        .ends_with(['.', '!', '?', '"', '”', '“', '»', '…', ':', ')']))
        } else {
            false
        };
        if leave {
            selection.gone[at..tree.end(at)].fill(true);
            at = tree.end(at);
        } else {
            at += 1;
        }
    }
}

/// Whether a short text is a date with little around it.
fn is_date(text: &str) -> bool {
    let numbers: Vec<&str> =
        text.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).collect();
    let year = numbers
        .iter()
        .any(|number| number.len() == 4 && (number.starts_with("19") || number.starts_with("20")));
    year && numbers.len() > 1 && text.chars().count() < 80 && !text.ends_with(['.', '!', '?'])
}

/// The element marked as the main content, if it holds much of the text.
fn root(measured: &Measured<'_>, body: Id, gone: &[bool], stats: &[Stat]) -> Id {
    let tree = measured.tree;
    let total = stats[body].chars;
    let mut best: Option<Id> = None;
    let mut articles = Vec::new();
    for id in tree.descendants(body) {
        if gone[id] || !tree.is_element(id) {
            continue;
        }
        let is_main = tree.name(id) == "main"
            || tree.attribute(id, "role") == Some("main")
            || tree.attribute(id, "itemprop").is_some_and(|what| {
                matches!(what, "articleBody" | "mainContentOfPage" | "mainEntity")
            });
        let larger = best.is_none_or(|best| stats[best].chars < stats[id].chars);
        if is_main && larger && stats[id].chars * 5 >= total * 2 {
            best = Some(id);
        }
        let is_article = |id: Id| tree.name(id) == "article";
        if is_article(id) && !tree.ancestors(id).any(is_article) {
            articles.push(id);
        }
    }
    if let (None, [only]) = (best, &articles[..])
        && stats[*only].chars * 2 >= total
    {
        return *only;
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
    let inside = |names: &[&str]| tree.ancestors(id).any(|outer| names.contains(&tree.name(outer)));
    match tree.name(id) {
        "nav" | "footer" | "aside" | "button" | "dialog" | "menu" => return true,
        "header"
            if !inside(&["article", "main", "section"])
                && (density > 0.3 || tree.find(id, "h1").is_none()) =>
        {
            return true;
        }
        "form" if stat.chars < 300 => return true,
        "ul" | "ol" | "div" | "section" | "table" => {
            let links = tree.descendants(id).filter(|&node| tree.name(node) == "a").count();
            if links > 2 && density > 0.75 && stat.link / (links as f32) < 25.0 {
                return true;
            }
        }
        "main" | "article" | "h1" | "h2" | "h3" => return false,
        _ => {}
    }
    if let Some(role) = tree.attribute(id, "role")
        && matches!(
            role,
            "navigation"
                | "banner"
                | "contentinfo"
                | "complementary"
                | "search"
                | "dialog"
                | "alertdialog"
                | "alert"
                | "menu"
                | "menubar"
                | "toolbar"
                | "tooltip"
        )
    {
        return true;
    }
    let hint = m.hints.of(id);
    let small = stat.chars * 3 < total;
    if hint.comment && !comments && (small || stat.chars < 300) {
        return true;
    }
    if hint.overlay && stat.chars * 2 < total && tree.find(id, "h1").is_none() {
        return true;
    }
    hint.boilerplate
        && small
        && (density > 0.3 || stat.chars < 400)
        && tree.find(id, "h1").is_none()
}
