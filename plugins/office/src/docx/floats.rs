//! Frames: pictures, charts, text boxes.

use carrel_pdk::document::{Block, Kind};
use carrel_pdk::xml::tree::Node;

use super::{Reader, Source};
use crate::drawing;
use crate::outline::{Outline, boxed, one_line};

impl<'p, 'd> Reader<'p, 'd> {
    /// Reads a drawing: text boxes, pictures, charts, diagrams.
    pub(crate) fn float(
        &mut self,
        source: Source<'_, '_>,
        node: Node,
        outline: &mut Outline,
        depth: u32,
    ) {
        let tree = source.tree;
        let mut skipped: Option<Node> = None;
        let mut words: Option<String> = None;
        for inner in std::iter::once(node).chain(tree.descendants(node)) {
            if skipped.is_some_and(|skipped| tree.contains(skipped, inner)) {
                continue;
            }
            let target = |name: &str| {
                let id = tree.prefixed_attribute(inner, name)?;
                source.relations.get(id.as_ref())
            };
            match tree.name(inner) {
                "Fallback" | "Choice" => {
                    let around = tree.parent(inner);
                    if around.and_then(|around| drawing::branch(tree, around)) != Some(inner) {
                        skipped = Some(inner);
                    }
                }
                "txbxContent" => {
                    let mut inside = Outline::default();
                    let (caption, references) = (self.caption.take(), self.in_references);
                    self.in_references = false;
                    self.blocks(source, inner, &mut inside, depth + 1);
                    self.flush_caption(&mut inside);
                    (self.caption, self.in_references) = (caption, references);
                    if let Some(text) = boxed(Kind::Quote, Some("text-box"), inside.into_blocks()) {
                        outline.push(text);
                    }
                    skipped = Some(inner);
                }
                "docPr" | "cNvPr" => {
                    let alt =
                        tree.attribute(inner, "descr").or_else(|| tree.attribute(inner, "title"));
                    words = alt.map(|alt| alt.into_owned()).or(words);
                }
                "blip" => {
                    if let Some(relation) = target("embed").or_else(|| target("link")) {
                        outline.push(figure(relation.target.clone(), words.take()));
                    }
                }
                "imagedata" => {
                    if let Some(relation) = target("id").or_else(|| target("pict")) {
                        let title = tree.attribute(inner, "title").map(|title| title.into_owned());
                        outline.push(figure(relation.target.clone(), words.take().or(title)));
                    }
                }
                "chart" => {
                    let part = target("id").filter(|rel| !rel.external);
                    let chart = part.and_then(|rel| drawing::chart(self.package, &rel.target));
                    if let Some(mut chart) = chart {
                        chart.caption = self.caption.take().or(chart.caption);
                        outline.push(chart);
                    }
                }
                "relIds" => {
                    let part = target("dm").filter(|rel| !rel.external);
                    let diagram = part.and_then(|rel| drawing::diagram(self.package, &rel.target));
                    if let Some(diagram) = diagram {
                        outline.push(diagram);
                    }
                }
                "textpath" => {
                    if let Some(text) = tree.attribute(inner, "string") {
                        outline.push(Block::new(Kind::Paragraph, text));
                    }
                }
                "OLEObject" => {
                    let what = tree.attribute(inner, "ProgID").unwrap_or_default();
                    let message = format!("an embedded object is not read: {what}");
                    let location = format!("byte {} of {}", tree.offset(inner), source.part);
                    self.document.warn("embedded_object", message, Some(location));
                }
                _ => {}
            }
        }
        if let Some(words) = words.and_then(|words| one_line(&words)) {
            let undescribed =
                outline.last().filter(|last| last.kind == Kind::Figure && last.text.is_none());
            match undescribed {
                Some(last) => last.text = Some(words),
                None => outline.push(figure(String::new(), Some(words))),
            }
        }
    }
}

pub(crate) fn figure(href: String, words: Option<String>) -> Block {
    let href = Some(href).filter(|href| !href.is_empty());
    let text = words.and_then(|words| one_line(&words));
    Block { href, text, ..Block::empty(Kind::Figure) }
}

/// The texts of blocks of any kind.
pub(crate) fn texts(blocks: &[Block]) -> Vec<String> {
    let mut out = Vec::new();
    for block in blocks {
        out.extend(block.text.iter().cloned());
        let cells = block.rows.iter().flatten().filter(|cell| !cell.is_empty());
        out.extend(cells.cloned());
        for item in &block.items {
            out.extend(item.text.iter().cloned());
            out.extend(texts(&item.blocks));
        }
        out.extend(texts(&block.blocks));
    }
    out
}
