//! The rules of a page's own `<style>` elements that decide whether text is seen.
//!
//! Selectors are matched as [`Selector`] reads them, nested rules and groups of conditions included;
//! rules with others are left out. External style sheets are not fetched.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::{memchr2_iter, memchr3, memmem};

use crate::ancestry::{Ancestry, Bits};
use crate::dom::{Id, Tree};
use crate::media::applies;
use crate::selectors::{Key, Selector, divided};
use crate::styles::{Looks, without_comments};

/// The most rules, selectors of one rule, and characters of one selector that are read.
const MOST_RULES: usize = 4000;
const MOST_SELECTORS: usize = 64;
const LONGEST_SELECTOR: usize = 400;
/// The deepest nesting of rules.
const DEEPEST: u32 = 5;
/// The most characters of style sheets that are read.
const LONGEST: usize = 1 << 20;
/// The most matches of selectors that are tried on one page.
const MOST_TRIES: usize = 2_000_000;
/// The most variables, and the characters of a value with variables.
const MOST_VARIABLES: usize = 1000;
const LONGEST_VALUE: usize = 4000;

#[derive(Debug)]
struct Rule {
    selector: Selector,
    /// Names that an element and its ancestors have if the selector matches it.
    bits: Bits,
    looks: Looks,
    /// Important, then the specificity and the order.
    weight: (bool, (usize, usize, usize), usize),
}

/// The rules of a page.
#[derive(Debug, Default)]
pub(crate) struct Stylesheet {
    rules: Vec<Rule>,
    /// Rules by what their last compound names: an identifier, a class, a tag, or nothing.
    by_id: HashMap<String, Vec<usize>>,
    by_class: HashMap<String, Vec<usize>>,
    by_tag: HashMap<String, Vec<usize>>,
    by_nothing: Vec<usize>,
    /// Whether any rule may hide.
    hides: bool,
    /// The variables; `None` for one with several values, such as those of a light and a dark page.
    variables: HashMap<String, Option<String>>,
    ancestry: Ancestry,
    tries: std::cell::Cell<usize>,
}

impl Stylesheet {
    /// Reads the style sheets of a page.
    pub(crate) fn read(tree: &Tree) -> Self {
        let mut sheet = Self::default();
        let mut left = LONGEST;
        let mut found: Vec<(Vec<String>, String)> = Vec::new();
        for id in tree.descendants(0).filter(|&id| tree.name(id) == "style") {
            if !tree.attribute(id, "media").is_none_or(applies) {
                continue;
            }
            for text in tree.children(id).filter_map(|inner| tree.text(inner)) {
                let mut end = left.min(text.len());
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                left -= end;
                sheet.rules_of(&bare(&text[..end]), &[], 0, &mut found);
            }
        }
        for (selectors, declarations) in found {
            sheet.rule(&selectors, &declarations);
        }
        if !sheet.rules.iter().any(|rule| rule.looks.may_hide_or_colour()) {
            return Self { variables: sheet.variables, ..Self::default() };
        }
        sheet.hides = true;
        sheet.ancestry = Ancestry::new(tree);
        for (number, rule) in sheet.rules.iter().enumerate() {
            let rules = match rule.selector.key() {
                Key::Id(name) => sheet.by_id.entry(name.to_owned()).or_default(),
                Key::Class(name) => sheet.by_class.entry(name.to_owned()).or_default(),
                Key::Tag(name) => sheet.by_tag.entry(name.to_owned()).or_default(),
                Key::Nothing => &mut sheet.by_nothing,
            };
            rules.push(number);
        }
        sheet
    }

    /// Whether any rule may hide.
    pub(crate) fn may_hide(&self) -> bool {
        self.hides
    }

    /// What the rules say of an element.
    pub(crate) fn matched(&self, tree: &Tree, id: Id) -> Option<Looks> {
        if !self.hides {
            return None;
        }
        let mut found: Vec<&Rule> = Vec::new();
        let mut take = |rules: Option<&Vec<usize>>| {
            for &number in rules.into_iter().flatten() {
                let rule = &self.rules[number];
                if !self.ancestry.may_have(id, rule.bits) {
                    continue;
                }
                self.tries.set(self.tries.get() + 1);
                if self.tries.get() < MOST_TRIES && rule.selector.matches(tree, id) {
                    found.push(rule);
                }
            }
        };
        take(self.by_tag.get(tree.name(id)));
        take(Some(&self.by_nothing));
        if let Some(name) = tree.attribute(id, "id") {
            take(self.by_id.get(name.trim()));
        }
        for class in tree.attribute(id, "class").unwrap_or_default().split_ascii_whitespace() {
            take(self.by_class.get(class));
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

    /// What an element's own declarations say.
    pub(crate) fn inline(&self, style: &str) -> Looks {
        let mut looks = Looks::default();
        looks.read(&self.resolved(style));
        looks
    }

    /// Replaces variables by their values.
    fn resolved<'d>(&self, declarations: &'d str) -> Cow<'d, str> {
        let mut text = Cow::Borrowed(declarations);
        for _ in 0..3 {
            let Some(start) = memmem::find(text.as_bytes(), b"var(") else { break };
            let mut out = text[..start].to_owned();
            let mut rest = &text[start..];
            while let Some((before, call)) = rest.split_once("var(") {
                out.push_str(before);
                let end = closed(call);
                let (name, fallback) = call[..end].split_once(',').unwrap_or((&call[..end], ""));
                let value = match self.variables.get(name.trim()) {
                    Some(value) => value.as_deref().unwrap_or("unknown"),
                    None => fallback.trim(),
                };
                out.push_str(value);
                rest = call.get(end + 1..).unwrap_or_default();
                if out.len() > LONGEST_VALUE {
                    break;
                }
            }
            out.push_str(rest);
            text = Cow::Owned(out);
        }
        text
    }

    /// Collects rules: selectors and declarations. Those inside groups whose conditions are met count
    /// too, and nested ones with their outer selectors.
    fn rules_of(
        &mut self,
        text: &str,
        outer: &[String],
        depth: u32,
        found: &mut Vec<(Vec<String>, String)>,
    ) {
        let mut declarations = String::new();
        let mut rest = text;
        while let Some(at) = memchr3(b'{', b';', b'}', rest.as_bytes()) {
            let prelude = rest[..at].trim();
            let sign = rest.as_bytes()[at];
            rest = &rest[at + 1..];
            if sign != b'{' {
                self.declaration(prelude, outer, &mut declarations);
                continue;
            }
            let end = block_end(rest);
            let block = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            if found.len() >= MOST_RULES || depth >= DEEPEST {
                continue;
            }
            let inner: Cow<'_, [String]> = match prelude.strip_prefix('@') {
                Some(group) if is_met(group) => Cow::Borrowed(outer),
                Some(_) => continue,
                None => Cow::Owned(nested(outer, prelude)),
            };
            self.rules_of(block, &inner, depth + 1, found);
        }
        self.declaration(rest.trim(), outer, &mut declarations);
        if !declarations.is_empty() && !outer.is_empty() {
            found.push((outer.to_vec(), declarations));
        }
    }

    fn declaration(&mut self, text: &str, outer: &[String], declarations: &mut String) {
        if outer.is_empty() || text.is_empty() || text.starts_with('@') {
            return;
        }
        if let Some((name, value)) = text.split_once(':').filter(|_| text.starts_with("--")) {
            let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
            if self.variables.len() < MOST_VARIABLES && value.len() < LONGEST_SELECTOR {
                let known = self.variables.entry(name).or_insert_with(|| Some(value.clone()));
                if known.as_ref() != Some(&value) {
                    *known = None;
                }
            }
            return;
        }
        declarations.push_str(text);
        declarations.push(';');
    }

    fn rule(&mut self, selectors: &[String], declarations: &str) {
        let looks = self.inline(declarations);
        if looks.is_empty() {
            return;
        }
        let important = declarations.to_ascii_lowercase().contains("!important");
        for selector in selectors.iter().filter_map(|text| Selector::read(text)) {
            let weight = (important, selector.weight(), self.rules.len());
            self.rules.push(Rule { bits: selector.bits(), selector, looks: looks.clone(), weight });
        }
    }
}

/// The selectors of a rule inside others.
fn nested(outer: &[String], prelude: &str) -> Vec<String> {
    let mut found = Vec::new();
    for own in divided(prelude).into_iter().map(str::trim).filter(|own| !own.is_empty()) {
        if outer.is_empty() {
            found.push(own.replace('&', ":root"));
        }
        for outer in outer {
            let joined =
                if own.contains('&') { own.replace('&', outer) } else { format!("{outer} {own}") };
            found.push(joined);
        }
        if found.len() >= MOST_SELECTORS {
            break;
        }
    }
    found.truncate(MOST_SELECTORS);
    found.retain(|selector| selector.len() <= LONGEST_SELECTOR);
    found
}

/// Whether the rules of a group count, whose prelude follows `@`.
fn is_met(group: &str) -> bool {
    let (name, query) =
        group.split_at(group.find(|c: char| c == '(' || c.is_whitespace()).unwrap_or(group.len()));
    match name.to_ascii_lowercase().as_str() {
        "media" => applies(query),
        "supports" => !query.trim_start().to_ascii_lowercase().starts_with("not"),
        "layer" | "container" | "scope" => true,
        _ => false,
    }
}

/// Text of a `<style>` element without CSS's comments and HTML's signs of them.
fn bare(text: &str) -> Cow<'_, str> {
    let text = without_comments(text);
    if memmem::find(text.as_bytes(), b"--").is_none() {
        return text;
    }
    Cow::Owned(text.replace("<!--", " ").replace("-->", " "))
}

/// The length of a block up to the brace that closes it.
fn block_end(text: &str) -> usize {
    let mut depth = 0_u32;
    for at in memchr2_iter(b'{', b'}', text.as_bytes()) {
        match text.as_bytes()[at] {
            b'{' => depth += 1,
            _ if depth == 0 => return at,
            _ => depth -= 1,
        }
    }
    text.len()
}

/// The length of a text up to the bracket that closes it.
fn closed(text: &str) -> usize {
    let mut depth = 0_u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return at,
            b')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
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
        const BODY: &str =
            "<div id=a class='w y'><i class=i>first</i><p class=x data-q='one two'>text</p></div>";
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
            ".w{.x{display:none}}",
            ".w{color:red;& .x{display:none}}",
            "p{&.x{display:none}}",
            "#a{@media screen{.x{opacity:0}}}",
            "@media (min-width:1px){.x{display:none}}",
            "@media (width>=1px){.x{display:none}}",
            "@media(1px<=width){.x{display:none}}",
            "@media\tscreen{.x{display:none}}",
            "@media/**/screen{.x{display:none}}",
            ".x{content-visibility:hidden}",
            ".x{content-visibility:hidden;visibility:visible}",
            "@media screen and (min-width: 600px){@supports (display:grid){.x{display:none}}}",
            "@supports not (display:none){.x{display:block}}.x{display:none}",
            "[data-q]{display:none}",
            "p[data-q=\"one two\"]{display:none}",
            "[data-q~=two]{display:none}",
            "[class^=x]{display:none}",
            "[data-q*='E T' i]{visibility:hidden}",
            ":is(b, p.x){display:none}",
            "p:not(.z):not([hidden]){display:none}",
            "i + p{display:none}",
            "i ~ .x{display:none}",
            ".i + .x{display:none}",
            ".w > .i ~ p{display:none}",
            "div p:nth-child(2){display:none}",
            "p:last-child{display:none}",
            ":root{--show:none}.x{display:var(--show)}",
            ".x{display:var(--nothing, none)}",
            ".x{d\\69splay:n\\6fne}",
            ".\\78 {display:none}",
            ".x{content:'a';display/**/:none}",
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
            "@media (width<=600px){.x{display:none}}",
            ".x{content-visibility:auto}",
            ".x{content-visibility:hidden}.w .x{content-visibility:visible}",
            ".x{display:none}.w .x{display:block}",
            ".x{display:none}.x:not(.off){display:block}",
            ".a > .x{display:none}",
            ".x + .x{display:none}",
            "p{display:none}.x{display:flex}",
            "{display:none}",
            "[data-q]{display:none}",
            "[class=y]{display:none}",
            ".x::before{display:none}",
            ".x:first-line{display:none}",
            "p:nth-child(3){display:none}",
            "@media (min-width:2000px){.x{display:none}}",
            "@supports not (display:grid){.x{display:none}}",
            "@keyframes a{.x{display:none}}",
            ".z{.x{display:none}}",
            ".x{& + &{display:none}}",
            "p:not(.x){display:none}",
            ":root{--d:none}.dark{--d:block}.x{display:var(--d)}",
            ".x{display:none",
        ] {
            // The last one is closed by the end of the sheet.
            assert_eq!(hidden(css, BODY), css == ".x{display:none", "{css}");
        }
    }
}
