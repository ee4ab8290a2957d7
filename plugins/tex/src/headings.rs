//! Headings of sections and the numbers that LaTeX gives them, and all other counters.

use carrel_pdk::document::{Block, Kind, Section};

use crate::builder::one_line;
use crate::engine::{Anchor, Engine};

impl Engine<'_> {
    pub(crate) fn heading(&mut self, level: usize) {
        let star = self.star();
        self.optional();
        let tokens = self.argument();
        let heading = self.capture_lines(tokens).and_then(|text| one_line(&text));
        if !self.speaks() {
            return;
        }
        let mut label = None;
        if !star && level < 7 {
            let counter = &mut self.heads[level];
            *counter += 1;
            for deeper in &mut self.heads[level + 1..] {
                *deeper = 0;
            }
            if level <= 4 {
                label = Some(self.section_number(level));
                let kind = if self.appendix { "Appendix" } else { "Section" };
                let kind = if level == 1 && !self.appendix { "Chapter" } else { kind };
                self.anchor =
                    Anchor { kind: kind.to_owned(), number: label.clone().unwrap_or_default() };
            }
            if level <= 2 && self.numbered_within {
                for counter in ["equation", "figure", "table"] {
                    self.counters.remove(counter);
                }
            }
        }
        // A heading inside a box or an abstract that has no end.
        if self.frames.len() > 1 {
            let text = heading;
            return self.block(Block { text, ..Block::empty(Kind::Heading) });
        }
        self.flush();
        let level = level as u32;
        let kind = heading
            .as_deref()
            .filter(|heading| is_references(heading))
            .map(|_| "references".to_owned());
        self.sections.push(Section { heading, level, label, kind, ..Section::default() });
    }

    pub(crate) fn section_number(&self, level: usize) -> String {
        let first = if level == 0 {
            0
        } else if self.heads[1] > 0 {
            1
        } else {
            2
        };
        let mut parts = Vec::new();
        for at in first..=level {
            let number = self.heads[at];
            let outermost = at == first;
            parts.push(if self.appendix && outermost && (1..=26).contains(&number) {
                char::from(b'A' + (number as u8 - 1)).to_string()
            } else {
                number.to_string()
            });
        }
        parts.join(".")
    }

    /// The next number of a counter.
    pub(crate) fn count(&mut self, counter: &str) -> String {
        let number = self.counters.entry(counter.to_owned()).or_default();
        *number += 1;
        let number = *number;
        if self.numbered_within && counter == "equation" {
            let outer = if self.heads[1] > 0 { self.heads[1] } else { self.heads[2] };
            return format!("{outer}.{number}");
        }
        if self.heads[1] > 0 && matches!(counter, "equation" | "figure" | "table") {
            return format!("{}.{number}", self.heads[1]);
        }
        number.to_string()
    }
}

/// Levels of headings: a part is 0.
pub(crate) fn level(name: &str) -> Option<usize> {
    Some(match name {
        "part" => 0,
        "chapter" => 1,
        "section" => 2,
        "subsection" => 3,
        "subsubsection" => 4,
        "paragraph" => 5,
        "subparagraph" => 6,
        _ => return None,
    })
}

/// Whether a heading is that of a list of references.
pub(crate) fn is_references(heading: &str) -> bool {
    matches!(
        heading.trim_end_matches(['.', ':']).to_lowercase().as_str(),
        "references"
            | "bibliography"
            | "literature cited"
            | "works cited"
            | "références"
            | "bibliographie"
            | "literatur"
            | "literaturverzeichnis"
            | "referencias"
            | "bibliografía"
            | "bibliografia"
            | "riferimenti bibliografici"
            | "список литературы"
            | "参考文献"
    )
}
