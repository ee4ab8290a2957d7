//! The document: the result of every reader of papers and pages, as defined by
//! `contract/v1/document.schema.json`.
//!
//! Absent means unknown. Texts are on one line, whitespace collapsed; if a text has several lines,
//! a line feed separates them. A formula inside a text is TeX between dollars, `$x^2$`, where the
//! document has TeX. A part that could not be read becomes a [`Warning`] with its position.
//!
//! [`Document::to_json`] is what `parse` returns; [`Document::to_markdown`] and
//! [`Document::to_text`] render it. The built-in plugin `render` renders the JSON of any reader.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod cited;
mod escape;
pub mod grid;
pub mod render;
mod table;
#[cfg(test)]
mod tests;
pub mod thread;
mod write;

/// The most warnings of a document; the last one counts the others.
pub const MAX_WARNINGS: usize = 100;

/// A document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Document {
    /// What the document is, in its format's own word, such as research-article or correction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Authors in the order of the document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<Person>,
    /// Language of the text, a BCP 47 tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Identifiers of the document itself.
    pub identifiers: Identifiers,
    /// What the document's tags say of it, each with the place that says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<Metadatum>,
    /// The main abstract's text, paragraphs divided by blank lines.
    #[serde(rename = "abstract", skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Every abstract with its parts, the main one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub abstracts: Vec<Abstract>,
    /// The text, section by section in reading order.
    pub sections: Vec<Section>,
    /// Works that the document cites.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Number of pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
    /// Labels of the pages in order, such as iii or A-1, where they are not just their numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub page_labels: Vec<String>,
    /// The outline that the file has beside its text: bookmarks, a table of contents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outline: Vec<OutlineItem>,
    /// Addresses that the document links to, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// What could not be read as it should be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// How much of the text was read.
    pub quality: Quality,
    /// Why it is not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality_reason: Option<Reason>,
}

/// A person or organisation that made the document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Person {
    /// Family name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Given name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// What follows the name, such as Jr.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suffix: Option<String>,
    /// An organisation, a collaboration, a name in one piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub literal: Option<String>,
    /// ORCID without resolver prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orcid: Option<String>,
    /// Address for mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Roles in the document's own words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// Affiliations as the document words them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub affiliations: Vec<String>,
}

impl Person {
    /// The name for display, given name first; empty if there is none.
    pub fn name(&self) -> String {
        let parts = [&self.given, &self.family, &self.suffix, &self.literal];
        parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// Identifiers of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Identifiers {
    /// DOI without resolver prefix, as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    /// arXiv identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arxiv: Option<String>,
    /// PubMed identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<String>,
    /// PubMed Central identifier with its prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmcid: Option<String>,
    /// ISBNs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub isbn: Vec<String>,
}

/// One statement of the document about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Metadatum {
    /// What is stated, such as journal, published, licence, keyword, related_article.
    pub name: String,
    /// Which one of several, in the document's own word, such as epub for a date.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The statement.
    pub value: String,
    /// Language of the value, where it is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Where it is from: a path of elements, the name of a tag.
    pub from: String,
}

/// An abstract.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Abstract {
    /// Which one, in the document's own word, such as plain-language-summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Language, where it is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Its parts; the first has the abstract's own heading.
    pub sections: Vec<Section>,
}

/// A part of the text below one heading, up to the next heading of whatever level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Section {
    /// Heading; absent for text before the first heading, and behind a section that is inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// 1 for the outermost.
    pub level: u32,
    /// Number or letter in front of the heading, such as 2.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it is in the document's own word, such as methods, acknowledgements, references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Language, where it differs from the document's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Page on which it begins, from 1, where there are pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// The text.
    pub blocks: Vec<Block>,
}

/// An item of an outline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct OutlineItem {
    /// Title.
    pub title: String,
    /// 1 for the outermost.
    pub level: u32,
    /// Page that it leads to, from 1, where it leads to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
}

/// What a block is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A paragraph: `text`.
    #[default]
    Paragraph,
    /// A list: `items`, `ordered`.
    List,
    /// A table: `rows`, `header_rows`, `spans`, `caption`; its notes are in `blocks`.
    Table,
    /// A figure, a supplement, a film: `caption`, `href`; `text` is what is written about it elsewhere.
    Figure,
    /// Code or preformatted text: `text` with its lines.
    Code,
    /// A quotation or a box: `text`, or `caption` and `blocks`.
    Quote,
    /// A formula of its own: `tex`, `text`, `label`.
    Equation,
    /// A footnote: `label`, `text`, and `blocks` behind its first paragraph.
    Footnote,
    /// A heading inside a box, a list or another block: `text`, `label`.
    Heading,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Paragraph,
        Self::List,
        Self::Table,
        Self::Figure,
        Self::Code,
        Self::Quote,
        Self::Equation,
        Self::Footnote,
        Self::Heading,
    ];

    /// The kind as the contract spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paragraph => "paragraph",
            Self::List => "list",
            Self::Table => "table",
            Self::Figure => "figure",
            Self::Code => "code",
            Self::Quote => "quote",
            Self::Equation => "equation",
            Self::Footnote => "footnote",
            Self::Heading => "heading",
        }
    }
}

/// A block of text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Block {
    /// What it is; says which members it can have.
    pub kind: Kind,
    /// What it is in the document's own word, where that says more, such as boxed-text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Label as printed, such as Figure 2 or (3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Caption, its title on the first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caption: Option<String>,
    /// A formula as TeX, without delimiters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tex: Option<String>,
    /// Where a figure's file is, as the document names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
    /// Whether a list counts its items; absent means not.
    #[serde(skip_serializing_if = "is_false")]
    pub ordered: bool,
    /// A list's items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// A table's cells, all rows of equal length; a place that a spanning cell covers is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Vec<String>>,
    /// How many of the rows are headers; absent means none.
    #[serde(skip_serializing_if = "is_zero")]
    pub header_rows: u64,
    /// Cells that span several rows or columns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
    /// Blocks inside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Block {
    /// A block of one kind with a text.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: Some(text.into()), ..Self::default() }
    }

    /// A block of one kind without anything yet.
    pub fn empty(kind: Kind) -> Self {
        Self { kind, ..Self::default() }
    }
}

/// An item of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Item {
    /// Its own label, or the term that it explains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its first paragraph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What follows that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
}

/// A cell that spans several rows or columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Span {
    /// Row of its text, from 0.
    pub row: u64,
    /// Column of its text, from 0.
    pub column: u64,
    /// Rows that it spans.
    pub rows: u64,
    /// Columns that it spans.
    pub columns: u64,
}

/// A work that the document cites.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Reference {
    /// The document's own key, which its links name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Label as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The whole reference as a reader sees it.
    pub text: String,
    /// What is cited, in the document's own word, such as journal or book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// DOI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    /// PubMed identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmid: Option<String>,
    /// PubMed Central identifier with its prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmcid: Option<String>,
    /// arXiv identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arxiv: Option<String>,
    /// ISBN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isbn: Option<String>,
    /// Address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Title of the cited work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Authors, each in one text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Year as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<String>,
    /// Journal, book or proceedings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_title: Option<String>,
    /// Volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// Issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// Pages or article number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<String>,
    /// Publisher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
}

/// An address that the document links to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Link {
    /// The address as the document gives it.
    pub href: String,
    /// The linked text, where it is not the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Something that could not be read as it should be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Warning {
    /// Which kind of problem, snake_case.
    pub code: String,
    /// The message for a person.
    pub message: String,
    /// Where: byte and element, or page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// How much of the text was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quality {
    /// All of it.
    #[default]
    Complete,
    /// A part.
    Partial,
    /// Nothing.
    None,
}

impl Quality {
    /// The word of the contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::None => "none",
        }
    }
}

/// Why the text is not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Pages are pictures.
    Scanned,
    /// The document needs a password.
    Encrypted,
    /// Parts of the document are broken.
    Damaged,
    /// The document ends too early.
    Truncated,
    /// The document has metadata or an abstract and no text of its own.
    MetadataOnly,
    /// The document has nothing to read.
    Empty,
}

impl Reason {
    /// The word of the contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scanned => "scanned",
            Self::Encrypted => "encrypted",
            Self::Damaged => "damaged",
            Self::Truncated => "truncated",
            Self::MetadataOnly => "metadata_only",
            Self::Empty => "empty",
        }
    }
}

impl Document {
    /// Adds a warning; from the [`MAX_WARNINGS`]th on, warnings are only counted.
    pub fn warn(&mut self, code: &str, message: impl Into<String>, place: Option<String>) {
        if self.warnings.len() + 1 < MAX_WARNINGS {
            let (code, message) = (code.to_owned(), message.into());
            self.warnings.push(Warning { code, message, place });
            return;
        }
        const MORE: &str = "more_warnings";
        if self.warnings.last().is_none_or(|last| last.code != MORE) {
            let (code, message) = (MORE.to_owned(), "0 more".to_owned());
            self.warnings.push(Warning { code, message, place: None });
        }
        if let Some(last) = self.warnings.last_mut() {
            let count = last.message.split(' ').next().and_then(|count| count.parse().ok());
            last.message = format!("{} more", count.unwrap_or(0_u64) + 1);
        }
    }

    /// Adds a link; [`finish`](Self::finish) removes duplicates.
    pub fn link(&mut self, href: &str, text: Option<&str>) {
        let text = text.filter(|text| !text.is_empty() && *text != href).map(str::to_owned);
        if !href.is_empty() {
            self.links.push(Link { href: href.to_owned(), text });
        }
    }

    /// Sets derived members: removes duplicate links, sets `abstract` from `abstracts`, and
    /// `quality` unless it was set.
    pub fn finish(&mut self) {
        let mut seen = std::collections::HashSet::new();
        self.links.retain(|link| seen.insert(link.href.clone()));
        if self.summary.is_none() {
            self.summary = self.abstracts.first().and_then(render::of_abstract);
        }
        if self.quality == Quality::Complete {
            let has_text = self.sections.iter().any(|section| !section.blocks.is_empty());
            let has_more = self.title.is_some()
                || !self.abstracts.is_empty()
                || !self.references.is_empty()
                || !self.metadata.is_empty();
            (self.quality, self.quality_reason) = match (has_text, has_more) {
                (true, _) => (Quality::Complete, None),
                (false, true) => (Quality::Partial, Some(Reason::MetadataOnly)),
                (false, false) => (Quality::None, Some(Reason::Empty)),
            };
        }
    }
}
