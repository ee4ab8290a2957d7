//! Pictures, tables, charts; notes and comments of a slide.

use carrel_pdk::document::{Block, Kind};
use carrel_pdk::xml::tree::Node;

use crate::drawing;
use crate::outline::{LINE, Outline, boxed, lines, one_line};
use crate::package::{Relations, target, tree};
use carrel_pdk::document::grid::{Cell, place};

use super::{Context, Reader, Source};

impl Reader<'_, '_> {
    pub(super) fn picture(&mut self, source: Source<'_, '_>, shape: Node, outline: &mut Outline) {
        let tree = source.tree;
        let alt = tree.find(shape, "cNvPr").and_then(|node| tree.attribute(node, "descr"));
        let blip = tree.find(shape, "blip");
        let id = blip.and_then(|blip| {
            tree.prefixed_attribute(blip, "embed").or_else(|| tree.prefixed_attribute(blip, "link"))
        });
        let href =
            id.and_then(|id| source.relations.get(id.as_ref())).map(|rel| rel.target.clone());
        let text = alt.and_then(|alt| one_line(&alt));
        if href.is_some() || text.is_some() {
            outline.push(Block { href, text, ..Block::empty(Kind::Figure) });
        }
    }

    pub(super) fn frame(&mut self, source: Source<'_, '_>, frame: Node, outline: &mut Outline) {
        let tree = source.tree;
        let Some(data) = tree.find(frame, "graphicData") else { return };
        let part = |node: Option<Node>, name: &str| {
            let id = tree.prefixed_attribute(node?, name)?;
            let relation = source.relations.get(id.as_ref()).filter(|rel| !rel.external)?;
            Some(relation.target.clone())
        };
        if let Some(table) = tree.find(data, "tbl") {
            self.table(source, table, outline);
        } else if let Some(part) = part(tree.find(data, "chart"), "id") {
            outline.close_lists();
            if let Some(chart) = drawing::chart(self.package, &part) {
                outline.push(chart);
            }
        } else if let Some(part) = part(tree.find(data, "relIds"), "dm") {
            if let Some(diagram) = drawing::diagram(self.package, &part) {
                outline.push(diagram);
            }
        } else if let Some(object) = tree.find(data, "oleObj") {
            let what = tree.attribute(object, "progId").unwrap_or_default();
            let message = format!("an embedded object is not read: {what}");
            let location = format!("byte {} of {}", tree.offset(object), source.part);
            self.document.warn("embedded_object", message, Some(location));
        }
    }

    pub(super) fn table(&mut self, source: Source<'_, '_>, table: Node, outline: &mut Outline) {
        let tree = source.tree;
        let mut rows = Vec::new();
        for row in tree.elements(table).filter(|&node| tree.name(node) == "tr") {
            let mut cells = Vec::new();
            for cell in tree.elements(row).filter(|&node| tree.name(node) == "tc") {
                let on = |name: &str| {
                    matches!(tree.attribute(cell, name).as_deref(), Some("1" | "true"))
                };
                let mut text = String::new();
                if let Some(body) = tree.child(cell, "txBody") {
                    for paragraph in tree.elements(body).filter(|&node| tree.name(node) == "p") {
                        text.push_str(&self.words(source, paragraph));
                        text.push(LINE);
                    }
                }
                let text = lines(&text).unwrap_or_default();
                if (on("hMerge") || on("vMerge")) && text.is_empty() {
                    continue;
                }
                let number = |name: &str| {
                    tree.attribute(cell, name).and_then(|number| number.parse().ok()).unwrap_or(1)
                };
                cells.push(Cell::new(text, number("rowSpan"), number("gridSpan")));
            }
            rows.push(cells);
        }
        let properties = tree.child(table, "tblPr");
        let first = properties.and_then(|node| tree.attribute(node, "firstRow"));
        let header = matches!(first.as_deref(), Some("1" | "true")) && rows.len() > 1;
        let mut block = Block { header_rows: u64::from(header), ..Block::empty(Kind::Table) };
        if !place(rows, &mut block) {
            let location = format!("byte {} of {}", tree.offset(table), source.part);
            let message = "cells span more of the table than there is";
            self.document.warn("table_spans", message, Some(location));
        }
        if !block.rows.is_empty() {
            outline.push(block);
        }
    }

    /// The speaker's notes of a slide.
    pub(super) fn notes(&mut self, relations: &Relations, number: usize, outline: &mut Outline) {
        let Some(part) = target(relations, "notesSlide") else { return };
        let text = match self.package.text(part) {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(error) => {
                return self.document.warn("damaged_part", error.message, Some(part.to_owned()));
            }
        };
        let notes = match tree(part, &text, "notes") {
            Ok(notes) => notes,
            Err(error) => {
                return self.document.warn("damaged_part", error.message, Some(part.to_owned()));
            }
        };
        let own = self.package.relations(part);
        let source = Source { tree: &notes, relations: &own, part };
        let Some(shapes) = notes.find(notes.root(), "spTree") else { return };
        let mut inside = Outline::default();
        let context = Context { title: None, layout: None, number };
        self.shapes(source, shapes, &context, &mut inside, 0);
        let mut blocks = inside.into_blocks();
        blocks.retain(|block| block.kind != Kind::Figure || block.text.is_some());
        if let Some(block) = boxed(Kind::Quote, Some("notes"), blocks) {
            outline.push(Block { label: Some("Notes".to_owned()), ..block });
        }
    }

    pub(super) fn comments(&mut self, relations: &Relations, outline: &mut Outline) {
        let Some(part) = target(relations, "comments") else { return };
        let Ok(Some(text)) = self.package.text(part) else { return };
        let comments = match tree(part, &text, "comments") {
            Ok(comments) => comments,
            Err(error) => {
                return self.document.warn("damaged_part", error.message, Some(part.to_owned()));
            }
        };
        for node in comments.descendants(comments.root()) {
            if !matches!(comments.name(node), "cm" | "reply") {
                continue;
            }
            let body = comments.child(node, "text").or_else(|| comments.child(node, "txBody"));
            let Some(body) = body else { continue };
            let text = drawing::words(&comments, body).or_else(|| comments.text(body));
            let author = comments.attribute(node, "authorId");
            let label = author.and_then(|id| self.authors.get(id.as_ref()).cloned());
            if let Some(text) = text {
                let role = Some("comment".to_owned());
                outline.push(Block { role, label, ..Block::new(Kind::Footnote, text) });
            }
        }
    }
}
