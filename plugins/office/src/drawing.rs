//! Charts and diagrams that drawings refer to, in text documents and presentations alike.

use carrel_pdk::document::{Block, Item, Kind};
use carrel_pdk::xml::tree::{Node, Tree};

use crate::outline::one_line;
use crate::package::Package;
use carrel_pdk::document::grid::{Cell, place};

/// The most points of a series; a chart with more is not text.
const MAX_POINTS: usize = 5000;
/// Series of one chart.
const MAX_SERIES: usize = 500;

/// The text of every `t` inside.
pub(crate) fn words(tree: &Tree<'_>, node: Node) -> Option<String> {
    let mut out = String::new();
    for inner in tree.descendants(node) {
        match tree.name(inner) {
            "t" => out.push_str(&tree.verbatim(inner)),
            "p" | "br" | "tab" => out.push(' '),
            _ => {}
        }
    }
    one_line(&out)
}

/// The points of a cache by their index.
fn points(tree: &Tree<'_>, node: Option<Node>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let Some(node) = node else { return out };
    for point in tree.descendants(node).filter(|&inner| tree.name(inner) == "pt") {
        let at = tree.attribute(point, "idx").and_then(|at| at.parse::<usize>().ok());
        let at = at.unwrap_or(out.len());
        if at >= MAX_POINTS {
            continue;
        }
        if out.len() <= at {
            out.resize(at + 1, String::new());
        }
        let value = tree.child(point, "v").and_then(|value| tree.text(value));
        if let (Some(slot), Some(value)) = (out.get_mut(at), value) {
            *slot = value;
        }
    }
    out
}

/// A chart as the table of its series, from its cached values.
pub(crate) fn chart(package: &Package<'_>, part: &str) -> Option<Block> {
    let text = package.text(part).ok().flatten()?;
    let tree = Tree::read(&text, "a chart").ok()?;
    let chart = tree.find(tree.root(), "chart")?;
    let title = tree.child(chart, "title").and_then(|title| words(&tree, title));
    let mut columns: Vec<(String, Vec<String>)> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let series = tree.descendants(chart).filter(|&inner| tree.name(inner) == "ser");
    for series in series.take(MAX_SERIES) {
        let part = |name: &str| tree.child(series, name);
        let category = points(&tree, part("cat").or_else(|| part("xVal")));
        if category.len() > names.len() {
            names = category;
        }
        let name = part("tx").map(|name| points(&tree, Some(name)).join(" "));
        let values = points(&tree, part("val").or_else(|| part("yVal")));
        columns.push((name.unwrap_or_default(), values));
    }
    let height = columns.iter().map(|(_, values)| values.len()).chain([names.len()]).max()?;
    let mut block = Block {
        role: Some("chart".to_owned()),
        caption: title,
        header_rows: 1,
        ..Block::empty(Kind::Table)
    };
    let cell = |text: &str| Cell::new(text.to_owned(), 1, 1);
    let mut head = vec![cell("")];
    head.extend(columns.iter().map(|(name, _)| cell(name)));
    let mut rows = vec![head];
    for at in 0..height {
        let of = |list: &Vec<String>| cell(list.get(at).map_or("", String::as_str));
        let mut row = vec![of(&names)];
        row.extend(columns.iter().map(|(_, values)| of(values)));
        rows.push(row);
    }
    if height == 0 || columns.is_empty() {
        block = Block { header_rows: 0, ..block };
        block.kind = Kind::Figure;
        return block.caption.is_some().then_some(block);
    }
    place(rows, &mut block);
    Some(block)
}

/// A diagram (SmartArt) as the list of its texts.
pub(crate) fn diagram(package: &Package<'_>, part: &str) -> Option<Block> {
    let text = package.text(part).ok().flatten()?;
    let tree = Tree::read(&text, "a diagram").ok()?;
    let mut items = Vec::new();
    for point in tree.descendants(tree.root()).filter(|&inner| tree.name(inner) == "pt") {
        let text = tree.child(point, "t").and_then(|body| words(&tree, body));
        if text.is_some() {
            items.push(Item { text, ..Item::default() });
        }
    }
    let role = Some("diagram".to_owned());
    (!items.is_empty()).then(|| Block { role, items, ..Block::empty(Kind::List) })
}

/// The branch of an `AlternateContent` that is read: the choice, unless only the fallback has
/// content.
pub(crate) fn branch(tree: &Tree<'_>, alternatives: Node) -> Option<Node> {
    let choice = tree.child(alternatives, "Choice");
    let fallback = tree.child(alternatives, "Fallback");
    let has_content = |node: Node| {
        tree.descendants(node).any(|inner| {
            matches!(
                tree.name(inner),
                "t" | "blip" | "chart" | "relIds" | "imagedata" | "oMath" | "sp" | "pic"
            )
        })
    };
    choice.filter(|&node| has_content(node)).or(fallback).or(choice)
}
