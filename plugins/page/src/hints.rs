//! Classifies elements by their names (`class`, `id`).

use std::collections::HashMap;

use crate::dom::{Id, Tree};
use crate::needles::Needles;

/// Hints of one element.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hint {
    /// Named like boilerplate, not like content.
    pub(crate) unlikely: bool,
    /// Score, plus or minus 25 for each of class and id.
    pub(crate) weight: i16,
    /// Named like a byline.
    pub(crate) byline: bool,
    /// Named like buttons for sharing.
    pub(crate) share: bool,
    /// Named like navigation, advertisement or another box that is never text.
    pub(crate) boilerplate: bool,
    /// Named like an overlay or a prompt.
    pub(crate) overlay: bool,
    /// Named like metadata of the text: its date, its author, its breadcrumbs.
    pub(crate) about: bool,
    /// Named like a reader's comment or a list of them.
    pub(crate) comment: bool,
}

static UNLIKELY: Needles = Needles::new(&[
    "-ad-",
    "ai2html",
    "banner",
    "breadcrumbs",
    "combx",
    "comment",
    "community",
    "cover-wrap",
    "disqus",
    "extra",
    "footer",
    "gdpr",
    "header",
    "legends",
    "menu",
    "related",
    "remark",
    "replies",
    "rss",
    "shoutbox",
    "sidebar",
    "skyscraper",
    "social",
    "sponsor",
    "supplemental",
    "ad-break",
    "agegate",
    "pagination",
    "pager",
    "popup",
    "yom-remote",
]);
static LIKELY: Needles =
    Needles::new(&["and", "article", "body", "column", "content", "main", "mathjax", "shadow"]);
static POSITIVE: Needles = Needles::new(&[
    "article",
    "body",
    "content",
    "entry",
    "main",
    "page",
    "pagination",
    "post",
    "text",
    "blog",
    "story",
]);
static NEGATIVE: Needles = Needles::new(&[
    "-ad-",
    "hidden",
    "banner",
    "combx",
    "comment",
    "com-",
    "contact",
    "footer",
    "gdpr",
    "masthead",
    "media",
    "meta",
    "outbrain",
    "promo",
    "related",
    "scroll",
    "share",
    "shoutbox",
    "sidebar",
    "skyscraper",
    "sponsor",
    "shopping",
    "tags",
    "widget",
]);
/// Parts of a name (split at punctuation and capitals) of elements that are never the page's text.
static BOILERPLATE: Needles = Needles::new(&[
    "breadcrumb",
    "breadcrumbs",
    "nav",
    "navbar",
    "navigation",
    "menu",
    "submenu",
    "sidebar",
    "footer",
    "cookie",
    "cookies",
    "consent",
    "gdpr",
    "newsletter",
    "subscribe",
    "subscription",
    "signup",
    "social",
    "share",
    "sharing",
    "sharedaddy",
    "related",
    "recommended",
    "recommendations",
    "advert",
    "advertisement",
    "advertising",
    "ads",
    "ad",
    "sponsored",
    "promo",
    "promotion",
    "popup",
    "modal",
    "pagination",
    "pager",
    "paging",
    "skip",
    "toolbar",
    "outbrain",
    "taboola",
    "disqus",
    "masthead",
    "dropdown",
    "offcanvas",
    "overlay",
    "lightbox",
    "toc",
    "login",
    "signin",
    "tags",
    "tagcloud",
    "paywall",
]);
static OVERLAYS: Needles = Needles::new(&[
    "cookie",
    "cookies",
    "consent",
    "gdpr",
    "modal",
    "popup",
    "lightbox",
    "offcanvas",
    "cookiebot",
    "onetrust",
    "cookiebanner",
    "cookieconsent",
]);
static ABOUT: Needles = Needles::new(&[
    "meta",
    "metadata",
    "date",
    "dateline",
    "timestamp",
    "bio",
    "byline",
    "published",
    "posted",
    "pubdate",
    "disclosure",
    "disclaimer",
    "credit",
    "copyright",
]);
static COMMENTS: Needles =
    Needles::new(&["comment", "comments", "commentlist", "disqus", "respond", "replies"]);

static BYLINES: Needles = Needles::new(&["byline", "author", "dateline", "writtenby", "p-author"]);
static SHARES: Needles = Needles::new(&["share", "sharedaddy"]);

/// Hints by element.
pub(crate) struct Hints {
    of: Vec<Hint>,
}

impl Hints {
    /// Looks at the names of every element that is not left out.
    pub(crate) fn new(tree: &Tree, gone: &[bool]) -> Self {
        let mut known: HashMap<(&str, &str), Hint> = HashMap::new();
        let mut of = vec![Hint::default(); tree.len()];
        for (id, hint) in of.iter_mut().enumerate() {
            if gone[id] || !tree.is_element(id) {
                continue;
            }
            let class = tree.attribute(id, "class").unwrap_or_default();
            let name = tree.attribute(id, "id").unwrap_or_default();
            if !class.is_empty() || !name.is_empty() {
                *hint = *known.entry((class, name)).or_insert_with(|| read(class, name));
            }
        }
        Self { of }
    }

    /// The hint of an element.
    pub(crate) fn of(&self, id: Id) -> Hint {
        self.of.get(id).copied().unwrap_or_default()
    }
}

fn read(class: &str, id: &str) -> Hint {
    let parts = [words(class), words(id)].concat();
    let any = |list: &Needles| list.any(class) || list.any(id);
    let weight = |text: &str| {
        if text.is_empty() {
            return 0;
        }
        let hid = text.split(' ').any(|word| word.eq_ignore_ascii_case("hid"));
        let minus = if hid || NEGATIVE.any(text) { -25 } else { 0 };
        minus + if POSITIVE.any(text) { 25 } else { 0 }
    };
    let named = |list: &Needles| parts.iter().any(|part| list.has(part));
    Hint {
        unlikely: any(&UNLIKELY) && !any(&LIKELY),
        weight: weight(class) + weight(id),
        byline: any(&BYLINES),
        share: named(&SHARES),
        boilerplate: named(&BOILERPLATE),
        overlay: named(&OVERLAYS),
        about: named(&ABOUT),
        comment: named(&COMMENTS),
    }
}

/// The words of a name: `postBody-main_2` has `post`, `Body`, `main`.
fn words(name: &str) -> Vec<&str> {
    let (mut out, mut start, mut lowercase) = (Vec::new(), None, false);
    for (at, byte) in name.bytes().enumerate() {
        let letter = byte.is_ascii_alphabetic();
        if let Some(from) = start.filter(|_| !letter || (lowercase && byte.is_ascii_uppercase())) {
            out.push(&name[from..at]);
            start = None;
        }
        if letter && start.is_none() {
            start = Some(at);
        }
        lowercase = byte.is_ascii_lowercase();
    }
    out.extend(start.map(|from| &name[from..]));
    out
}
