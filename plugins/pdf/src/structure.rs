//! Classifies blocks: title, headings, captions, notes, lists, references.

mod running;
mod style;

use std::collections::HashMap;

use carrel_pdk::document::{self, Abstract, Document, Item, Kind, Metadatum, Section};

use crate::blocks::Block;
use crate::font::Font;
use crate::geometry::Direction;
use crate::open::PageText;
use crate::prose::{self, Words};
use crate::tables::Table;
use crate::tags::{Role, Tags};
use crate::{identifiers, metadata, references};

use running::drop_running;
pub(crate) use style::is_name_of_section;
use style::{Style, is_known};

/// Builds the document from the text of pages.
pub(crate) fn fill(
    mut pages: Vec<PageText>,
    fonts: &[Font<'_>],
    tags: &Tags,
    whole: bool,
    document: &mut Document,
) {
    let running = drop_running(&mut pages);
    for text in running {
        let (name, from) = ("running_title".to_owned(), "header or footer".to_owned());
        document.metadata.push(Metadatum { name, value: text, from, ..Metadatum::default() });
    }
    let mut words = Words::default();
    for line in pages.iter().flat_map(|page| &page.blocks).flat_map(|block| &block.lines) {
        words.add(&line.text);
    }
    identify(&pages, whole, document);
    let style = Style::of(&pages, document);
    let title = if whole { style.title(&pages, document) } else { None };
    let mut repeats: HashMap<String, usize> = HashMap::new();
    for block in pages.iter().flat_map(|page| &page.blocks).filter(|block| block.lines.len() <= 4) {
        *repeats.entry(entry_key(&words.join(block.lines.iter()))).or_default() += 1;
    }
    let mut writer = Writer {
        style: &style,
        words: &words,
        fonts,
        tags,
        sections: Vec::new(),
        references: Vec::new(),
        in_references: false,
        repeats,
        contents: None,
        has_title: title.is_some(),
    };
    for (index, page) in pages.iter().enumerate() {
        for (position, block) in page.blocks.iter().enumerate() {
            let is_title =
                title.as_ref().is_some_and(|title| index == 0 && title.blocks.contains(&position));
            if !is_title {
                writer.block(block, page);
            }
        }
        for text in &page.alternatives {
            writer.push(document::Block::new(Kind::Figure, text), page);
        }
    }
    let (sections, list) = (writer.sections, writer.references);
    document.references = references::split(&list, &words);
    document.title = title.map(|title| title.text);
    document.sections = sections;
    lift_abstract(document);
    let first = pages.first().map(|page| {
        page.blocks
            .iter()
            .flat_map(|block| &block.lines)
            .map(|line| prose::key(&line.text))
            .collect::<String>()
    });
    metadata::conclude(document, first.as_deref().unwrap_or_default());
    if document.title.is_none() && whole {
        document.title = stated_title(document);
    }
}

/// The title in the file's metadata, if it occurs in the text: often it is only a file name.
fn stated_title(document: &Document) -> Option<String> {
    let text: String = document
        .sections
        .iter()
        .take(3)
        .flat_map(|section| {
            let heading = section.heading.clone().unwrap_or_default();
            let blocks = section.blocks.iter().take(6).filter_map(|block| block.text.clone());
            std::iter::once(heading).chain(blocks.collect::<Vec<_>>())
        })
        .map(|text| prose::key(&text))
        .collect();
    let stated = document.metadata.iter().filter(|entry| entry.name == "title");
    stated
        .map(|entry| entry.value.clone())
        .find(|title| title.contains(' ') && title.len() > 8 && text.contains(&prose::key(title)))
}

/// Finds identifiers on the first page.
fn identify(pages: &[PageText], whole: bool, document: &mut Document) {
    let Some(first) = pages.first().filter(|_| whole) else { return };
    let mut labelled = None;
    let mut unlabelled = None;
    for line in first.blocks.iter().flat_map(|block| &block.lines) {
        if references::is_heading(&line.text) {
            break;
        }
        let lower = line.text.to_ascii_lowercase();
        let Some(doi) = identifiers::doi(&line.text) else { continue };
        if lower.contains("doi") {
            labelled.get_or_insert(doi)
        } else {
            unlabelled.get_or_insert(doi)
        };
    }
    document.identifiers.doi = labelled.or(unlabelled);
    // The stamp in the margin, or a labelled identifier before any reference.
    document.identifiers.arxiv = first
        .blocks
        .iter()
        .flat_map(|block| &block.lines)
        .filter(|line| line.text.to_ascii_lowercase().starts_with("arxiv:"))
        .find_map(|line| identifiers::arxiv(&line.text));
}

/// A text without the number of a page at its end.
fn entry_key(text: &str) -> String {
    prose::key(text.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ' ')))
}

struct Writer<'s> {
    style: &'s Style,
    words: &'s Words,
    fonts: &'s [Font<'s>],
    tags: &'s Tags,
    sections: Vec<Section>,
    references: Vec<Block>,
    in_references: bool,
    /// How often each text occurs: entries of a table of contents occur again.
    repeats: HashMap<String, usize>,
    /// Pages of a table of contents, whose entries look like headings.
    contents: Option<u64>,
    has_title: bool,
}

impl Writer<'_> {
    fn block(&mut self, block: &Block, page: &PageText) {
        if let Some(table) = block.table() {
            self.table(table, page);
            return;
        }
        let text = self.words.join(block.lines.iter());
        if text.is_empty() {
            return;
        }
        let role = block.lines.first().and_then(|line| self.tags.role(line.element));
        let heading = match role {
            Some(Role::Heading(level)) if text.chars().count() <= 300 => {
                let (label, rest) = match prose::numbered(&text) {
                    Some((label, rest)) => (Some(label.to_owned()), rest),
                    None => (None, text.as_str()),
                };
                Some((label, rest.to_owned(), level))
            }
            Some(_) if self.tags.has_headings => None,
            _ => self.style.heading(block, &text),
        };
        if let Some((label, heading, level)) = heading {
            let is_list = references::is_heading(&text);
            let looks_cited =
                self.in_references && label.is_some() && identifiers::year(&heading).is_some();
            let key = entry_key(&text);
            let again = self
                .repeats
                .get_mut(&key)
                .map_or(0, |count| std::mem::replace(count, count.saturating_sub(1)));
            let is_entry = self.contents == Some(page.number)
                && (again > 1 || text.ends_with(|c: char| c.is_ascii_digit()))
                || text.contains(". . .") && text.ends_with(|c: char| c.is_ascii_digit());
            // Authors under the title are in larger type too.
            let is_byline = self.has_title
                && self.sections.iter().all(|section| section.heading.is_none())
                && label.is_none()
                && !(is_list
                    || is_known(&heading)
                    || self.style.outline.contains_key(&prose::key(&text)));
            if !(looks_cited || is_entry || is_byline || heading.contains('@')) {
                let is_contents = matches!(
                    prose::key(&heading).as_str(),
                    "contents"
                        | "tableofcontents"
                        | "inhalt"
                        | "inhaltsverzeichnis"
                        | "tabledesmatières"
                        | "índice"
                );
                if is_contents {
                    self.contents = Some(page.number);
                }
                self.in_references = is_list;

                // Letters below Roman numerals.
                let is_letter = label
                    .as_deref()
                    .is_some_and(|label| label.len() == 2 && !label.starts_with('I'));
                let has_roman =
                    self.sections.iter().any(|section| section.label.as_deref() == Some("I."));
                let level = if is_letter && has_roman && level == 1 { 2 } else { level };
                let kind = is_list.then(|| "references".to_owned());
                let page = Some(page.number);
                let heading = Some(heading);
                self.sections.push(Section {
                    heading,
                    level,
                    label,
                    kind,
                    page,
                    ..Section::default()
                });
                return;
            }
        }
        if let Some((end, is_table)) = prose::caption(&text) {
            let smaller = block.size < self.style.body * 0.97 || block.lines.len() <= 12;
            if smaller {
                self.caption(captioned(&text, end, is_table), page);
                return;
            }
        }
        if let Some(note) = self.footnote(block, &text, page) {
            self.push(note, page);
            return;
        }
        if self.in_references {
            self.references.push(block.clone());
            return;
        }
        if let Some(rest) = prose::bullet(&text).or((role == Some(Role::Item)).then_some(&text)) {
            self.item(rest, page);
            return;
        }
        let font = self.fonts.get(usize::from(block.font));
        if font.is_some_and(|font| font.fixed) && block.lines.len() > 1 {
            let lines: Vec<&str> = block.lines.iter().map(|line| line.text.as_str()).collect();
            self.push(document::Block::new(Kind::Code, lines.join("\n")), page);
            return;
        }
        self.paragraph(block, text, page);
    }

    fn section(&mut self, page: &PageText) -> Option<&mut Section> {
        if self.sections.is_empty() {
            self.sections.push(Section { level: 1, page: Some(page.number), ..Section::default() });
        }
        self.sections.last_mut()
    }

    fn push(&mut self, block: document::Block, page: &PageText) {
        if let Some(section) = self.section(page) {
            section.blocks.push(block);
        }
    }

    /// A table; its caption may precede it.
    fn table(&mut self, table: &Table, page: &PageText) {
        let Some(section) = self.section(page) else { return };
        let waits = |last: &document::Block| last.kind == Kind::Table && last.rows.is_empty();
        if !section.blocks.last().is_some_and(waits) {
            section.blocks.push(document::Block::empty(Kind::Table));
        }
        if let Some(block) = section.blocks.last_mut() {
            (block.rows, block.header_rows) = (table.rows.clone(), table.header_rows);
        }
    }

    /// A caption; a table's caption may follow it.
    fn caption(&mut self, caption: document::Block, page: &PageText) {
        let Some(section) = self.section(page) else { return };
        let waits = |last: &&mut document::Block| {
            let is_bare = last.label.is_none() && last.caption.is_none();
            caption.kind == Kind::Table && last.kind == Kind::Table && is_bare
        };
        match section.blocks.last_mut().filter(waits) {
            Some(table) => (table.label, table.caption) = (caption.label, caption.caption),
            None => section.blocks.push(caption),
        }
    }

    fn item(&mut self, text: &str, page: &PageText) {
        let item = Item { text: Some(text.to_owned()), ..Item::default() };
        let Some(section) = self.section(page) else { return };
        match section.blocks.last_mut() {
            Some(list) if list.kind == Kind::List => list.items.push(item),
            _ => {
                let mut list = document::Block::empty(Kind::List);
                list.items.push(item);
                section.blocks.push(list);
            }
        }
    }

    /// A paragraph, or the rest of one that continues in the next column or page.
    fn paragraph(&mut self, block: &Block, text: String, page: &PageText) {
        let words = self.words;
        let body = (block.size / self.style.body - 1.0).abs() < 0.08;
        let starts_low = text.chars().next().is_some_and(char::is_lowercase);
        if let Some(section) = self.section(page) {
            // Captions and notes may be between the two parts.
            let before =
                section.blocks.iter_mut().rev().find(|block| {
                    !matches!(block.kind, Kind::Figure | Kind::Table | Kind::Footnote)
                });
            if let Some(before) =
                before.filter(|before| before.kind == Kind::Paragraph && body && starts_low)
                && let Some(start) = &mut before.text
                && start.chars().count() > 60
                && start.ends_with(|c: char| {
                    c.is_alphanumeric() || matches!(c, ',' | '-' | '\u{2010}' | '\u{ad}')
                })
            {
                words.append(start, &text);
                return;
            }
            section.blocks.push(document::Block::new(Kind::Paragraph, text));
        }
    }

    /// A note at the foot of the page: small type that starts with a raised mark.
    fn footnote(&self, block: &Block, text: &str, page: &PageText) -> Option<document::Block> {
        let is_low = block.top > page.height * 0.55 && block.direction == Direction::RIGHT;
        if !is_low || block.size > self.style.body * 0.94 {
            return None;
        }
        let raised = block.lines.first()?.is_note();

        let end = text
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '*' | '†' | '‡' | '§' | '¶' | '∗')))
            .unwrap_or(0);
        let label = text.get(..end)?;
        let is_sign = !label.is_empty() && !label.starts_with(|c: char| c.is_ascii_digit());
        if !(raised && !label.is_empty() && label.len() <= 6
            || is_sign && label.chars().count() <= 3)
        {
            return None;
        }
        let mut note = document::Block::new(Kind::Footnote, text.get(end..)?.trim_start());
        note.label = Some(label.to_owned());
        note.text.as_ref().is_some_and(|text| !text.is_empty()).then_some(note)
    }
}

fn captioned(text: &str, end: usize, is_table: bool) -> document::Block {
    let (label, rest) = text.split_at(end);
    let rest = rest.trim_start_matches(['.', ':', '|', ' ', '–', '—', '-']).trim();
    let mut block = document::Block::empty(if is_table { Kind::Table } else { Kind::Figure });
    block.label = Some(label.to_owned());
    block.caption = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
    block
}

/// Makes the section named "Abstract" the document's abstract.
fn lift_abstract(document: &mut Document) {
    let is_abstract = |section: &Section| {
        let heading = section.heading.as_deref().map(prose::key);
        matches!(
            heading.as_deref(),
            Some("abstract" | "summary" | "zusammenfassung" | "résumé" | "resumen")
        )
    };
    let index = document.sections.iter().take(6).position(is_abstract);
    let Some(index) = index else { return };
    let has_text = document.sections.get(index).is_some_and(|section| !section.blocks.is_empty());
    // An abstract has text and precedes other sections.
    if !has_text || document.sections.len() <= index + 1 {
        return;
    }
    let section = document.sections.remove(index);
    document.abstracts.push(Abstract { sections: vec![section], ..Abstract::default() });
}
