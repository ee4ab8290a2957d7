//! Selects the text of a page: tries several extractors and chooses by the kind of page and their
//! results.

use crate::article::Selection;
use crate::clear;
use crate::dom::{Id, Tree};
use crate::ending::trim_ending;
use crate::hints::Hints;
use crate::kind;
use crate::measure::Measured;
use crate::meta::Meta;
use crate::posts;
use crate::seen::Shown;

/// The text of a page and what kind of page it is.
pub(crate) struct Content {
    pub(crate) selection: Option<Selection>,
    pub(crate) kind: &'static str,
}

/// Chooses the text of a page.
pub(crate) fn choose(tree: &Tree, shown: &Shown, title: &str, meta: &Meta) -> Content {
    let hints = Hints::new(tree, &shown.gone);
    let (measured, stats) = Measured::new(tree, &hints, &shown.gone);
    let posts = posts::find(&measured, &shown.gone, &stats);
    let kind = kind::of_content(tree, &stats, meta, &posts);
    let selection = select(&measured, shown, title, kind, &posts);
    Content { selection, kind }
}

fn select(
    measured: &Measured<'_>,
    shown: &Shown,
    title: &str,
    kind: &str,
    posts: &[Id],
) -> Option<Selection> {
    let forum = kind == "forum";
    let cleared = clear::clear(measured, &shown.gone, forum);
    if forum && posts.len() > 1 {
        return posts::select(measured, &shown.gone, posts);
    }
    if matches!(kind, "forum" | "product" | "listing") {
        return cleared.or_else(|| measured.article(&shown.gone, title));
    }
    let article = measured.article(&shown.gone, title);
    match (article, cleared) {
        (Some(article), Some(cleared)) => {
            let part = article.chars as f32 / cleared.chars.max(1) as f32;
            let least = match kind {
                "article" => 0.1,
                _ => 0.45,
            };
            let mut chosen = if part < least { cleared } else { article };
            clear::trim(measured, &mut chosen, kind == "article");
            trim_ending(measured.tree, &mut chosen);
            Some(chosen)
        }
        (article, cleared) => article.or(cleared),
    }
}
