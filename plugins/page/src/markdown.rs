//! Markdown as a document: CommonMark with tables, footnotes, formulas, task lists and a block of metadata
//! in front, by pulldown-cmark.

use carrel_pdk::document::{Abstract, Block, Document, Item, Kind, Metadatum, Person, Section};
use carrel_pdk::id::Doi;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::blocks::{self, DEEPEST, Piece};
use crate::flat;
use crate::inline::leads_elsewhere;

/// A block that is open.
struct Open {
    block: Block,
    /// Text of a paragraph that is not yet complete.
    text: String,
    pieces: Vec<Piece>,
    /// Whether an item of a list is open.
    item: bool,
}

/// Reads Markdown.
pub(crate) fn read(source: &str) -> Document {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut reader = Reader {
        document: Document::default(),
        open: vec![open(Kind::Paragraph, false)],
        skipped: 0,
        metadata: None,
        links: Vec::new(),
        deep: 0,
        html: None,
        hidden: None,
        hidden_chars: 0,
    };
    for event in Parser::new_ext(source, options) {
        reader.event(event);
    }
    while reader.open.len() > 1 {
        reader.close();
    }
    reader.paragraph();
    let pieces = reader.open.pop().map(|open| open.pieces).unwrap_or_default();
    let mut document = reader.document;
    if reader.hidden_chars > 0 {
        let message = format!(
            "hidden elements with {} characters of text were left out",
            reader.hidden_chars
        );
        document.warn("hidden_text", message, None);
    }
    if reader.deep > 0 {
        document.warn(
            "nested_too_deep",
            "blocks nest deeper than 24: deeper ones were not kept apart",
            None,
        );
    }
    let mut sections = blocks::sections(pieces, None);
    // A single first-level heading before all others is the title.
    let tops =
        sections.iter().filter(|section| section.level == 1 && section.heading.is_some()).count();
    if document.title.is_none()
        && tops == 1
        && let Some(first) = sections.first_mut().filter(|first| first.level == 1)
    {
        document.title = first.heading.take();
        if first.blocks.is_empty() {
            sections.remove(0);
        }
        for section in sections.iter_mut().filter(|section| section.heading.is_some()) {
            section.level = section.level.saturating_sub(1).max(1);
        }
    }
    document.sections = sections;
    document
}

fn open(kind: Kind, item: bool) -> Open {
    Open { block: Block::empty(kind), text: String::new(), pieces: Vec::new(), item }
}

struct Reader {
    document: Document,
    open: Vec<Open>,
    /// Blocks that were not opened because they are too deep.
    skipped: u32,
    metadata: Option<String>,
    links: Vec<(String, usize)>,
    deep: u32,
    /// The HTML block that is being read.
    html: Option<String>,
    /// The element of HTML that hides what follows, and how many of its name are open.
    hidden: Option<(String, u32)>,
    hidden_chars: usize,
}

impl Reader {
    fn top(&mut self) -> &mut Open {
        if self.open.is_empty() {
            self.open.push(open(Kind::Paragraph, false));
        }
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    fn push(&mut self, text: &str) {
        if let Some(metadata) = &mut self.metadata {
            metadata.push_str(text);
            return;
        }
        if self.hidden.is_some() {
            self.hidden_chars += crate::seen::visible(text);
            return;
        }
        self.top().text.push_str(text);
    }

    fn take(&mut self) -> Option<String> {
        let text = std::mem::take(&mut self.top().text);
        let lines: Vec<String> = text
            .split('\n')
            .map(|line| carrel_pdk::text::collapse(line).into_owned())
            .filter(|line| !line.is_empty())
            .collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn paragraph(&mut self) {
        if let Some(text) = self.take() {
            self.top().pieces.push(Piece::Block(Block::new(Kind::Paragraph, text)));
        }
    }

    fn begin(&mut self, kind: Kind, item: bool) {
        self.paragraph();
        if self.open.len() > DEEPEST as usize {
            self.skipped += 1;
            self.deep += 1;
            return;
        }
        self.open.push(open(kind, item));
    }

    /// Ends the innermost block and adds it to its parent.
    fn close(&mut self) {
        self.paragraph();
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if self.open.len() < 2 {
            return;
        }
        let Some(done) = self.open.pop() else { return };
        let inner = blocks::nested(done.pieces);
        let mut block = done.block;
        if done.item {
            let item = item(block.label.take(), inner);
            self.top().block.items.extend(item);
            return;
        }
        match block.kind {
            Kind::Quote | Kind::Footnote => {
                let mut inner = inner;
                let first = inner.first_mut().filter(|first| first.kind == Kind::Paragraph);
                if block.kind == Kind::Footnote || first.is_some() {
                    block.text = first.and_then(|first| first.text.take());
                    if block.text.is_some() {
                        inner.remove(0);
                    }
                }
                block.blocks = inner;
                if block.text.is_none() && block.blocks.is_empty() {
                    return;
                }
                if block.kind == Kind::Quote && !block.blocks.is_empty() {
                    // Either a text or blocks.
                    if let Some(text) = block.text.take() {
                        block.blocks.insert(0, Block::new(Kind::Paragraph, text));
                    }
                }
            }
            Kind::List if block.items.is_empty() => return,
            Kind::Table if block.rows.is_empty() => return,
            _ => {}
        }
        self.top().pieces.push(Piece::Block(block));
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Code(text) => self.push(&text),
            Event::InlineMath(tex) => self.push(&format!("${}$", tex.trim())),
            Event::DisplayMath(tex) => {
                self.paragraph();
                let tex = tex.trim();
                if !tex.is_empty() {
                    let mut block = Block::empty(Kind::Equation);
                    block.tex = Some(tex.to_owned());
                    self.top().pieces.push(Piece::Block(block));
                }
            }
            Event::Html(html) => match &mut self.html {
                Some(block) => block.push_str(&html),
                None => self.markup(&html),
            },
            Event::InlineHtml(html) => {
                if html.to_ascii_lowercase().starts_with("<br") {
                    self.push("\n");
                } else {
                    self.markup(&html);
                }
            }
            Event::FootnoteReference(label) => self.push(&format!("[{label}]")),
            Event::SoftBreak => self.push(" "),
            Event::HardBreak => self.push("\n"),
            Event::Rule => self.paragraph(),
            Event::TaskListMarker(done) => self.push(if done { "☒ " } else { "☐ " }),
        }
    }

    /// Reads HTML in Markdown: its text, without comments, scripts and hidden elements, which may
    /// also contain what follows in Markdown.
    fn markup(&mut self, html: &str) {
        let mut rest = html;
        while let Some((before, tag)) = rest.split_once('<') {
            self.words(before);
            if let Some(comment) = tag.strip_prefix("!--") {
                rest = comment.split_once("-->").map_or("", |(_, behind)| behind);
                continue;
            }
            let closes = tag.starts_with('/');
            let inner = tag.trim_start_matches('/');
            let opens = |first: char| first.is_ascii_alphabetic() || matches!(first, '!' | '?');
            if !inner.starts_with(opens) {
                self.words("<");
                rest = tag;
                continue;
            }
            let end = inner.find('>').unwrap_or(inner.len());
            let length =
                inner.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(end).min(end);
            let name = inner[..length].to_ascii_lowercase();
            match &mut self.hidden {
                Some((hiding, open)) if *hiding == name => {
                    *open = if closes { *open - 1 } else { *open + 1 };
                    if *open == 0 {
                        self.hidden = None;
                    }
                }
                None if !closes && flat::is_hiding(&name, &inner[length..end]) => {
                    self.hidden = Some((name, 1));
                }
                _ => {}
            }
            rest = inner.get(end + 1..).unwrap_or_default();
        }
        self.words(rest);
    }

    /// Adds the text between tags.
    fn words(&mut self, text: &str) {
        let words =
            carrel_pdk::text::collapse(&carrel_pdk::text::decode_entities(text)).into_owned();
        if !words.is_empty() {
            self.push(&words);
            self.push(" ");
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::Heading { .. } => self.paragraph(),
            Tag::HtmlBlock => {
                self.paragraph();
                self.html = Some(String::new());
            }
            Tag::BlockQuote(_) => self.begin(Kind::Quote, false),
            Tag::CodeBlock(kind) => {
                self.paragraph();
                let mut block = Block::empty(Kind::Code);
                if let CodeBlockKind::Fenced(info) = kind {
                    let word = info.split([' ', ',', '{']).next().unwrap_or_default();
                    block.role = Some(word.to_ascii_lowercase()).filter(|word| !word.is_empty());
                }
                self.open.push(Open { block, ..open(Kind::Code, false) });
            }
            Tag::List(start) => {
                self.begin(Kind::List, false);
                if self.skipped == 0 {
                    self.top().block.ordered = start.is_some();
                }
            }
            Tag::Item => self.begin(Kind::Paragraph, true),
            Tag::FootnoteDefinition(label) => {
                self.begin(Kind::Footnote, false);
                if self.skipped == 0 && !label.is_empty() {
                    self.top().block.label = Some(label.to_string());
                }
            }
            Tag::Table(_) => self.begin(Kind::Table, false),
            Tag::TableHead | Tag::TableRow if self.top().block.kind == Kind::Table => {
                self.top().block.rows.push(Vec::new());
            }
            Tag::Link { dest_url, .. } => {
                let at = self.top().text.len();
                self.links.push((dest_url.to_string(), at));
            }
            Tag::Image { .. } => {}
            Tag::MetadataBlock(_) => self.metadata = Some(String::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.paragraph(),
            TagEnd::HtmlBlock => {
                let html = self.html.take().unwrap_or_default();
                self.markup(&html);
                self.paragraph();
            }
            TagEnd::Heading(level) => {
                let level = match level {
                    HeadingLevel::H1 => 1,
                    HeadingLevel::H2 => 2,
                    HeadingLevel::H3 => 3,
                    HeadingLevel::H4 => 4,
                    HeadingLevel::H5 => 5,
                    HeadingLevel::H6 => 6,
                };
                if let Some(text) = self.take() {
                    let text = text.replace('\n', " ");
                    self.top().pieces.push(Piece::Heading(level, None, text));
                }
            }
            TagEnd::CodeBlock => {
                let Some(mut done) = self.open.pop() else { return };
                let text = done.text.trim_end();
                if !text.trim().is_empty() {
                    done.block.text = Some(text.to_owned());
                    self.top().pieces.push(Piece::Block(done.block));
                }
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.close();
            }
            TagEnd::TableHead => {
                let block = &mut self.top().block;
                block.header_rows = u64::from(block.kind == Kind::Table);
            }
            TagEnd::TableCell => {
                let text = self.take().unwrap_or_default();
                let block = &mut self.top().block;
                match block.rows.last_mut() {
                    Some(row) if block.kind == Kind::Table => row.push(text),
                    _ => self.push(&format!("{text} ")),
                }
            }
            TagEnd::Table => self.close(),
            TagEnd::Link => {
                if let Some((href, at)) = self.links.pop() {
                    let text = self.top().text.get(at..).unwrap_or_default().to_owned();
                    let text = carrel_pdk::text::collapse(&text).into_owned();
                    if leads_elsewhere(&href) && self.hidden.is_none() {
                        self.document.link(&href, Some(&text));
                    }
                }
            }
            TagEnd::MetadataBlock(_) => {
                if let Some(text) = self.metadata.take() {
                    front(&text, &mut self.document);
                }
            }
            _ => {}
        }
    }
}

fn item(label: Option<String>, inner: Vec<Block>) -> Option<Item> {
    let mut item = Item { label, ..Item::default() };
    for block in inner {
        if block.kind == Kind::Paragraph && item.text.is_none() && item.blocks.is_empty() {
            item.text = block.text;
        } else {
            item.blocks.push(block);
        }
    }
    (item.text.is_some() || !item.blocks.is_empty()).then_some(item)
}

/// Parses the front matter: lines of `name: value`, and lists below a name.
fn front(text: &str, document: &mut Document) {
    let mut name = String::new();
    for line in text.lines() {
        let (here, value) = match line.trim().strip_prefix("- ") {
            Some(value) => (name.clone(), value),
            None if line.starts_with([' ', '\t']) => continue,
            None => match line.split_once(':') {
                Some((here, value)) => {
                    (here.trim().to_ascii_lowercase().replace([' ', '-'], "_"), value)
                }
                None => continue,
            },
        };
        name.clone_from(&here);
        let value = value.trim().trim_matches(['"', '\'']);
        let list = value.strip_prefix('[').and_then(|value| value.strip_suffix(']'));
        let values: Vec<&str> = match list {
            Some(list) => list.split(',').map(|raw| raw.trim().trim_matches(['"', '\''])).collect(),
            None => vec![value],
        };
        for value in values.into_iter().filter(|value| !value.is_empty() && !here.is_empty()) {
            match here.as_str() {
                "title" => document.title = Some(carrel_pdk::text::collapse(value).into_owned()),
                "author" | "authors" => document
                    .authors
                    .push(Person { literal: Some(value.to_owned()), ..Person::default() }),
                "lang" | "language" => document.language = Some(value.to_owned()),
                "doi" => {
                    document.identifiers.doi =
                        Doi::parse(value).ok().map(|doi| doi.as_str().to_owned())
                }
                "abstract" => {
                    let blocks = vec![Block::new(Kind::Paragraph, value)];
                    let sections = vec![Section { level: 1, blocks, ..Section::default() }];
                    document.abstracts.push(Abstract { sections, ..Abstract::default() });
                }
                _ => {}
            }
            document.metadata.push(Metadatum {
                name: here.clone(),
                kind: None,
                value: carrel_pdk::text::collapse(value).into_owned(),
                language: None,
                from: format!("front matter {here}"),
            });
        }
    }
}
