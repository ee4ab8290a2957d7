//! What blocks are: title, headings, captions, notes, lists, references, and what repeats on each page.

use std::collections::{HashMap, HashSet};

use carrel_pdk::document::{self, Abstract, Document, Item, Kind, Metadatum, Section};

use crate::blocks::Block;
use crate::font::Font;
use crate::geometry::Direction;
use crate::open::PageText;
use crate::prose::{self, Words};
use crate::{identifiers, metadata, references};

/// Share of the page's height where headers and footers are.
const MARGIN: f32 = 0.13;

/// Puts the text of pages into a document.
pub(crate) fn fill(
    mut pages: Vec<PageText>,
    fonts: &[Font<'_>],
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
        sections: Vec::new(),
        references: Vec::new(),
        in_references: false,
        repeats,
        contents: None,
        has_title: title.is_some(),
    };
    for (index, page) in pages.iter().enumerate() {
        for (place, block) in page.blocks.iter().enumerate() {
            let is_title =
                title.as_ref().is_some_and(|title| index == 0 && title.blocks.contains(&place));
            if !is_title {
                writer.block(block, page);
            }
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

/// The title that the file states, when it is one and stands in the text: a program's file name is none.
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
    let stated = document.metadata.iter().filter(|one| one.name == "title");
    stated
        .map(|one| one.value.clone())
        .find(|title| title.contains(' ') && title.len() > 8 && text.contains(&prose::key(title)))
}

/// Removes headers, footers and page numbers that repeat, and gives the texts of those with words.
fn drop_running(pages: &mut [PageText]) -> Vec<String> {
    if pages.len() < 2 {
        return Vec::new();
    }
    let mut seen: HashMap<(String, bool), HashSet<u64>> = HashMap::new();
    for page in pages.iter() {
        for (pattern, is_top) in
            margins(page).into_iter().map(|(_, _, pattern, is_top)| (pattern, is_top))
        {
            seen.entry((pattern, is_top)).or_default().insert(page.number);
        }
    }
    let count = pages.len();
    let needed = if count <= 3 { 2 } else { 3.max(count / 8) };
    let mut texts: Vec<String> = Vec::new();
    for page in pages.iter_mut() {
        let repeated: Vec<(usize, usize)> = margins(page)
            .into_iter()
            .filter(|(_, _, pattern, is_top)| {
                let pages = seen.get(&(pattern.clone(), *is_top)).map_or(0, HashSet::len);
                // A bare number is one of a page; words must repeat.
                pages >= needed && (count > 2 || pattern.trim() == "#")
            })
            .map(|(block, line, _, _)| (block, line))
            .collect();
        // A page that would keep next to nothing is made of what repeats, not framed by it.
        let length = |places: &mut dyn Iterator<Item = (usize, usize)>| -> usize {
            places
                .filter_map(|(block, line)| page.blocks.get(block)?.lines.get(line))
                .map(|line| line.text.len())
                .sum()
        };
        let gone = length(&mut repeated.iter().copied());
        let all: usize =
            page.blocks.iter().flat_map(|block| &block.lines).map(|line| line.text.len()).sum();
        if gone * 2 > all {
            continue;
        }
        for (block, line) in repeated.into_iter().rev() {
            let Some(found) = page.blocks.get_mut(block) else { continue };
            if line < found.lines.len() {
                let gone = found.lines.remove(line);
                let has_words = gone.text.chars().filter(|c| c.is_alphabetic()).count() > 3;
                let is_new =
                    !texts.iter().any(|text| prose::pattern(text) == prose::pattern(&gone.text));
                if has_words && is_new && texts.len() < 20 {
                    texts.push(gone.text);
                }
            }
        }
        page.blocks.retain(|block| !block.lines.is_empty());
    }
    texts
}

/// Lines at the top and the bottom of a page: block, line, pattern, whether at the top.
fn margins(page: &PageText) -> Vec<(usize, usize, String, bool)> {
    let mut out = Vec::new();
    let (top, bottom) = (page.height * MARGIN, page.height * (1.0 - MARGIN));
    for (block_place, block) in page.blocks.iter().enumerate() {
        if block.direction != Direction::RIGHT {
            continue;
        }
        for (place, line) in block.lines.iter().enumerate() {
            let is_top = line.y < top;
            if (is_top || line.y > bottom) && line.text.chars().count() < 160 {
                out.push((block_place, place, prose::pattern(&line.text), is_top));
            }
        }
    }
    // Of each margin only the outermost lines: tables that go on have the same words in the same place.
    for is_top in [true, false] {
        let y = |entry: &(usize, usize, String, bool)| {
            let line = page.blocks.get(entry.0).and_then(|block| block.lines.get(entry.1));
            line.map_or(0.0, |line| line.y)
        };
        let mut rows: Vec<f32> = out.iter().filter(|entry| entry.3 == is_top).map(y).collect();
        rows.sort_by(|a, b| if is_top { a.total_cmp(b) } else { b.total_cmp(a) });
        rows.dedup_by(|a, b| (*a - *b).abs() < 3.0);
        let limit = rows.get(2).or(rows.last()).copied();
        out.retain(|entry| {
            let Some(limit) = limit else { return true };
            entry.3 != is_top
                || if is_top { y(entry) <= limit + 3.0 } else { y(entry) >= limit - 3.0 }
        });
    }
    out
}

/// Finds identifiers on the first page.
fn identify(pages: &[PageText], whole: bool, document: &mut Document) {
    let Some(first) = pages.first().filter(|_| whole) else { return };
    let mut named = None;
    let mut other = None;
    for line in first.blocks.iter().flat_map(|block| &block.lines) {
        if references::is_heading(&line.text) {
            break;
        }
        let lower = line.text.to_ascii_lowercase();
        let Some(doi) = identifiers::doi(&line.text) else { continue };
        if lower.contains("doi") {
            named.get_or_insert(doi)
        } else {
            other.get_or_insert(doi)
        };
    }
    document.identifiers.doi = named.or(other);
    // The stamp in the margin, or a line that names it in front of any reference.
    document.identifiers.arxiv = first
        .blocks
        .iter()
        .flat_map(|block| &block.lines)
        .filter(|line| line.text.to_ascii_lowercase().starts_with("arxiv:"))
        .find_map(|line| identifiers::arxiv(&line.text));
}

struct Title {
    blocks: Vec<usize>,
    text: String,
}

/// Sizes and fonts of the document: what is usual, and what stands out.
struct Style {
    /// Size of most of the text.
    body: f32,
    body_bold: bool,
    /// Sizes of headings, the largest first.
    sizes: Vec<f32>,
    /// Levels of the outline's titles.
    outline: HashMap<String, u32>,
}

impl Style {
    fn of(pages: &[PageText], document: &Document) -> Self {
        let mut weights: HashMap<(i32, bool), usize> = HashMap::new();
        for block in pages.iter().flat_map(|page| &page.blocks) {
            for line in &block.lines {
                *weights.entry(((line.size * 5.0).round() as i32, line.bold)).or_default() +=
                    line.text.len();
            }
        }
        let most = weights.iter().max_by_key(|(key, weight)| (**weight, **key));
        let (body, body_bold) =
            most.map_or((10.0, false), |((size, bold), _)| (*size as f32 / 5.0, *bold));
        let outline = document
            .outline
            .iter()
            .map(|item| (prose::key(&item.title), item.level))
            .filter(|(key, _)| key.len() > 3);
        let mut style = Self { body, body_bold, sizes: Vec::new(), outline: outline.collect() };
        let mut sizes: Vec<f32> = Vec::new();
        for block in pages.iter().flat_map(|page| &page.blocks) {
            if style.stands_out(block) && block.size > body * 1.08 {
                sizes.push((block.size * 2.0).round() / 2.0);
            }
        }
        sizes.sort_by(|a, b| b.total_cmp(a));
        sizes.dedup_by(|a, b| (*a - *b).abs() < 0.6);
        style.sizes = sizes;
        style
    }

    /// Whether a block looks like a heading by its type and length.
    fn stands_out(&self, block: &Block) -> bool {
        let length: usize = block.lines.iter().map(|line| line.text.chars().count()).sum();
        let letters = block
            .lines
            .iter()
            .flat_map(|line| line.text.chars())
            .filter(|c| c.is_alphabetic())
            .count();
        let larger = block.size > self.body * 1.08;
        let bold = block.bold && !self.body_bold && block.size > self.body * 0.85;
        block.lines.len() <= 4
            && length <= 220
            && letters >= 3
            && letters * 2 >= length
            && (larger || bold)
    }

    /// The heading that a block is: label, text, level.
    fn heading(&self, block: &Block, text: &str) -> Option<(Option<String>, String, u32)> {
        if block.direction != Direction::RIGHT || text.chars().count() > 220 {
            return None;
        }
        let (label, rest) = match prose::numbered(text) {
            Some((label, rest)) => (Some(label), rest),
            None => (None, text),
        };
        let listed =
            self.outline.get(&prose::key(text)).or_else(|| self.outline.get(&prose::key(rest)));
        let parts = |label: &str| {
            let count = label.trim_end_matches('.').split('.').count();
            u32::try_from(count).unwrap_or(1)
        };
        let own = |level| Some((label.map(str::to_owned), rest.to_owned(), level));
        if let Some(level) = listed.filter(|_| block.lines.len() <= 4) {
            return own(label.map_or(*level, parts));
        }
        let known = references::is_heading(text) || is_known(rest);
        let stands_out = self.stands_out(block);
        let sentence = rest.ends_with(['.', ',', ';', ':']) && block.size < self.body * 1.15;
        let short = block.lines.len() == 1 && rest.chars().count() < 90;
        let capitals = {
            let letters = || rest.chars().filter(|c| c.is_alphabetic());
            letters().count() >= 5 && letters().all(char::is_uppercase)
        };
        if known && short && (stands_out || block.size >= self.body * 0.9) {
            return own(label.map_or(1, parts));
        }
        if label.is_some() && short && !sentence && (stands_out || block.italic || capitals) {
            return own(label.map_or(1, parts));
        }
        if !stands_out || sentence || prose::caption(text).is_some() {
            return None;
        }
        if !rest.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '¿' || c == '“') {
            return None;
        }
        // A bold line of the text's own size is below all larger ones.
        let by_size = self.sizes.iter().position(|size| (block.size - size).abs() < 0.6);
        let level = by_size.unwrap_or(self.sizes.len());
        own(u32::try_from(level).unwrap_or(5).min(5) + 1)
    }

    /// The title: the largest type in the upper part of the first page.
    fn title(&self, pages: &[PageText], document: &Document) -> Option<Title> {
        let page = pages.first()?;
        let stated = document
            .metadata
            .iter()
            .filter(|one| one.name == "title")
            .map(|one| prose::key(&one.value));
        let stated: Vec<String> = stated.filter(|title| title.len() > 8).collect();
        let fits = |block: &Block| {
            let length: usize = block.lines.iter().map(|line| line.text.chars().count()).sum();
            let letters = block
                .lines
                .iter()
                .flat_map(|line| line.text.chars())
                .filter(|c| c.is_alphabetic())
                .count();
            let share = page.height * if pages.len() > 1 { 0.75 } else { 0.55 };
            block.direction == Direction::RIGHT
                && block.top < share
                && (8..=350).contains(&length)
                && letters * 2 > length
                && block.lines.len() <= 6
        };
        let text_of = |block: &Block| Words::default().join(block.lines.iter());
        for (place, block) in page.blocks.iter().enumerate().filter(|(_, block)| fits(block)) {
            let text = text_of(block);
            if stated.contains(&prose::key(&text)) {
                return Some(Title { blocks: vec![place], text });
            }
        }
        let candidates = page
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| fits(block) && prose::caption(&text_of(block)).is_none());
        let (place, best) =
            candidates.max_by(|a, b| a.1.size.total_cmp(&b.1.size).then(b.0.cmp(&a.0)))?;
        let all: usize = pages
            .iter()
            .flat_map(|page| &page.blocks)
            .flat_map(|block| &block.lines)
            .map(|line| line.text.len())
            .sum();
        let text = text_of(best);
        if best.size < self.body * 1.17
            || all < text.len() * 4
            || prose::numbered(&text).is_some()
            || is_known(&text)
        {
            return None;
        }
        // A title of several lines can be several blocks.
        let mut blocks = vec![place];
        let mut whole = text;
        for (next, block) in page.blocks.iter().enumerate().skip(place + 1).take(2) {
            let near = block.top - best.bottom < best.size * 2.0 && block.top >= best.top;
            if (block.size / best.size - 1.0).abs() > 0.03
                || !near
                || block.bold != best.bold
                || !fits(block)
            {
                break;
            }
            whole = format!("{whole} {}", text_of(block));
            blocks.push(next);
        }
        Some(Title { blocks, text: whole })
    }
}

/// A text without the number of a page at its end.
fn entry_key(text: &str) -> String {
    prose::key(text.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ' ')))
}

/// Headings that papers have without a number.
fn is_known(text: &str) -> bool {
    let letters: String = text.chars().filter(|c| c.is_alphabetic() || *c == ' ').collect();
    matches!(
        letters.trim().to_lowercase().as_str(),
        "abstract"
            | "summary"
            | "introduction"
            | "background"
            | "methods"
            | "method"
            | "results"
            | "discussion"
            | "conclusion"
            | "conclusions"
            | "acknowledgements"
            | "acknowledgments"
            | "acknowledgement"
            | "acknowledgment"
            | "materials and methods"
            | "results and discussion"
            | "related work"
            | "appendix"
            | "keywords"
            | "contents"
            | "table of contents"
            | "supplementary material"
            | "author contributions"
            | "funding"
            | "data availability"
            | "zusammenfassung"
            | "résumé"
            | "resumen"
    )
}

/// Whether a line is one of the headings that papers have without a number.
pub(crate) fn is_name_of_section(text: &str) -> bool {
    text.len() < 40 && (is_known(text) || references::is_heading(text))
}

struct Writer<'s> {
    style: &'s Style,
    words: &'s Words,
    fonts: &'s [Font<'s>],
    sections: Vec<Section>,
    references: Vec<Block>,
    in_references: bool,
    /// How often each text comes: an entry of a table of contents comes again.
    repeats: HashMap<String, usize>,
    /// Page of a table of contents, whose entries look like headings.
    contents: Option<u64>,
    has_title: bool,
}

impl Writer<'_> {
    fn block(&mut self, block: &Block, page: &PageText) {
        let text = self.words.join(block.lines.iter());
        if text.is_empty() {
            return;
        }
        if let Some((label, heading, level)) = self.style.heading(block, &text) {
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
                self.push(captioned(&text, end, is_table), page);
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
        if let Some(rest) = prose::bullet(&text) {
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

    /// A paragraph, or the rest of one that a column or page cut.
    fn paragraph(&mut self, block: &Block, text: String, page: &PageText) {
        let words = self.words;
        let body = (block.size / self.style.body - 1.0).abs() < 0.08;
        let starts_low = text.chars().next().is_some_and(char::is_lowercase);
        if let Some(section) = self.section(page) {
            // Captions and notes can be between the two parts.
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

/// Makes the document's abstract of the section that is called so.
fn lift_abstract(document: &mut Document) {
    let is_abstract = |section: &Section| {
        let heading = section.heading.as_deref().map(prose::key);
        matches!(
            heading.as_deref(),
            Some("abstract" | "summary" | "zusammenfassung" | "résumé" | "resumen")
        )
    };
    let place = document.sections.iter().take(6).position(is_abstract);
    let Some(place) = place else { return };
    let has_text = document.sections.get(place).is_some_and(|section| !section.blocks.is_empty());
    // Text in front of it stays in front: an abstract is shown before all sections.
    if !has_text || document.sections.len() <= place + 1 {
        return;
    }
    let section = document.sections.remove(place);
    document.abstracts.push(Abstract { sections: vec![section], ..Abstract::default() });
}
