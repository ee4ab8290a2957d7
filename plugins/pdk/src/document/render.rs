//! The document as Markdown and as plain text.

use super::{Abstract, Block, Document, Item, Kind, Person, Section, escape, table};

/// Deepest heading of Markdown.
const DEEPEST: usize = 6;

impl Document {
    /// The document as Markdown (CommonMark, with the tables of GitHub's and TeX between dollars):
    /// title, authors, identifiers, abstracts, sections, references. Text is escaped, so it never
    /// becomes markup.
    pub fn to_markdown(&self) -> String {
        self.rendered(true).text
    }

    /// The document as plain text: the same parts, divided by blank lines.
    pub fn to_text(&self) -> String {
        self.rendered(false).text
    }

    /// The document as Markdown or plain text, with the positions of its sections in it.
    pub fn rendered(&self, markdown: bool) -> Rendered {
        Renderer { markdown }.document(self)
    }
}

/// A text and the headings in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// The headings in the text, in their order; that of the title is not among them.
    pub headings: Vec<Heading>,
}

/// A heading of a section, and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Label and heading, on one line.
    pub text: String,
    /// 1 for the outermost.
    pub level: u32,
    /// The part that it heads.
    pub part: Part,
    /// The position of its first character, in code points from 0.
    pub start: usize,
}

/// A part of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// An abstract.
    Abstract,
    /// The text.
    Body,
    /// The list of references.
    References,
}

impl Part {
    /// The name of the part.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Abstract => "abstract",
            Self::Body => "body",
            Self::References => "references",
        }
    }
}

/// The parts of a text, separated by blank lines, and the headings among them. Until the text is
/// joined, `start` is the index of the part.
#[derive(Default)]
struct RenderedParts {
    parts: Vec<String>,
    headings: Vec<Heading>,
}

impl RenderedParts {
    fn push(&mut self, part: String) {
        if !part.is_empty() {
            self.parts.push(part);
        }
    }

    fn extend(&mut self, parts: impl IntoIterator<Item = String>) {
        parts.into_iter().for_each(|part| self.push(part));
    }

    fn heading(&mut self, rendered: String, text: String, level: u32, part: Part) {
        if !rendered.is_empty() {
            self.headings.push(Heading { text, level, part, start: self.parts.len() });
            self.parts.push(rendered);
        }
    }

    fn joined(self) -> Rendered {
        let Self { parts, mut headings } = self;
        let mut at = 0;
        let mut next = headings.iter_mut().peekable();
        for (number, part) in parts.iter().enumerate() {
            while let Some(heading) = next.next_if(|heading| heading.start == number) {
                heading.start = at;
            }
            at += part.chars().count() + 2;
        }
        let mut text = parts.join("\n\n");
        if !text.is_empty() {
            text.push('\n');
        }
        Rendered { text, headings }
    }
}

/// The text of an abstract without its own heading.
pub(super) fn of_abstract(summary: &Abstract) -> Option<String> {
    let renderer = Renderer { markdown: false };
    let mut parts = Vec::new();
    for (number, section) in summary.sections.iter().enumerate() {
        let mut blocks = renderer.blocks(&section.blocks);
        let heading = section.heading.as_deref().filter(|_| number > 0);
        if let Some(heading) = heading {
            let colon =
                if heading.ends_with(|last: char| last.is_alphanumeric()) { ":" } else { "" };
            match blocks.first_mut() {
                Some(first) => *first = format!("{heading}{colon} {first}"),
                None => blocks.push(heading.to_owned()),
            }
        }
        parts.append(&mut blocks);
    }
    Some(parts.join("\n\n")).filter(|text| !text.is_empty())
}

#[derive(Clone, Copy)]
struct Renderer {
    markdown: bool,
}

impl Renderer {
    fn document(self, document: &Document) -> Rendered {
        let mut parts = RenderedParts::default();
        if let Some(title) = &document.title {
            parts.push(self.heading(1, &words(None, title)));
        }
        let names: Vec<String> = document.authors.iter().map(Person::name).collect();
        let names: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        if !names.is_empty() {
            parts.push(self.paragraph(&names.join(", ")));
        }
        let ids = &document.identifiers;
        let ids =
            [("DOI", &ids.doi), ("arXiv", &ids.arxiv), ("PMID", &ids.pmid), ("PMCID", &ids.pmcid)];
        let ids: Vec<String> =
            ids.iter().filter_map(|(name, id)| Some(format!("{name}: {}", id.as_ref()?))).collect();
        if !ids.is_empty() {
            parts.push(self.paragraph(&ids.join(", ")));
        }
        for summary in &document.abstracts {
            self.summary(summary, &mut parts);
        }
        let mut references = Some(self.references(document)).filter(|list| !list.is_empty());
        for section in &document.sections {
            self.section(section, Part::Body, &mut parts);
            if section.kind.as_deref() == Some("references") {
                parts.extend(references.take());
            }
        }
        if let Some(references) = references {
            self.section_heading(1, None, "References", Part::References, &mut parts);
            parts.push(references);
        }
        parts.joined()
    }

    fn summary(self, summary: &Abstract, parts: &mut RenderedParts) {
        for (number, section) in summary.sections.iter().enumerate() {
            if number == 0 && section.heading.is_none() {
                let heading = match &summary.kind {
                    Some(kind) => format!("Abstract ({kind})"),
                    None => "Abstract".to_owned(),
                };
                self.section_heading(1, None, &heading, Part::Abstract, parts);
            }
            self.section(section, Part::Abstract, parts);
        }
    }

    fn section(self, section: &Section, part: Part, parts: &mut RenderedParts) {
        let references = section.kind.as_deref() == Some("references");
        let part = if references { Part::References } else { part };
        let label = section.label.as_deref();
        if section.heading.is_none() && references {
            // Without a heading the list could not be distinguished from the text before it.
            self.section_heading(section.level, label, "References", part, parts);
        } else if section.heading.is_some() || label.is_some() {
            let heading = section.heading.as_deref().unwrap_or_default();
            self.section_heading(section.level, label, heading, part, parts);
        }
        parts.extend(self.blocks(&section.blocks));
    }

    fn section_heading(
        self,
        level: u32,
        label: Option<&str>,
        text: &str,
        part: Part,
        parts: &mut RenderedParts,
    ) {
        let words = words(label, text);
        let deep = usize::try_from(level).unwrap_or(DEEPEST).saturating_add(1);
        parts.heading(self.heading(deep, &words), words, level, part);
    }

    fn heading(self, level: usize, words: &str) -> String {
        if !self.markdown || words.is_empty() {
            return words.to_owned();
        }
        // Number signs at the end would be read as closing the heading.
        let escaped = escape::inline(words).replace('#', "\\#");
        format!("{} {escaped}", "#".repeat(level.clamp(1, DEEPEST)))
    }

    fn paragraph(self, text: &str) -> String {
        if self.markdown {
            return escape::paragraph(text);
        }
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn strong(self, text: &str) -> String {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match self.markdown {
            // Emphasis marks may not be next to a space, nor to some characters.
            true if text.starts_with(char::is_alphanumeric) => {
                let ends = text.ends_with(char::is_alphanumeric);
                format!("**{}**", escape::inline(&text) + if ends { "." } else { "" })
            }
            true => escape::line(&text),
            false => text,
        }
    }

    /// A label and the labelled text, which begins on the label's line.
    fn labelled(self, label: Option<&str>, text: Option<&str>) -> String {
        let label = label.map(|label| self.strong(label)).unwrap_or_default();
        let text = text.map(|text| self.paragraph(text)).unwrap_or_default();
        [label, text].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn blocks(self, blocks: &[Block]) -> Vec<String> {
        let mut parts = Vec::new();
        for block in blocks {
            self.block(block, &mut parts);
        }
        parts.retain(|part| !part.is_empty());
        parts
    }

    fn block(self, block: &Block, parts: &mut Vec<String>) {
        let (label, text) = (block.label.as_deref(), block.text.as_deref());
        match block.kind {
            Kind::Paragraph | Kind::Heading | Kind::Footnote => {
                let whole = self.labelled(label, text);
                let heading = block.kind == Kind::Heading && self.markdown && label.is_none();
                parts.push(match text.filter(|_| heading) {
                    Some(text) => self.strong(text),
                    None => whole,
                });
            }
            Kind::List => {
                parts.push(self.labelled(label, text));
                parts.push(self.list(block));
            }
            Kind::Table => {
                parts.push(self.labelled(label, block.caption.as_deref()));
                parts.extend(if self.markdown {
                    table::markdown(block)
                } else {
                    table::text(block)
                });
                parts.push(text.map(|text| self.paragraph(text)).unwrap_or_default());
            }
            Kind::Figure => {
                parts.push(self.labelled(label, block.caption.as_deref()));
                parts.push(text.map(|text| self.paragraph(text)).unwrap_or_default());
            }
            Kind::Code => {
                parts.push(self.labelled(label, block.caption.as_deref()));
                parts.push(self.code(text.unwrap_or_default()));
            }
            Kind::Quote => {
                let mut inner = vec![
                    self.labelled(label, block.caption.as_deref()),
                    text.map(|text| self.paragraph(text)).unwrap_or_default(),
                ];
                inner.extend(self.blocks(&block.blocks));
                inner.retain(|part| !part.is_empty());
                parts.push(indented(&inner.join("\n\n"), "> ", "> "));
                return;
            }
            Kind::Equation => parts.push(self.equation(block)),
        }
        parts.extend(self.blocks(&block.blocks));
    }

    fn equation(self, block: &Block) -> String {
        let label = block.label.as_deref().unwrap_or_default();
        match (&block.tex, &block.text) {
            (Some(tex), _) if self.markdown => {
                let lines = escape::tex(tex);
                let lines: Vec<&str> =
                    lines.lines().filter(|line| !line.trim().is_empty()).collect();
                let label = escape::inline(label);
                format!("$$\n{}\n$$ {label}", lines.join("\n")).trim_end().to_owned()
            }
            (Some(tex), None) => format!("{tex} {label}").trim_end().to_owned(),
            (_, text) => {
                self.paragraph(&format!("{} {label}", text.as_deref().unwrap_or_default()))
            }
        }
    }

    fn code(self, text: &str) -> String {
        let text = text.trim_end();
        if text.is_empty() || !self.markdown {
            return text.to_owned();
        }
        let mut longest = 0;
        let mut run = 0;
        for byte in text.bytes() {
            run = if byte == b'`' { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        let fence = "`".repeat((longest + 1).max(3));
        format!("{fence}\n{text}\n{fence}")
    }

    fn list(self, list: &Block) -> String {
        let simple = list.items.iter().all(|item| item.blocks.is_empty());
        let mut items = Vec::new();
        for (number, item) in list.items.iter().enumerate() {
            let marker = if list.ordered { format!("{}. ", number + 1) } else { "- ".to_owned() };
            let content = self.item(item, list.role.as_deref() == Some("def-list"));
            items.push(indented(&content, &marker, &" ".repeat(marker.len())));
        }
        items.retain(|item| !item.is_empty());
        items.join(if simple { "\n" } else { "\n\n" })
    }

    fn item(self, item: &Item, defines: bool) -> String {
        let first = match (&item.label, &item.text) {
            (Some(label), text) if defines => self.labelled(Some(label), text.as_deref()),
            (label, text) => {
                let words: Vec<&str> =
                    [label, text].into_iter().flatten().map(String::as_str).collect();
                self.paragraph(&words.join(" "))
            }
        };
        let mut parts = vec![first];
        parts.extend(self.blocks(&item.blocks));
        parts.retain(|part| !part.is_empty());
        parts.join("\n\n")
    }

    fn references(self, document: &Document) -> String {
        let mut lines = Vec::with_capacity(document.references.len());
        for reference in &document.references {
            let label =
                reference.label.as_deref().map(|label| label.trim_matches(['.', '[', ']', ' ']));
            let mut text = match label {
                Some(label) if !label.is_empty() => format!("[{label}] {}", reference.text),
                _ => reference.text.clone(),
            };
            let known = [("doi", &reference.doi), ("pmid", &reference.pmid)];
            for (name, id) in known {
                if let Some(id) = id.as_ref().filter(|id| !reference.text.contains(id.as_str())) {
                    text.push_str(&format!(" {name}:{id}"));
                }
            }
            lines.push(indented(&self.paragraph(&text), "- ", "  "));
        }
        lines.retain(|line| !line.is_empty());
        lines.join("\n")
    }
}

/// Label and heading on one line.
fn words(label: Option<&str>, text: &str) -> String {
    let words = [label.unwrap_or_default(), text].join(" ");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Puts `first` in front of the first line and `rest` in front of the others.
fn indented(text: &str, first: &str, rest: &str) -> String {
    let mut out = String::with_capacity(text.len() + first.len());
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        out.push_str(if number == 0 { first } else { rest });
        out.push_str(line);
        if line.is_empty() {
            out.truncate(out.trim_end_matches(' ').len());
        }
    }
    out
}
