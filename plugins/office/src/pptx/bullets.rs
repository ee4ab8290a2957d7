//! Decides which paragraphs of a slide are list items: by their own properties, their layout or
//! their master.

use carrel_pdk::xml::tree::{Node, Tree};

use crate::package::{Package, target};

use super::{Bullets, Reader, body_like, placeholder};

impl Reader<'_, '_> {
    /// Which levels of a placeholder have bullets by the layout and the master.
    pub(super) fn inherited(
        &mut self,
        layout: Option<&str>,
        placeholder: &(String, String),
    ) -> [Option<bool>; 9] {
        let mut out = [None; 9];
        let mut part = layout.map(str::to_owned);
        for step in 0..2 {
            let Some(name) = part.take() else { break };
            let package = self.package;
            let known =
                self.bullets.entry(name.clone()).or_insert_with(|| layout_of(package, &name));
            let (bullets, next) = (&known.0, known.1.clone());
            let found = bullets.placeholders.get(placeholder).or_else(|| {
                let same = |key: &&(String, String)| {
                    if step == 0 {
                        key.1 == placeholder.1
                    } else {
                        body_like(&key.0) == body_like(&placeholder.0)
                    }
                };
                let mut keys: Vec<_> = bullets.placeholders.keys().filter(same).collect();
                keys.sort();
                bullets.placeholders.get(*keys.first()?)
            });
            let body = [None; 9];
            let body = if body_like(&placeholder.0) { &bullets.body } else { &body };
            for (at, out) in out.iter_mut().enumerate() {
                *out = out.or(found.and_then(|found| found[at])).or(body[at]);
            }
            part = next;
        }
        out
    }
}

/// Whether a paragraph's properties, or those of a level, give it a bullet.
pub(super) fn bullet(tree: &Tree<'_>, properties: Node) -> Option<bool> {
    tree.elements(properties).find_map(|node| match tree.name(node) {
        "buNone" => Some(false),
        "buChar" | "buAutoNum" | "buBlip" => Some(true),
        _ => None,
    })
}

/// Which levels of a list's style have bullets.
pub(super) fn levels(tree: &Tree<'_>, style: Option<Node>) -> [Option<bool>; 9] {
    let mut out = [None; 9];
    for node in style.into_iter().flat_map(|style| tree.elements(style)) {
        let level = tree.name(node).strip_prefix("lvl").and_then(|rest| rest.strip_suffix("pPr"));
        let level =
            level.and_then(|level| level.parse::<usize>().ok()).and_then(|at| at.checked_sub(1));
        if let Some(slot) = level.and_then(|level| out.get_mut(level)) {
            *slot = bullet(tree, node);
        }
    }
    out
}

/// A layout's or a master's bullets, and the part that it is based on.
pub(super) fn layout_of(package: &Package<'_>, part: &str) -> (Bullets, Option<String>) {
    let mut bullets = Bullets::default();
    let Ok(Some(text)) = package.text(part) else { return (bullets, None) };
    let Ok(tree) = Tree::read(&text, "a layout") else { return (bullets, None) };
    for shape in tree.descendants(tree.root()).filter(|&node| tree.name(node) == "sp") {
        let Some(placeholder) = placeholder(&tree, shape) else { continue };
        let style = tree.child(shape, "txBody").and_then(|body| tree.child(body, "lstStyle"));
        bullets.placeholders.insert(placeholder, levels(&tree, style));
    }
    bullets.body = levels(&tree, tree.find(tree.root(), "bodyStyle"));
    let relations = package.relations(part);
    (bullets, target(&relations, "slideMaster").map(str::to_owned))
}
