//! Words between blocks: formatting, links, formulas.

use carrel_pdk::text::{Script, write_script};
use carrel_pdk::xml::tree::{Node, Piece, Tree};

use crate::outline::{LINE, one_line};

use super::{Chapter, Close, is_block};

impl<'t, 'd> Chapter<'t, 'd> {
    /// The words inside a node; `None` when there are none.
    pub(super) fn words(&mut self, node: Node) -> Option<String> {
        let mut text = String::new();
        self.inside(node, &mut text);
        (!text.trim().is_empty()).then_some(text)
    }

    pub(super) fn inline(&mut self, node: Node, out: &mut String) {
        self.walk(node, true, out);
    }

    pub(super) fn inside(&mut self, node: Node, out: &mut String) {
        self.walk(node, false, out);
    }

    pub(super) fn walk(&mut self, node: Node, with: bool, out: &mut String) {
        let tree = self.tree;
        let mut open: Vec<(Node, Close)> = Vec::new();
        let mut skipped: Option<Node> = None;
        for inner in with.then_some(node).into_iter().chain(tree.descendants(node)) {
            if skipped.is_some_and(|skipped| tree.contains(skipped, inner)) {
                continue;
            }
            while let Some((_, close)) = open.pop_if(|(outer, _)| !tree.contains(*outer, inner)) {
                self.close(close, out);
            }
            let start = out.len();
            match tree.piece(inner) {
                Piece::Text(text) => out.push_str(text),
                Piece::Character(character) => out.push(character),
                Piece::Element(name) => match name {
                    "br" => out.push(LINE),
                    "sub" => open.push((inner, Close::Script(Script::Sub, start))),
                    "sup" => open.push((inner, Close::Script(Script::Super, start))),
                    "a" => {
                        let href = tree.attribute(inner, "href");
                        if let Some(href) =
                            href.filter(|href| href.contains("://") || href.starts_with("mailto:"))
                        {
                            open.push((inner, Close::Link(href.into_owned(), start)));
                        }
                    }
                    "math" => {
                        match formula(tree, inner) {
                            (Some(tex), _) => out.push_str(&format!("${tex}$")),
                            (None, text) => out.push_str(&text.unwrap_or_default()),
                        }
                        skipped = Some(inner);
                    }
                    "rp" | "script" | "style" | "svg" | "template" => skipped = Some(inner),
                    "rt" => {
                        if let Some(reading) = tree.text(inner) {
                            out.push_str(&format!("({reading})"));
                        }
                        skipped = Some(inner);
                    }
                    name if is_block(name) => out.push(LINE),
                    _ if self.is_hidden(inner) => skipped = Some(inner),
                    _ => {}
                },
            }
        }
        while let Some((_, close)) = open.pop() {
            self.close(close, out);
        }
    }

    pub(super) fn close(&mut self, close: Close, out: &mut String) {
        match close {
            Close::Script(script, start) => {
                let content = out.split_off(start.min(out.len()));
                let core = content.trim();
                let lead = content.len() - content.trim_start().len();
                out.push_str(&content[..lead]);
                write_script(script, core, out);
                out.push_str(&content[lead + core.len()..]);
            }
            Close::Link(href, start) => {
                let text = out.get(start..).and_then(one_line);
                self.found.links.push((href, text));
            }
        }
    }
}

/// A formula's TeX, where an annotation or the alternative text has it, and its text.
pub(crate) fn formula(tree: &Tree<'_>, node: Node) -> (Option<String>, Option<String>) {
    let annotation = tree.descendants(node).find(|&inner| {
        tree.name(inner) == "annotation"
            && tree
                .attribute(inner, "encoding")
                .is_some_and(|kind| kind.to_lowercase().contains("tex"))
    });
    let tex = annotation.and_then(|annotation| one_line(&tree.verbatim(annotation)));
    (tex, tree.text(node))
}
