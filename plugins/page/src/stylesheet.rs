//! The rules of a page's own `<style>` elements that decide whether text is seen.
//!
//! Selectors of tags, classes, identifiers, descendants, children and `:not(.class)` are matched; rules
//! with others, which mostly apply in some state or to some elements, are left out. External style
//! sheets are not fetched.

use std::collections::HashMap;

use crate::dom::{Id, Tree};
use crate::styles::Looks;

/// The most rules, selectors of one rule, and compounds of one selector that are read.
const MOST_RULES: usize = 4000;
const MOST_SELECTORS: usize = 64;
const MOST_COMPOUNDS: usize = 8;
/// The most characters of style sheets that are read.
const LONGEST: usize = 1 << 20;
/// The most matches of selectors that are tried on one page.
const MOST_TRIES: usize = 2_000_000;

/// One element's part of a selector.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Compound {
    tag: String,
    id: String,
    classes: Vec<String>,
    /// Classes that the element must not have.
    without: Vec<String>,
    /// Whether the element before it in the selector is its parent, not any ancestor.
    child: bool,
}

#[derive(Debug)]
struct Rule {
    /// From the outermost to the element itself.
    compounds: Vec<Compound>,
    looks: Looks,
    /// Important, then the number of identifiers, of classes, of tags, and the order.
    weight: (bool, usize, usize, usize, usize),
}

/// The rules of a page.
#[derive(Debug, Default)]
pub(crate) struct Stylesheet {
    rules: Vec<Rule>,
    /// Rules by the identifier, the class or the tag of the element.
    by_key: HashMap<String, Vec<usize>>,
    /// Keys of rules that may hide.
    hides: bool,
    tries: std::cell::Cell<usize>,
}

impl Stylesheet {
    /// Reads the style sheets of a page.
    pub(crate) fn read(tree: &Tree) -> Self {
        let mut sheet = Self::default();
        let mut left = LONGEST;
        for id in tree.descendants(0).filter(|&id| tree.name(id) == "style") {
            if !tree.attribute(id, "media").is_none_or(applies) {
                continue;
            }
            for text in tree.children(id).filter_map(|inner| tree.text(inner)) {
                let text = text.get(..left.min(text.len())).unwrap_or_default();
                left -= text.len();
                sheet.rules_of(&without_comments(text), 0);
            }
        }
        if !sheet.rules.iter().any(|rule| rule.looks.may_hide_or_colour()) {
            return Self::default();
        }
        sheet.hides = true;
        for (number, rule) in sheet.rules.iter().enumerate() {
            let Some(last) = rule.compounds.last() else { continue };
            sheet.by_key.entry(last.key()).or_default().push(number);
        }
        sheet
    }

    /// Whether any rule may hide.
    pub(crate) fn may_hide(&self) -> bool {
        self.hides
    }

    /// What the rules say of an element.
    pub(crate) fn matched(&self, tree: &Tree, id: Id) -> Option<Looks> {
        let mut found: Vec<&Rule> = Vec::new();
        let mut take = |key: &str| {
            for &number in self.by_key.get(key).map(Vec::as_slice).unwrap_or_default() {
                let rule = &self.rules[number];
                self.tries.set(self.tries.get() + 1);
                if self.tries.get() < MOST_TRIES && rule.matches(tree, id) {
                    found.push(rule);
                }
            }
        };
        take(tree.name(id));
        take("*");
        if let Some(name) = tree.attribute(id, "id") {
            take(&format!("#{}", name.trim()));
        }
        for class in tree.attribute(id, "class").unwrap_or_default().split_ascii_whitespace() {
            take(&format!(".{class}"));
        }
        if found.is_empty() {
            return None;
        }
        found.sort_by_key(|rule| rule.weight);
        let mut looks = Looks::default();
        for rule in found {
            looks.add(&rule.looks);
        }
        Some(looks)
    }

    /// Reads rules; those inside `@media screen` and `@layer` too.
    fn rules_of(&mut self, text: &str, depth: u32) {
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            if self.rules.len() >= MOST_RULES {
                return;
            }
            let prelude = rest[..open].rsplit(['}', ';']).next().unwrap_or_default().trim();
            let inner = &rest[open + 1..];
            let end = block_end(inner);
            let block = &inner[..end];
            rest = inner.get(end + 1..).unwrap_or_default();
            if let Some(at) = prelude.strip_prefix('@') {
                let (name, query) = at.split_once([' ', '(']).unwrap_or((at, ""));
                let inside = match name.to_ascii_lowercase().as_str() {
                    "media" => applies(query),
                    "layer" | "supports" | "container" => true,
                    _ => false,
                };
                if inside && depth < 4 {
                    self.rules_of(block, depth + 1);
                }
                continue;
            }
            self.rule(prelude, block);
        }
    }

    fn rule(&mut self, selectors: &str, block: &str) {
        let important = block.to_ascii_lowercase().contains("!important");
        let mut looks = Looks::default();
        looks.read(block);
        if looks.is_empty() {
            return;
        }
        for selector in selectors.split(',').take(MOST_SELECTORS) {
            let Some(compounds) = compounds(selector) else { continue };
            let count = |size: fn(&Compound) -> usize| compounds.iter().map(size).sum::<usize>();
            let weight = (
                important,
                count(|one| usize::from(!one.id.is_empty())),
                count(|one| one.classes.len()),
                count(|one| usize::from(!one.tag.is_empty())),
                self.rules.len(),
            );
            self.rules.push(Rule { compounds, looks: looks.clone(), weight });
        }
    }
}

impl Compound {
    /// The name by which rules for it are found.
    fn key(&self) -> String {
        if !self.id.is_empty() {
            return format!("#{}", self.id);
        }
        match self.classes.first() {
            Some(class) => format!(".{class}"),
            None if self.tag.is_empty() => "*".to_owned(),
            None => self.tag.clone(),
        }
    }

    fn fits(&self, tree: &Tree, id: Id) -> bool {
        (self.tag.is_empty() || tree.name(id) == self.tag)
            && (self.id.is_empty() || tree.attribute(id, "id").map(str::trim) == Some(&self.id))
            && self.classes.iter().all(|class| {
                let classes = tree.attribute(id, "class").unwrap_or_default();
                classes.split_ascii_whitespace().any(|one| one == class)
            })
            && self.without.iter().all(|class| {
                let classes = tree.attribute(id, "class").unwrap_or_default();
                classes.split_ascii_whitespace().all(|one| one != class)
            })
    }
}

impl Rule {
    fn matches(&self, tree: &Tree, id: Id) -> bool {
        let Some((last, before)) = self.compounds.split_last() else { return false };
        if !last.fits(tree, id) {
            return false;
        }
        let (mut at, mut child) = (id, last.child);
        for compound in before.iter().rev() {
            let mut outer = tree.parent(at);
            while outer != 0 && !compound.fits(tree, outer) {
                if child {
                    return false;
                }
                outer = tree.parent(outer);
            }
            if outer == 0 {
                return false;
            }
            (at, child) = (outer, compound.child);
        }
        true
    }
}

/// Whether a style sheet for these media is for a screen, whatever its size.
fn applies(media: &str) -> bool {
    let media = media.trim().to_ascii_lowercase();
    matches!(
        media.as_str(),
        "" | "all" | "screen" | "only screen" | "screen, print" | "all, screen"
    )
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        out.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, behind)| behind);
    }
    out.push_str(rest);
    out.replace("<!--", " ").replace("-->", " ")
}

/// The length of a block up to the brace that closes it.
fn block_end(text: &str) -> usize {
    let mut depth = 0_u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// The parts of a selector; `None` if some of them are not matched.
fn compounds(selector: &str) -> Option<Vec<Compound>> {
    let mut found: Vec<Compound> = Vec::new();
    let mut child = false;
    let spaced = selector.replace('>', " > ");
    for word in spaced.split_ascii_whitespace() {
        if word == ">" {
            child = true;
            continue;
        }
        let mut compound = compound(word)?;
        compound.child = std::mem::take(&mut child);
        found.push(compound);
        if found.len() > MOST_COMPOUNDS {
            return None;
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Reads one word of a selector.
fn compound(word: &str) -> Option<Compound> {
    let mut compound = Compound::default();
    let mut plain = String::new();
    let mut rest = word;
    while let Some((before, behind)) = rest.split_once(":not(.") {
        let (class, after) = behind.split_once(')')?;
        plain.push_str(before);
        compound.without.push(class.to_owned());
        rest = after;
    }
    plain.push_str(rest);
    if plain.contains([':', '[', '+', '~', '\\', '(', ')']) {
        return None;
    }
    let start = plain.find(['.', '#']).unwrap_or(plain.len());
    let (tag, mut names) = plain.split_at(start);
    if tag != "*" {
        compound.tag = tag.to_ascii_lowercase();
    }
    while let Some(kind) = names.chars().next() {
        let inner = &names[1..];
        let length = inner.find(['.', '#']).unwrap_or(inner.len());
        let name = inner[..length].to_owned();
        if kind == '#' {
            compound.id = name;
        } else {
            compound.classes.push(name);
        }
        names = &inner[length..];
    }
    Some(compound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser;

    /// Whether the first element of a class `x` is hidden by the rules.
    fn hidden(css: &str, body: &str) -> bool {
        let page = format!("<html><head><style>{css}</style></head><body>{body}</body></html>");
        let Ok(tree) = parser::parse(&page) else { return false };
        let sheet = Stylesheet::read(&tree);
        let id = tree.descendants(0).find(|&id| tree.has_class(id, "x")).unwrap();
        sheet.matched(&tree, id).is_some_and(|looks| looks.hiding().is_some())
    }

    #[test]
    fn rules_that_match_hide() {
        const BODY: &str = "<div id=a class='w y'><p class=x>text</p></div>";
        for css in [
            ".x{display:none}",
            "p.x { opacity : 0 }",
            "a, .x, b {visibility:hidden}",
            "#a .x{display:none}",
            ".w > p{display:none}",
            "div.w.y p{display:none}",
            "/* x */.x/**/{display:none}",
            "<!-- .x{display:none} -->",
            "@media screen{.x{display:none}}",
            "@layer base{.x{display:none}}",
            "@charset 'utf-8';.x{display:none}",
            ".x{display:block}.x{display:none}",
            ".x{display:none!important}#a .x{display:block}",
            "* {display:none}",
        ] {
            assert!(hidden(css, BODY), "{css}");
        }
    }

    #[test]
    fn rules_that_do_not_apply_or_are_overruled_do_not_hide() {
        const BODY: &str = "<div id=a class='w y'><p class=x>text</p></div>";
        for css in [
            ".z{display:none}",
            ".x:hover{display:none}",
            ".no-js .x{display:none}",
            "@media print{.x{display:none}}",
            "@media (max-width:600px){.x{display:none}}",
            ".x{display:none}.w .x{display:block}",
            ".x{display:none}.x:not(.off){display:block}",
            ".a > .x{display:none}",
            ".x + .x{display:none}",
            "p{display:none}.x{display:flex}",
            "{display:none}",
            ".x{display:none",
        ] {
            // The last one is closed by the end of the sheet.
            assert_eq!(hidden(css, BODY), css == ".x{display:none", "{css}");
        }
    }
}
