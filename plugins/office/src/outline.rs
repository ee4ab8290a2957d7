//! Sequential blocks → sections and nested lists.

use carrel_pdk::document::{Block, Item, Kind, Section};
use carrel_pdk::text::collapse;

/// Marks a line's end until whitespace is collapsed.
pub(crate) const LINE: char = '\u{2028}';

/// A text with its lines: whitespace collapsed in each, empty ones at the ends dropped; `None` if
/// nothing is left.
pub(crate) fn lines(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    for line in text.split([LINE, '\u{2029}']) {
        let line = collapse(line);
        if !line.is_empty() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&line);
        }
    }
    (!out.is_empty()).then_some(out)
}

/// A text on one line.
pub(crate) fn one_line(text: &str) -> Option<String> {
    lines(text).map(|text| text.replace('\n', " "))
}

/// Where blocks go.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// Whether headings begin sections or are blocks.
    sections: Option<Vec<Section>>,
    blocks: Vec<Block>,
    /// Open lists with their levels, the outermost first.
    lists: Vec<(u32, Block)>,
}

impl Outline {
    /// The outline of a document.
    pub(crate) fn of_document() -> Self {
        Self { sections: Some(Vec::new()), ..Self::default() }
    }

    /// Appends a block.
    pub(crate) fn push(&mut self, block: Block) {
        self.close_lists();
        self.blocks.push(block);
    }

    /// The block that was added last, if nothing followed it.
    pub(crate) fn last(&mut self) -> Option<&mut Block> {
        if !self.lists.is_empty() {
            return None;
        }
        if self.blocks.is_empty() {
            return self.sections.as_mut()?.last_mut()?.blocks.last_mut();
        }
        self.blocks.last_mut()
    }

    /// Adds a block to the last item, or to the end.
    pub(crate) fn push_inside(&mut self, block: Block) {
        match self.lists.last_mut().and_then(|(_, list)| list.items.last_mut()) {
            Some(item) => item.blocks.push(block),
            None => self.push(block),
        }
    }

    /// Adds an item to the list of a level; starts the list if there is none. A label that only
    /// counts is dropped, because the list is numbered; any other is kept.
    pub(crate) fn item(&mut self, level: u32, counted: bool, role: Option<&str>, mut item: Item) {
        while self.lists.last().is_some_and(|(open, _)| *open > level) {
            self.close_list();
        }
        let open = self.lists.last().filter(|(open, _)| *open == level).map(|(_, list)| list);
        let next = open.filter(|list| list.ordered).map_or(0, |list| list.items.len()) + 1;
        let usual = |next: usize| [format!("{next}."), format!("{next})"), next.to_string()];
        let counts = item.label.as_ref().is_none_or(|label| usual(next).contains(label));
        let ordered = counted && counts;
        if ordered {
            item.label = None;
        }
        if open.is_some_and(|list| list.ordered != ordered) {
            self.close_list();
        }
        match self.lists.last_mut() {
            Some((open, list)) if *open == level => list.items.push(item),
            _ => {
                let role = role.map(str::to_owned);
                let list = Block { ordered, role, items: vec![item], ..Block::empty(Kind::List) };
                self.lists.push((level, list));
            }
        }
    }

    fn close_list(&mut self) {
        let Some((_, list)) = self.lists.pop() else { return };
        match self.lists.last_mut().and_then(|(_, outer)| outer.items.last_mut()) {
            Some(item) => item.blocks.push(list),
            None => self.blocks.push(list),
        }
    }

    pub(crate) fn close_lists(&mut self) {
        while !self.lists.is_empty() {
            self.close_list();
        }
    }

    /// Begins a section, or adds a heading block in an outline without sections.
    pub(crate) fn section(&mut self, section: Section) {
        self.close_lists();
        self.flush();
        match &mut self.sections {
            Some(sections) => sections.push(section),
            None => self.blocks.push(Block {
                label: section.label,
                text: section.heading,
                ..Block::empty(Kind::Heading)
            }),
        }
    }

    /// Puts the blocks into the section that is open.
    fn flush(&mut self) {
        let Some(sections) = &mut self.sections else { return };
        if self.blocks.is_empty() {
            return;
        }
        if sections.is_empty() {
            sections.push(Section { level: 1, ..Section::default() });
        }
        if let Some(last) = sections.last_mut() {
            last.blocks.append(&mut self.blocks);
        }
    }

    /// The level of the section that is open; 0 before the first.
    pub(crate) fn level(&self) -> u32 {
        self.sections.as_ref().and_then(|all| all.last()).map_or(0, |section| section.level)
    }

    /// All sections.
    pub(crate) fn into_sections(mut self) -> Vec<Section> {
        self.close_lists();
        self.flush();
        self.sections.unwrap_or_default()
    }

    /// All blocks, of an outline without sections.
    pub(crate) fn into_blocks(mut self) -> Vec<Block> {
        self.close_lists();
        self.blocks
    }
}

/// A block of several paragraphs: the text of a single one, else the blocks inside.
pub(crate) fn boxed(kind: Kind, role: Option<&str>, mut blocks: Vec<Block>) -> Option<Block> {
    let role = role.map(str::to_owned);
    let plain = |block: &Block| {
        block.kind == Kind::Paragraph && block.blocks.is_empty() && block.label.is_none()
    };
    match blocks.first() {
        None => None,
        Some(first) if plain(first) && (blocks.len() == 1 || kind == Kind::Footnote) => {
            let text = blocks.remove(0).text;
            Some(Block { role, text, blocks, ..Block::empty(kind) })
        }
        Some(_) => Some(Block { role, blocks, ..Block::empty(kind) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str) -> Item {
        Item { text: Some(text.to_owned()), ..Item::default() }
    }

    #[test]
    fn deeper_items_are_a_list_inside_the_item_before() {
        let mut outline = Outline::of_document();
        outline.item(0, false, None, item("a"));
        outline.item(2, true, None, item("b"));
        outline.item(0, false, None, item("c"));
        let sections = outline.into_sections();
        let list = &sections[0].blocks[0];
        assert_eq!(list.items.len(), 2);
        assert!(list.items[0].blocks[0].ordered);
    }

    #[test]
    fn a_label_that_counts_is_left_to_the_list() {
        let labelled = |label: &str| Item { label: Some(label.to_owned()), ..item("x") };
        let mut outline = Outline::default();
        for label in ["1.", "2.", "(c)"] {
            outline.item(0, true, None, labelled(label));
        }
        let blocks = outline.into_blocks();
        assert_eq!(blocks.len(), 2);
        assert!(blocks[0].ordered && blocks[0].items.iter().all(|item| item.label.is_none()));
        assert_eq!(blocks[1].items[0].label.as_deref(), Some("(c)"));
    }

    #[test]
    fn text_keeps_its_lines_and_no_other_whitespace() {
        assert_eq!(lines(" a \t b\u{2028}\u{2028} c\n").as_deref(), Some("a b\nc"));
        assert_eq!(lines(" \u{2028} "), None);
    }
}
