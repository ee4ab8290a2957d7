//! The Markdown of posts and comments as blocks: paragraphs, quotations and code. Marks inside a line
//! stay as they are.

use carrel_pdk::document::{Block, Kind};
use carrel_pdk::text::collapse;

/// The blocks of a text; none of a removed one.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    if matches!(text.trim(), "[deleted]" | "[removed]" | "[ Removed by Reddit ]") {
        return Vec::new();
    }
    let mut reader = Reader::default();
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            reader.end();
            reader.fenced = !reader.fenced;
        } else if reader.fenced || (line.starts_with("    ") && !reader.is_inside(Kind::Paragraph))
        {
            reader.line(Kind::Code, line.strip_prefix("    ").unwrap_or(line));
        } else if trimmed.is_empty() {
            reader.end();
        } else if let Some(quoted) = trimmed.strip_prefix('>') {
            reader.line(Kind::Quote, &collapse(quoted.trim_start_matches(['>', ' ', '!'])));
        } else {
            reader.line(Kind::Paragraph, &collapse(trimmed));
        }
    }
    reader.end();
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    kind: Kind,
    lines: Vec<String>,
    fenced: bool,
}

impl Reader {
    fn is_inside(&self, kind: Kind) -> bool {
        !self.lines.is_empty() && self.kind == kind
    }

    fn line(&mut self, kind: Kind, line: &str) {
        if self.kind != kind {
            self.end();
            self.kind = kind;
        }
        self.lines.push(line.to_owned());
    }

    fn end(&mut self) {
        let text = std::mem::take(&mut self.lines).join("\n");
        let text = if self.kind == Kind::Code { text.trim_end() } else { text.trim() };
        if !text.trim().is_empty() {
            self.blocks.push(Block::new(self.kind, text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_quotations_and_code_are_kept_apart() {
        let found = blocks(
            "One  two\nthree\n\n> quoted\n> more\nafter\n\n```\nif a:\n  b\n```\n\n    code\n",
        );
        let texts: Vec<(Kind, &str)> =
            found.iter().map(|block| (block.kind, block.text.as_deref().unwrap())).collect();
        assert_eq!(
            texts,
            [
                (Kind::Paragraph, "One two\nthree"),
                (Kind::Quote, "quoted\nmore"),
                (Kind::Paragraph, "after"),
                (Kind::Code, "if a:\n  b"),
                (Kind::Code, "code"),
            ]
        );
    }

    #[test]
    fn a_removed_text_is_none() {
        for text in ["", " \n", "[deleted]", "[removed]", "```", ">"] {
            assert_eq!(blocks(text).len(), 0, "{text}");
        }
    }
}
