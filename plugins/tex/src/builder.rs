//! Builds text and blocks in the open environments.

use carrel_pdk::document::{Block, Item, Kind, Section, Span};
use carrel_pdk::text::collapse;

/// Marks a line's end until whitespace is collapsed.
pub(crate) const LINE: char = '\u{2028}';
/// Marks the key of a label, up to [`END`].
pub(crate) const REFERENCE: char = '\u{E000}';
/// Marks the key of a citation, up to [`END`].
pub(crate) const CITATION: char = '\u{E002}';
pub(crate) const END: char = '\u{E001}';

/// The most cells that one cell may span.
const WIDEST: usize = 200;

/// A text with its lines; `None` if nothing is left.
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

/// An open environment, argument or part.
#[derive(Debug)]
pub(crate) enum Open {
    /// The document, or an argument that is read separately.
    Body,
    List {
        ordered: bool,
        role: Option<&'static str>,
        items: Vec<Item>,
        /// The label of the item that is open.
        label: Option<String>,
        begun: bool,
    },
    Quote {
        role: Option<String>,
        label: Option<String>,
        caption: Option<String>,
    },
    Float {
        kind: Kind,
        label: Option<String>,
        captions: Vec<String>,
        files: Vec<String>,
    },
    Table {
        rows: Vec<Vec<String>>,
        row: Vec<String>,
        spans: Vec<Span>,
        header_rows: usize,
        ruled: bool,
        caption: Option<String>,
        /// Columns and rows that the cell which is open spans.
        cell: (usize, usize),
    },
    Abstract,
    /// A part of the front matter that is not text of the document, by name.
    Aside(&'static str),
}

/// An environment or argument that is open.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) name: String,
    pub(crate) open: Open,
    text: String,
    pub(crate) blocks: Vec<Block>,
    /// Notes of the paragraph that is open.
    notes: Vec<Block>,
}

impl Frame {
    pub(crate) fn new(name: &str, open: Open) -> Self {
        Self {
            name: name.to_owned(),
            open,
            text: String::new(),
            blocks: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Appends text.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(crate) fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }

    /// Adds a note after the open paragraph.
    pub(crate) fn note(&mut self, note: Block) {
        self.notes.push(note);
    }

    /// Ends the paragraph that is open.
    pub(crate) fn end_paragraph(&mut self) {
        if matches!(self.open, Open::Table { .. }) {
            self.text.push(LINE);
            return;
        }
        if let Some(text) = lines(&std::mem::take(&mut self.text)) {
            self.blocks.push(Block::new(Kind::Paragraph, text));
        }
        self.blocks.append(&mut self.notes);
    }

    /// Adds a block.
    pub(crate) fn block(&mut self, block: Block) {
        if matches!(self.open, Open::Table { .. }) {
            match block.kind {
                Kind::Equation => {
                    let tex = block.tex.or(block.text).unwrap_or_default();
                    self.text.push_str(&format!(" ${tex}$ "));
                }
                _ => flatten(vec![block], &mut self.text, &mut self.notes),
            }
            return;
        }
        self.end_paragraph();
        self.blocks.push(block);
    }

    /// Begins an item.
    pub(crate) fn item(&mut self, new_label: Option<String>) {
        self.end_item();
        if let Open::List { label, begun, .. } = &mut self.open {
            *label = new_label;
            *begun = true;
        }
    }

    fn end_item(&mut self) {
        self.end_paragraph();
        let Open::List { items, label, begun, .. } = &mut self.open else { return };
        let label = label.take();
        let mut blocks = std::mem::take(&mut self.blocks);
        if !std::mem::take(begun) && blocks.is_empty() {
            return;
        }
        let first = blocks.first();
        let plain =
            first.is_some_and(|first| first.kind == Kind::Paragraph && first.blocks.is_empty());
        let text = if plain { blocks.remove(0).text } else { None };
        if label.is_some() || text.is_some() || !blocks.is_empty() {
            items.push(Item { label, text, blocks });
        }
    }

    /// Ends a cell.
    pub(crate) fn end_cell(&mut self) {
        let text = lines(&std::mem::take(&mut self.text)).unwrap_or_default();
        let Open::Table { rows, row, spans, cell, .. } = &mut self.open else { return };
        let (columns, down) = std::mem::replace(cell, (1, 1));
        if columns > 1 || down > 1 {
            let as_u64 = |number: usize| number as u64;
            spans.push(Span {
                row: as_u64(rows.len()),
                column: as_u64(row.len()),
                rows: as_u64(down),
                columns: as_u64(columns),
            });
        }
        row.push(text);
        row.extend((1..columns.min(WIDEST)).map(|_| String::new()));
    }

    /// Ends a row.
    pub(crate) fn end_row(&mut self) {
        let nothing = self.text.trim().is_empty();
        let Open::Table { row, .. } = &mut self.open else { return };
        if !row.is_empty() || !nothing {
            self.end_cell();
        }
        if let Open::Table { rows, row, .. } = &mut self.open
            && !row.is_empty()
        {
            let row = std::mem::take(row);
            rows.push(row);
        }
    }

    /// A rule between rows: rows above the first inner rule are the header.
    pub(crate) fn rule(&mut self) {
        let nothing = self.text.trim().is_empty();
        let Open::Table { rows, row, header_rows, ruled, .. } = &mut self.open else { return };
        if row.is_empty() && nothing && !rows.is_empty() && !*ruled {
            *ruled = true;
            *header_rows = rows.len();
        }
    }

    /// The block or blocks that the environment is.
    pub(crate) fn finish(mut self) -> Vec<Block> {
        match &self.open {
            Open::List { .. } => self.end_item(),
            Open::Table { .. } => self.end_row(),
            _ => self.end_paragraph(),
        }
        let mut inside = std::mem::take(&mut self.blocks);
        match self.open {
            Open::Body | Open::Abstract | Open::Aside(_) => inside,
            Open::List { ordered, role, items, .. } => {
                if items.is_empty() {
                    return inside;
                }
                let role = role.map(str::to_owned);
                vec![Block { ordered, role, items, ..Block::empty(Kind::List) }]
            }
            Open::Quote { role, label, caption } => {
                if inside.is_empty() && caption.is_none() {
                    return Vec::new();
                }
                let plain =
                    |block: &Block| block.kind == Kind::Paragraph && block.blocks.is_empty();
                let mut block = Block { role, label, caption, ..Block::empty(Kind::Quote) };
                if inside.len() == 1 && inside.first().is_some_and(plain) {
                    block.text = inside.remove(0).text;
                } else {
                    block.blocks = inside;
                }
                vec![block]
            }
            Open::Float { kind, label, captions, files } => {
                float(kind, label, captions, files, inside)
            }
            Open::Table { mut rows, spans, header_rows, caption, .. } => {
                let width = rows.iter().map(Vec::len).max().unwrap_or(0).min(1000);
                let cells: usize = rows.iter().map(Vec::len).sum();
                if width * rows.len() <= cells * 4 + 100_000 {
                    rows.iter_mut().for_each(|row| row.resize(width, String::new()));
                }
                rows.retain(|row| !row.is_empty());
                if rows.is_empty() {
                    return self.notes;
                }
                let header_rows = if header_rows < rows.len() { header_rows as u64 } else { 0 };
                let height = rows.len() as u64;
                let mut spans = spans;
                spans.retain_mut(|span| {
                    span.rows = span.rows.min(height.saturating_sub(span.row));
                    span.columns = span.columns.min((width as u64).saturating_sub(span.column));
                    span.rows > 1 || span.columns > 1
                });
                // Cells above a cell that spans rows upwards are kept.
                spans.retain(|span| span.rows >= 1 && span.columns >= 1);
                let blocks = std::mem::take(&mut self.notes);
                vec![Block {
                    rows,
                    spans,
                    header_rows,
                    caption,
                    blocks,
                    ..Block::empty(Kind::Table)
                }]
            }
        }
    }
}

/// A figure or table with its captions.
fn float(
    kind: Kind,
    label: Option<String>,
    captions: Vec<String>,
    files: Vec<String>,
    mut inside: Vec<Block>,
) -> Vec<Block> {
    let caption = Some(captions.join("\n")).filter(|caption| !caption.is_empty());
    let mut files = files.into_iter();
    if kind == Kind::Table
        && let Some(table) = inside.iter_mut().find(|block| block.kind == Kind::Table)
    {
        table.caption = caption.or(table.caption.take());
        table.label = label.or(table.label.take());
        return inside;
    }
    let mut block = Block { label, caption, href: files.next(), ..Block::empty(Kind::Figure) };
    if kind == Kind::Table {
        block.role = Some("table".to_owned());
    } else if kind == Kind::Code {
        block = Block { role: Some("algorithm".to_owned()), kind: Kind::Quote, ..block };
    }
    for href in files {
        inside.push(Block { href: Some(href), ..Block::empty(Kind::Figure) });
    }
    block.blocks = inside;
    let has_content = block.caption.is_some() || block.href.is_some() || !block.blocks.is_empty();
    if has_content { vec![block] } else { Vec::new() }
}

/// The text of blocks, a line each; blocks without lines go into `extra`.
pub(crate) fn flatten(blocks: Vec<Block>, text: &mut String, extra: &mut Vec<Block>) {
    for block in blocks {
        match block.kind {
            Kind::Paragraph | Kind::Heading | Kind::Code | Kind::Quote => {
                for part in [block.label, block.caption, block.text].into_iter().flatten() {
                    text.push_str(&part.replace('\n', "\u{2028}"));
                    text.push(' ');
                }
                text.push(LINE);
                flatten(block.blocks, text, extra);
            }
            Kind::Equation => {
                if let Some(tex) = block.tex {
                    text.push_str(&format!("${tex}$"));
                }
                text.push(LINE);
            }
            Kind::List => {
                for item in block.items {
                    for part in [item.label, item.text].into_iter().flatten() {
                        text.push_str(&part.replace('\n', "\u{2028}"));
                        text.push(' ');
                    }
                    text.push(LINE);
                    flatten(item.blocks, text, extra);
                }
            }
            Kind::Table if block.caption.is_none() => {
                for row in &block.rows {
                    let cells: Vec<&str> =
                        row.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
                    text.push_str(&cells.join(" ").replace('\n', " "));
                    text.push(LINE);
                }
            }
            _ => extra.push(block),
        }
    }
}

/// Applies a function to every text of blocks.
pub(crate) fn each_text(blocks: &mut [Block], with: &mut impl FnMut(&mut String)) {
    for block in blocks {
        for text in [&mut block.label, &mut block.text, &mut block.caption].into_iter().flatten() {
            with(text);
        }
        block.rows.iter_mut().flatten().for_each(&mut *with);
        for item in &mut block.items {
            for text in [&mut item.label, &mut item.text].into_iter().flatten() {
                with(text);
            }
            each_text(&mut item.blocks, with);
        }
        each_text(&mut block.blocks, with);
    }
}

/// Applies a function to every text of sections.
pub(crate) fn each_section(sections: &mut [Section], with: &mut impl FnMut(&mut String)) {
    for section in sections {
        if let Some(heading) = &mut section.heading {
            with(heading);
        }
        each_text(&mut section.blocks, with);
    }
}
