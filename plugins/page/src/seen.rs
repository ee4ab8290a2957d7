//! Finds elements that are no content or that a reader of the page does not see.

use std::collections::HashMap;

use crate::colours::is_alike;
use crate::dom::{Id, Tree};
use crate::styles::{Hiding, Looks};
use crate::stylesheet::Stylesheet;

/// Elements that are left out before scoring.
pub(crate) struct Shown {
    /// Elements that are left out with everything inside.
    pub(crate) gone: Vec<bool>,
    /// The number of those that the page hides and that have text, and their characters.
    pub(crate) hidden: usize,
    /// Characters of text in them.
    pub(crate) hidden_chars: usize,
    /// Characters that styles hide and that are kept, because they are most of the page: its scripts
    /// show them.
    pub(crate) kept_chars: usize,
}

/// Which elements are left out besides those that are always.
#[derive(Clone, Copy)]
struct Choice {
    /// Whether `<noscript>` is content.
    noscript: bool,
    /// Whether elements are hidden that scripts often show: by style sheets, or by how they look.
    styled: bool,
}

/// Characters of hidden text from which it may be the page's content.
const MUCH: usize = 3000;

/// Finds scripts, form fields and hidden elements. If most of the text is in `<noscript>`, that is
/// kept; if most of it is hidden by styles, that is kept too.
pub(crate) fn shown(tree: &Tree) -> Shown {
    let sheet = Stylesheet::read(tree);
    let shadows = tree.descendants(0).filter(|&id| is_shadow(tree, id));
    let shadows = shadows.map(|id| (tree.parent(id), id)).collect();
    let page = Page { tree, external: has_external_sheet(tree), sheet, shadows };
    let mut choice = Choice { noscript: false, styled: true };
    let mut shown = page.shown(choice);
    let chars = |shown: &Shown| {
        let alive = (0..tree.len()).filter(|&id| !shown.gone[id]);
        alive.filter_map(|id| tree.text(id)).map(|text| text.trim().len()).sum::<usize>()
    };
    if tree.descendants(0).any(|id| tree.name(id) == "noscript" && tree.end(id) > id + 8) {
        let without = page.shown(Choice { noscript: true, ..choice });
        if chars(&shown) * 2 < chars(&without) {
            choice.noscript = true;
            shown = without;
        }
    }
    if shown.hidden_chars > MUCH {
        let without = page.shown(Choice { styled: false, ..choice });
        let (seen, all) = (chars(&shown), chars(&without));
        if all > MUCH && seen * 3 < all {
            shown = Shown { kept_chars: all - seen, ..without };
        }
    }
    shown
}

/// A page and its styles.
struct Page<'t> {
    tree: &'t Tree,
    sheet: Stylesheet,
    /// Whether there are style sheets that were not read.
    external: bool,
    /// The shadow tree of an element, where the page declares one.
    shadows: HashMap<Id, Id>,
}

impl Page<'_> {
    fn shown(&self, choice: Choice) -> Shown {
        let tree = self.tree;
        let gone = vec![false; tree.len()];
        let mut shown = Shown { gone, hidden: 0, hidden_chars: 0, kept_chars: 0 };
        let mut at = 0;
        while at < tree.len() {
            if let Some(&template) = self.shadows.get(&at) {
                self.hide_unslotted(at, template, &mut shown);
            }
            if shown.gone[at] {
                at = tree.end(at);
                continue;
            }
            let gone = is_machinery(tree, at) && !(choice.noscript && tree.name(at) == "noscript");
            let hides = !gone && self.is_hidden(at, choice.styled);
            if gone || hides {
                shown.gone[at..tree.end(at)].fill(true);
                if hides && !tree.has_class(at, "katex-html") {
                    let chars = text_chars(tree, at);
                    shown.hidden += usize::from(chars > 0);
                    shown.hidden_chars += chars;
                }
                at = tree.end(at);
            } else {
                at += 1;
            }
        }
        shown
    }

    /// Leaves out the children of an element that its shadow tree has no slot for.
    fn hide_unslotted(&self, host: Id, template: Id, shown: &mut Shown) {
        let tree = self.tree;
        let slots: Vec<&str> = tree
            .descendants(template)
            .filter(|&id| tree.name(id) == "slot")
            .map(|id| tree.attribute(id, "name").unwrap_or_default().trim())
            .collect();
        for child in tree.children(host).filter(|&child| child != template) {
            let slot = tree.attribute(child, "slot").unwrap_or_default().trim();
            if !slots.contains(&slot) {
                shown.gone[child..tree.end(child)].fill(true);
                let chars = text_chars(tree, child);
                shown.hidden += usize::from(chars > 0);
                shown.hidden_chars += chars;
            }
        }
    }

    /// Whether an element is hidden with its content; formulas for screen readers are not hidden.
    fn is_hidden(&self, id: Id, styled: bool) -> bool {
        let tree = self.tree;
        if !tree.is_element(id) || matches!(tree.name(id), "html" | "body" | "") {
            return false;
        }
        let hidden = tree.attribute(id, "hidden").is_some_and(|how| how != "until-found")
            || (tree.attribute(id, "aria-hidden") == Some("true")
                && !tree.has_class(id, "fallback-image"))
            || (tree.name(id) == "dialog" && tree.attribute(id, "open").is_none())
            || tree.attribute(id, "popover").is_some()
            || (tree.attribute(id, "aria-modal") == Some("true")
                && tree.attribute(id, "role") == Some("dialog"))
            || self.is_styled_away(id, styled);
        hidden && !self.is_formula(id)
    }

    /// Whether an element has a formula and no other text.
    fn is_formula(&self, id: Id) -> bool {
        let tree = self.tree;
        let mut inside = 0;
        let mut at = id;
        while at < tree.end(id) {
            if tree.name(at) == "math" {
                inside += 1;
                at = tree.end(at);
                continue;
            }
            if tree.text(at).is_some_and(|text| visible(text) > 0) {
                return false;
            }
            at += 1;
        }
        inside > 0
    }

    fn is_styled_away(&self, id: Id, styled: bool) -> bool {
        let tree = self.tree;
        let inline = tree.attribute(id, "style").map(|style| self.sheet.inline(style));
        if inline.as_ref().is_some_and(|looks| looks.hiding() == Some(Hiding::Absent)) {
            return true;
        }
        if !styled {
            return false;
        }
        let ruled = self.sheet.matched(tree, id);
        let font = tree.name(id) == "font" && tree.attribute(id, "color").is_some();
        let worth = |looks: &Option<Looks>| looks.as_ref().is_some_and(Looks::may_hide_or_colour);
        if !font && !worth(&ruled) && !worth(&inline) {
            return false;
        }
        let looks = self.merged(ruled, inline, id);
        looks.hiding().is_some() || self.is_too_small(id, &looks) || self.is_camouflaged(id, &looks)
    }

    fn merged(&self, ruled: Option<Looks>, inline: Option<Looks>, id: Id) -> Looks {
        let mut looks = ruled.unwrap_or_default();
        if let Some(colour) = self.tree.attribute(id, "color") {
            looks.read(&format!("color:{colour}"));
        }
        if let Some(colour) = self.tree.attribute(id, "bgcolor") {
            looks.read(&format!("background-color:{colour}"));
        }
        if let Some(inline) = inline {
            looks.add(&inline);
        }
        looks
    }

    /// Whether letters are too small; not if elements inside may have letters of their own size.
    fn is_too_small(&self, id: Id, looks: &Looks) -> bool {
        if !looks.is_tiny() {
            return false;
        }
        let tree = self.tree;
        tree.descendants(id).filter(|&inner| tree.is_element(inner)).all(|inner| {
            let own = tree
                .attribute(inner, "style")
                .is_some_and(|style| self.sheet.inline(style).has_size());
            let classed = tree.attribute(inner, "class").is_some()
                && (self.external || self.sheet.may_hide());
            !own && !classed && tree.attribute(inner, "size").is_none()
        })
    }

    /// Whether a text has the colour of what is behind it, as far as both are known.
    fn is_camouflaged(&self, id: Id, looks: &Looks) -> bool {
        let Some(colour) = looks.colour() else { return false };
        let tree = self.tree;
        let mut behind = looks.background();
        let mut outer = tree.parent(id);
        while behind.is_none() && outer != 0 {
            behind = self.background(outer);
            outer = tree.parent(outer);
        }
        let behind = match behind {
            Some(Some(colour)) => colour,
            Some(None) => return false,
            // Nothing is known of a page with style sheets that were not read; others are white.
            None if self.external => return false,
            None => [255, 255, 255],
        };
        is_alike(colour, behind)
            && !tree.descendants(id).any(|inner| {
                tree.attribute(inner, "color").is_some()
                    || tree.attribute(inner, "style").is_some_and(|style| style.contains("color"))
            })
    }

    fn background(&self, id: Id) -> Option<Option<[u8; 3]>> {
        let inline = self.tree.attribute(id, "style").map(|style| self.sheet.inline(style));
        self.merged(self.sheet.matched(self.tree, id), inline, id).background()
    }
}

fn has_external_sheet(tree: &Tree) -> bool {
    tree.descendants(0).any(|id| {
        tree.name(id) == "link"
            && tree
                .attribute(id, "rel")
                .is_some_and(|rel| rel.to_ascii_lowercase().contains("stylesheet"))
    })
}

fn text_chars(tree: &Tree, id: Id) -> usize {
    let mut chars = 0;
    let mut at = id;
    while at < tree.end(id) {
        if is_machinery(tree, at) {
            at = tree.end(at);
            continue;
        }
        let text = tree.text(at).unwrap_or_default();
        chars += visible(text);
        at += 1;
    }
    chars
}

/// Characters of a text that are no whitespace.
pub(crate) fn visible(text: &str) -> usize {
    if text.is_ascii() {
        return text.bytes().filter(|byte| !matches!(byte, b'\t'..=b'\r' | b' ')).count();
    }
    text.chars().filter(|character| !character.is_whitespace()).count()
}

/// Elements whose content is not for readers.
fn is_machinery(tree: &Tree, id: Id) -> bool {
    match tree.name(id) {
        "script" => !is_math_script(tree, id),
        "template" => !is_shadow(tree, id),
        "style" | "noscript" | "head" | "link" | "meta" | "svg" | "iframe" | "object" | "embed"
        | "applet" | "canvas" | "audio" | "video" | "select" | "option" | "datalist"
        | "textarea" | "input" | "progress" | "meter" | "map" | "noframes" | "noembed"
        | "title" | "param" | "frameset" => true,
        _ => false,
    }
}

/// Whether a template is the shadow tree of the element that it is in.
fn is_shadow(tree: &Tree, id: Id) -> bool {
    tree.name(id) == "template" && tree.attribute(id, "shadowrootmode").is_some()
}

/// Whether an element is a formula of MathJax in TeX.
pub(crate) fn is_math_script(tree: &Tree, id: Id) -> bool {
    tree.name(id) == "script"
        && tree.attribute(id, "type").is_some_and(|kind| kind.trim().starts_with("math/tex"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser;

    /// Whether the text `walls` of a page is seen.
    fn seen(body: &str) -> bool {
        let Ok(tree) = parser::parse(&format!("<body><p>Desks.</p>{body}</body>")) else {
            return false;
        };
        let shown = shown(&tree);
        (0..tree.len())
            .any(|id| !shown.gone[id] && tree.text(id).is_some_and(|text| text.contains("walls")))
    }

    #[test]
    fn what_a_browser_shows_without_a_click_is_seen() {
        for body in [
            "<p>walls</p>",
            "<div inert>walls</div>",
            "<dialog open>walls</dialog>",
            "<details><summary>walls</summary></details>",
            "<details><summary>More</summary>walls</details>",
            "<details open>walls</details>",
            "<div hidden=until-found>walls</div>",
            "<p style='content-visibility:auto'>walls</p>",
            "<xmp>walls</xmp>",
            "<marquee>walls</marquee>",
            "<button>walls</button>",
            "<fieldset><legend>walls</legend></fieldset>",
        ] {
            assert!(seen(body), "{body}");
        }
    }

    #[test]
    fn what_a_browser_does_not_show_is_not_seen() {
        for body in [
            "<noembed>walls</noembed>",
            "<noembed><p>walls</p></noembed>",
            "<noframes>walls</noframes>",
            "<template>walls</template>",
            "<dialog>walls</dialog>",
            "<div popover>walls</div>",
            "<div popover=manual>walls</div>",
            "<div hidden>walls</div>",
            "<div hidden=''>walls</div>",
            "<div hidden=hidden>walls</div>",
            "<p style='content-visibility:hidden'>walls</p>",
            "<p style='content-visibility:hidden;visibility:visible'>walls</p>",
            "<div><title>walls</title></div>",
            "<iframe>walls</iframe>",
            "<datalist><option>walls</datalist>",
            "<style>@media (width>=1px){.x{display:none}}</style><p class=x>walls</p>",
            "<style>@media(1px<width) and (color){.x{opacity:0}}</style><p class=x>walls</p>",
            "<style media='(width>=1px)'>.x{display:none}</style><p class=x>walls</p>",
        ] {
            assert!(!seen(body), "{body}");
        }
    }
}
