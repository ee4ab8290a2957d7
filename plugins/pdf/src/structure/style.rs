//! Detects headings and title by sizes and fonts.

use std::collections::HashMap;

use carrel_pdk::document::Document;

use crate::blocks::Block;
use crate::geometry::Direction;
use crate::open::PageText;
use crate::prose::{self, Words};
use crate::references;

pub(super) struct Title {
    pub(super) blocks: Vec<usize>,
    pub(super) text: String,
}

/// Sizes and fonts of the document: those of the text, and larger ones.
pub(super) struct Style {
    /// Size of most of the text.
    pub(super) body: f32,
    body_bold: bool,
    /// Sizes of headings, the largest first.
    sizes: Vec<f32>,
    /// Levels of the outline's titles.
    pub(super) outline: HashMap<String, u32>,
}

impl Style {
    pub(super) fn of(pages: &[PageText], document: &Document) -> Self {
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
        block.table().is_none()
            && block.lines.len() <= 4
            && length <= 220
            && letters >= 3
            && letters * 2 >= length
            && (larger || bold)
    }

    /// The heading that a block is: label, text, level.
    pub(super) fn heading(
        &self,
        block: &Block,
        text: &str,
    ) -> Option<(Option<String>, String, u32)> {
        if block.direction != Direction::RIGHT || text.chars().count() > 220 {
            return None;
        }
        let (label, rest) = match prose::numbered(text) {
            Some((label, rest)) => (Some(label), rest),
            None => (None, text),
        };
        let listed =
            self.outline.get(&prose::key(text)).or_else(|| self.outline.get(&prose::key(rest)));
        let depth = |label: &str| {
            let count = label.trim_end_matches('.').split('.').count();
            u32::try_from(count).unwrap_or(1)
        };
        let own = |level| Some((label.map(str::to_owned), rest.to_owned(), level));
        if let Some(level) = listed.filter(|_| block.lines.len() <= 4) {
            return own(label.map_or(*level, depth));
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
            return own(label.map_or(1, depth));
        }
        if label.is_some() && short && !sentence && (stands_out || block.italic || capitals) {
            return own(label.map_or(1, depth));
        }
        if !stands_out || sentence || prose::caption(text).is_some() {
            return None;
        }
        if !rest.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '¿' || c == '“') {
            return None;
        }
        // The level of a bold line in the text's size is below those of all larger ones.
        let by_size = self.sizes.iter().position(|size| (block.size - size).abs() < 0.6);
        let level = by_size.unwrap_or(self.sizes.len());
        own(u32::try_from(level).unwrap_or(5).min(5) + 1)
    }

    /// The title: the largest type in the upper part of the first page.
    pub(super) fn title(&self, pages: &[PageText], document: &Document) -> Option<Title> {
        let page = pages.first()?;
        let stated = document
            .metadata
            .iter()
            .filter(|entry| entry.name == "title")
            .map(|entry| prose::key(&entry.value));
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
                && block.table().is_none()
                && block.top < share
                && (8..=350).contains(&length)
                && letters * 2 > length
                && block.lines.len() <= 6
        };
        let text_of = |block: &Block| Words::default().join(block.lines.iter());
        for (index, block) in page.blocks.iter().enumerate().filter(|(_, block)| fits(block)) {
            let text = text_of(block);
            if stated.contains(&prose::key(&text)) {
                return Some(Title { blocks: vec![index], text });
            }
        }
        let candidates = page
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| fits(block) && prose::caption(&text_of(block)).is_none());
        let (index, best) =
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
        let mut blocks = vec![index];
        let mut whole = text;
        for (next, block) in page.blocks.iter().enumerate().skip(index + 1).take(2) {
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

/// Names of headings that are usually unnumbered.
pub(super) fn is_known(text: &str) -> bool {
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
