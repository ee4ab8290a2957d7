//! Contents of figures and tables: captions, pictures, subfigures; and notes.

use carrel_pdk::document::{Block, Kind};
use carrel_pdk::text::{Script, write_script};

use crate::builder::{Open, flatten};
use crate::engine::{Anchor, Engine};

impl Engine<'_> {
    pub(crate) fn caption(&mut self, name: &str) {
        self.star();
        if name == "captionof" {
            self.argument();
        }
        self.optional();
        let tokens = self.argument();
        let Some(text) = self.capture_lines(tokens) else { return };
        if !self.speaks() {
            return;
        }
        let float = self
            .frames
            .iter()
            .rposition(|frame| matches!(frame.open, Open::Float { .. } | Open::Table { .. }));
        let Some(at) = float else {
            return self.block(Block {
                role: Some("caption".to_owned()),
                ..Block::new(Kind::Paragraph, text)
            });
        };
        let counter = match &self.frames[at].open {
            Open::Float { kind: Kind::Code, .. } => "algorithm",
            Open::Float { kind: Kind::Table, .. } | Open::Table { .. } => "table",
            _ => "figure",
        };
        let sub = self.frames[at].name.starts_with("sub") || name == "subcaption";
        let number = if sub { String::new() } else { self.count(counter) };
        let kind = match counter {
            "table" => "Table",
            "algorithm" => "Algorithm",
            _ => "Figure",
        };
        if !sub {
            self.anchor = Anchor { kind: kind.to_owned(), number: number.clone() };
        }
        let printed = (!sub).then(|| format!("{kind} {number}"));
        match &mut self.frames[at].open {
            Open::Float { label, captions, .. } => {
                if label.is_none() {
                    *label = printed;
                }
                captions.push(text);
            }
            Open::Table { caption, .. } => *caption = Some(text),
            _ => {}
        }
    }

    pub(crate) fn subfloat(&mut self) {
        let caption = self.optional();
        let tokens = self.argument();
        let blocks = self.capture(tokens);
        let text = caption.and_then(|caption| self.capture_lines(caption));
        if !self.speaks() {
            return;
        }
        let mut blocks = blocks;
        match blocks.iter_mut().find(|block| block.kind == Kind::Figure && block.caption.is_none())
        {
            Some(figure) => figure.caption = text,
            None => {
                if text.is_some() {
                    blocks.push(Block { caption: text, ..Block::empty(Kind::Figure) });
                }
            }
        }
        for block in blocks {
            self.block(block);
        }
    }

    pub(crate) fn picture(&mut self, name: &str) {
        self.star();
        self.optional();
        self.optional();
        let mut file = self.argument_name();
        if matches!(name, "epsfig" | "psfig") {
            let found = file.split(',').find_map(|part| {
                let (key, value) = part.split_once('=')?;
                matches!(key.trim(), "file" | "figure").then(|| value.trim().to_owned())
            });
            file = found.unwrap_or_default();
        }
        let file = file.replace(['{', '}'], "").trim().to_owned();
        if file.is_empty() || !self.speaks() {
            return;
        }
        let frame = self.frame();
        if let Open::Float { files, .. } = &mut frame.open {
            files.push(file);
        } else if !matches!(frame.open, Open::Table { .. }) {
            self.block(Block { href: Some(file), ..Block::empty(Kind::Figure) });
        }
    }

    pub(crate) fn footnote(&mut self, name: &str) {
        self.optional();
        let tokens = self.argument();
        let blocks = self.capture(tokens);
        if self.in_author || blocks.is_empty() || !self.speaks() {
            if name == "thanks" || self.in_author {
                let mut text = String::new();
                flatten(blocks, &mut text, &mut Vec::new());
                self.state("note", &text, "\\thanks");
            }
            return;
        }
        let label = (name != "thanks").then(|| self.count("footnote"));
        if let Some(label) = label.as_deref().filter(|_| name != "footnotetext") {
            let mut mark = String::new();
            write_script(Script::Super, label, &mut mark);
            self.text(&mark);
        }
        let mut blocks = blocks;
        let first = blocks.first();
        let plain =
            first.is_some_and(|first| first.kind == Kind::Paragraph && first.blocks.is_empty());
        let text = if plain { blocks.remove(0).text } else { None };
        self.frame().note(Block { label, text, blocks, ..Block::empty(Kind::Footnote) });
    }
}
