//! Styles and numbering of a text document: which paragraphs are headings and items, and how they count.

use std::collections::HashMap;

use carrel_pdk::xml::tree::{Node, Tree};

/// The longest chain of styles based on one another.
const LONGEST: usize = 20;

/// A style.
#[derive(Debug, Clone, Default)]
pub(crate) struct Style {
    /// Its name in lower case.
    name: String,
    based_on: Option<String>,
    /// Level of its outline from 0; 9 is text.
    outline: Option<u32>,
    numbering: Option<String>,
    level: Option<u32>,
    /// A table's first row is formatted differently.
    first_row: bool,
}

/// All styles by their identifiers.
#[derive(Debug, Default)]
pub(crate) struct Styles(HashMap<String, Style>);

fn value(tree: &Tree<'_>, node: Node, name: &str) -> Option<String> {
    tree.attribute(tree.child(node, name)?, "val").map(|value| value.into_owned())
}

/// A paragraph's properties.
#[derive(Debug, Default, Clone)]
pub(crate) struct Shape {
    pub(crate) style: Option<String>,
    outline: Option<u32>,
    numbering: Option<String>,
    level: Option<u32>,
}

impl Shape {
    /// Reads a paragraph's properties, `pPr`.
    pub(crate) fn of(tree: &Tree<'_>, paragraph: Node) -> Self {
        let Some(properties) = tree.child(paragraph, "pPr") else { return Self::default() };
        let numbering = tree.child(properties, "numPr");
        Self {
            style: value(tree, properties, "pStyle"),
            outline: value(tree, properties, "outlineLvl").and_then(|level| level.parse().ok()),
            numbering: numbering.and_then(|node| value(tree, node, "numId")),
            level: numbering
                .and_then(|node| value(tree, node, "ilvl"))
                .and_then(|level| level.parse().ok()),
        }
    }
}

impl Styles {
    pub(crate) fn read(tree: &Tree<'_>) -> Self {
        let mut styles = HashMap::new();
        for node in tree.elements(tree.root()).filter(|&node| tree.name(node) == "style") {
            let Some(id) = tree.attribute(node, "styleId") else { continue };
            let shape = Shape::of(tree, node);
            let first_row = tree.elements(node).any(|part| {
                tree.name(part) == "tblStylePr"
                    && tree.attribute(part, "type").as_deref() == Some("firstRow")
            });
            let style = Style {
                name: value(tree, node, "name").unwrap_or_default().to_lowercase(),
                based_on: value(tree, node, "basedOn"),
                outline: shape.outline,
                numbering: shape.numbering,
                level: shape.level,
                first_row,
            };
            styles.insert(id.into_owned(), style);
        }
        Self(styles)
    }

    /// A style and those that it is based on, the nearest first.
    fn chain<'s>(&'s self, id: Option<&'s str>) -> impl Iterator<Item = &'s Style> {
        let first = id.and_then(|id| self.0.get(id));
        std::iter::successors(first, |style| self.0.get(style.based_on.as_deref()?)).take(LONGEST)
    }

    /// The names of a paragraph's style and its parents, in lower case. The name of an undefined
    /// style is its identifier.
    pub(crate) fn names(&self, shape: &Shape) -> Vec<String> {
        let names: Vec<String> =
            self.chain(shape.style.as_deref()).map(|style| style.name.clone()).collect();
        match &shape.style {
            Some(id) if names.is_empty() => vec![spaced(id)],
            _ => names,
        }
    }

    /// The level of a heading, from 1.
    pub(crate) fn heading(&self, shape: &Shape) -> Option<u32> {
        if let Some(level) = shape.outline {
            return (level < 9).then_some(level + 1);
        }
        for style in self.chain(shape.style.as_deref()) {
            if let Some(level) = style.outline {
                return (level < 9).then_some(level + 1);
            }
            if let Some(level) = heading_name(&style.name) {
                return Some(level);
            }
        }
        let unknown = shape.style.as_deref().filter(|id| !self.0.contains_key(*id));
        unknown.and_then(|id| heading_name(&spaced(id)))
    }

    /// The list that a paragraph is in and its level there.
    pub(crate) fn list(&self, shape: &Shape) -> Option<(String, u32)> {
        let from =
            |part: fn(&Style) -> Option<String>| self.chain(shape.style.as_deref()).find_map(part);
        let list = shape.numbering.clone().or_else(|| from(|style| style.numbering.clone()))?;
        let levels = || self.chain(shape.style.as_deref()).find_map(|style| style.level);
        let level = shape.level.or_else(levels).unwrap_or(0).min(8);
        (list != "0").then_some((list, level))
    }

    fn list_of_style(&self, id: &str) -> Option<String> {
        self.chain(Some(id)).find_map(|style| style.numbering.clone())
    }

    /// Whether a table's style formats its first row as a header.
    pub(crate) fn has_first_row(&self, id: &str) -> bool {
        self.chain(Some(id)).any(|style| style.first_row)
    }
}

/// `Heading1` as `heading 1`.
fn spaced(id: &str) -> String {
    let digits = id.len() - id.trim_end_matches(|last: char| last.is_ascii_digit()).len();
    let (word, number) = id.split_at(id.len() - digits);
    let word = word.trim_end_matches(['-', '_', ' ']).to_lowercase();
    if number.is_empty() { word } else { format!("{word} {number}") }
}

/// The level of a style by its name, in the languages of Word's built-in styles.
fn heading_name(name: &str) -> Option<u32> {
    const WORDS: &[&str] = &[
        "heading",
        "überschrift",
        "berschrift",
        "titre",
        "título",
        "titulo",
        "ttulo",
        "titolo",
        "kop",
        "rubrik",
        "overskrift",
        "otsikko",
        "nagłówek",
        "nadpis",
        "заголовок",
        "标题",
        "標題",
        "見出し",
        "제목",
        "başlık",
        "címsor",
        "titlu",
    ];
    let (word, number) = name.rsplit_once(' ').unwrap_or_else(|| {
        let end = name.trim_end_matches(|last: char| last.is_ascii_digit()).len();
        name.split_at(end)
    });
    let level: u32 = number.parse().ok()?;
    (WORDS.contains(&word.trim()) && (1..=9).contains(&level)).then_some(level)
}

/// A level of a list.
#[derive(Debug, Clone, Default)]
struct Level {
    format: String,
    text: String,
    start: u32,
}

#[derive(Debug, Default)]
struct Abstract {
    levels: HashMap<u32, Level>,
    /// The style that has the levels.
    link: Option<String>,
}

/// Lists of a document and the state of their counters.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    abstracts: HashMap<String, Abstract>,
    /// The abstract list of a list, and its levels with another start.
    lists: HashMap<String, (String, HashMap<u32, u32>)>,
    counters: HashMap<String, [u32; 9]>,
    /// Lists that have begun.
    begun: std::collections::HashSet<String>,
}

/// An item's number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) counted: bool,
    pub(crate) label: Option<String>,
}

impl Numbering {
    pub(crate) fn read(tree: &Tree<'_>) -> Self {
        let mut numbering = Self::default();
        for node in tree.elements(tree.root()) {
            match tree.name(node) {
                "abstractNum" => {
                    let Some(id) = tree.attribute(node, "abstractNumId") else { continue };
                    let levels = tree.elements(node).filter(|&level| tree.name(level) == "lvl");
                    let levels = levels.filter_map(|level| read_level(tree, level)).collect();
                    let link = value(tree, node, "numStyleLink");
                    numbering.abstracts.insert(id.into_owned(), Abstract { levels, link });
                }
                "num" => {
                    let (Some(id), Some(of)) =
                        (tree.attribute(node, "numId"), value(tree, node, "abstractNumId"))
                    else {
                        continue;
                    };
                    let mut starts = HashMap::new();
                    for change in tree.elements(node).filter(|&kid| tree.name(kid) == "lvlOverride")
                    {
                        let level =
                            tree.attribute(change, "ilvl").and_then(|text| text.parse().ok());
                        let start = value(tree, change, "startOverride");
                        let start = start.and_then(|start| start.parse().ok());
                        if let (Some(level), Some(start)) = (level, start) {
                            starts.insert(level, start);
                        }
                    }
                    numbering.lists.insert(id.into_owned(), (of, starts));
                }
                _ => {}
            }
        }
        numbering
    }

    /// Counts an item of a list.
    pub(crate) fn next(&mut self, list: &str, level: u32, styles: &Styles) -> Number {
        let plain = Number { counted: false, label: None };
        let Some((mut of, starts)) = self.lists.get(list).cloned() else { return plain };
        if let Some(style) = self.abstracts.get(&of).and_then(|entry| entry.link.as_deref())
            && let Some((other, _)) = styles.list_of_style(style).and_then(|id| self.lists.get(&id))
        {
            of.clone_from(other);
        }
        let Some(levels) = self.abstracts.get(&of).map(|entry| &entry.levels) else { return plain };
        let Some(own) = levels.get(&level) else { return plain };
        let start = |level: u32| levels.get(&level).map_or(1, |level| level.start);
        let counters = self
            .counters
            .entry(of.clone())
            .or_insert_with(|| std::array::from_fn(|level| start(level as u32).saturating_sub(1)));
        if self.begun.insert(list.to_owned()) {
            for (&level, &start) in &starts {
                if let Some(counter) = counters.get_mut(level as usize) {
                    *counter = start.saturating_sub(1);
                }
            }
        }
        for (at, counter) in counters.iter_mut().enumerate() {
            let here = at as u32;
            if here == level {
                *counter = counter.saturating_add(1);
            } else if here > level {
                *counter = start(here).saturating_sub(1);
            } else if *counter == 0 {
                // An outer level that has not been used counts as begun.
                *counter = start(here).max(1);
            }
        }
        if matches!(own.format.as_str(), "bullet" | "none" | "") {
            return plain;
        }
        let mut label = String::new();
        let mut characters = own.text.chars().peekable();
        while let Some(character) = characters.next() {
            let digit =
                characters.peek().and_then(|next| next.to_digit(10)).filter(|&digit| digit > 0);
            match digit.filter(|_| character == '%') {
                Some(digit) => {
                    characters.next();
                    let format = levels.get(&(digit - 1)).map_or("decimal", |level| &level.format);
                    let number = counters.get(digit as usize - 1).copied().unwrap_or(0);
                    label.push_str(&written(number, format));
                }
                None => label.push(character),
            }
        }
        let label = Some(label.trim().to_owned()).filter(|label| !label.is_empty());
        Number { counted: label.is_some(), label }
    }
}

fn read_level(tree: &Tree<'_>, node: Node) -> Option<(u32, Level)> {
    let number = tree.attribute(node, "ilvl")?.parse().ok()?;
    let level = Level {
        format: value(tree, node, "numFmt").unwrap_or_else(|| "decimal".to_owned()),
        text: value(tree, node, "lvlText").unwrap_or_default(),
        start: value(tree, node, "start").and_then(|start| start.parse().ok()).unwrap_or(1),
    };
    Some((number, level))
}

/// A number in one of the formats of lists.
pub(crate) fn written(number: u32, format: &str) -> String {
    match format {
        "lowerLetter" | "upperLetter" if (1..=780).contains(&number) => {
            let first = if format == "lowerLetter" { b'a' } else { b'A' };
            let letter = char::from(first + ((number - 1) % 26) as u8);
            letter.to_string().repeat((number as usize - 1) / 26 + 1)
        }
        "lowerRoman" | "upperRoman" if (1..4000).contains(&number) => {
            const SIGNS: &[(u32, &str)] = &[
                (1000, "m"),
                (900, "cm"),
                (500, "d"),
                (400, "cd"),
                (100, "c"),
                (90, "xc"),
                (50, "l"),
                (40, "xl"),
                (10, "x"),
                (9, "ix"),
                (5, "v"),
                (4, "iv"),
                (1, "i"),
            ];
            let mut left = number;
            let mut out = String::new();
            for &(value, sign) in SIGNS {
                while left >= value {
                    out.push_str(sign);
                    left -= value;
                }
            }
            if format == "upperRoman" { out.to_uppercase() } else { out }
        }
        "decimalZero" => format!("{number:02}"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_known_in_other_languages_and_by_identifier() {
        for (name, level) in [("heading 1", 1), ("überschrift 2", 2), ("标题 3", 3), ("見出し4", 4)]
        {
            assert_eq!(heading_name(name), Some(level), "{name}");
        }
        assert_eq!(heading_name("toc 1"), None);
        assert_eq!(heading_name(&spaced("Heading2")), Some(2));
    }

    #[test]
    fn numbers_are_written_in_the_lists_format() {
        for (number, format, text) in [
            (4, "lowerRoman", "iv"),
            (28, "upperLetter", "BB"),
            (7, "decimalZero", "07"),
            (1994, "upperRoman", "MCMXCIV"),
            (3, "chineseCounting", "3"),
        ] {
            assert_eq!(written(number, format), text);
        }
    }

    #[test]
    fn styles_that_are_based_on_each_other_end() {
        let document = "<styles><style styleId='a'><name val='x'/><basedOn val='b'/></style>\
            <style styleId='b'><name val='y'/><basedOn val='a'/></style></styles>";
        let tree = Tree::read(document, "styles").unwrap();
        let shape = Shape { style: Some("a".to_owned()), ..Shape::default() };
        assert_eq!(Styles::read(&tree).heading(&shape), None);
    }
}
