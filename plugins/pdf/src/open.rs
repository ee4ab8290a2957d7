//! Opens a file and reads its pages within the limits.

use std::collections::HashSet;

use carrel_pdk::document::{Document, Quality, Reason};
use carrel_pdk::{Code, Error};
use hayro_syntax::object::{Array, Dict, ObjectIdentifier};
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use memchr::memmem;

use crate::blocks::{self, Block};
use crate::font::{Font, Fonts};
use crate::interpret::{self, Content};
use crate::options::Options;
use crate::tags::{self, Tags};
use crate::{bomb, lines, metadata, structure, tables};

/// The share of a page covered by images from which it counts as a scan.
const SCANNED: f64 = 0.25;

/// A page with its text.
pub(crate) struct PageText {
    /// From 1.
    pub(crate) number: u64,
    /// Alternative texts of the page's figures.
    pub(crate) alternatives: Vec<String>,
    pub(crate) height: f32,
    pub(crate) blocks: Vec<Block>,
}

/// Reads a document.
pub(crate) fn read(bytes: &[u8], options: &str) -> Result<Document, Error> {
    let options = Options::read(options)?;
    let start = start_of(bytes).ok_or_else(|| {
        Error::invalid_document("not a PDF file: it has no header %PDF and no object", 0, "")
    })?;
    let bytes = bytes.get(start..).unwrap_or_default();
    bomb::check(bytes)?;
    let pdf = match Pdf::new(bytes.to_vec()) {
        Ok(pdf) => pdf,
        Err(LoadPdfError::Decryption(error)) => match without_encryption(bytes).map(Pdf::new) {
            Some(Ok(pdf)) => pdf,
            _ => return encrypted(error),
        },
        Err(LoadPdfError::Invalid) => return unreadable(bytes),
    };
    let count = pdf.pages().len() as u64;
    let selected = options.pages(count)?;
    let mut document = Document { pages: Some(count), ..Document::default() };
    let hidden = hidden_groups(&pdf);
    let tags = Tags::read(&pdf);
    let mut fonts = Fonts::new();
    let mut operators = 0;
    let mut tally = Tally { truncated: !has_end(bytes), ..Tally::default() };
    let mut pages = Vec::new();
    for (number, page) in (1..).zip(pdf.pages().iter()) {
        if !selected.contains(&number) {
            continue;
        }
        let id = page.raw().obj_id();
        let elements = tags.of_page(id);
        let mut content = interpret::page(page, &mut fonts, &hidden, elements, &mut operators);
        tags::check(&mut content.glyphs);
        tally.add(number, &content, &mut document);
        let height = content.height;
        let lines = lines::gather(&content.glyphs, &fonts);
        let lines = tables::take(lines, interpret::dividing(&content.rules), &tags, &fonts);
        let alternatives = tags.alternatives(id);
        let blocks = blocks::gather(lines, &fonts.all);
        pages.push(PageText { number, alternatives, height, blocks });
        if operators > interpret::MOST_OPERATORS {
            break;
        }
    }
    metadata::read(&pdf, &mut document);
    let whole = selected.len() as u64 == count;
    structure::fill(pages, &fonts.all as &[Font<'_>], &tags, whole, &mut document);
    document.finish();
    tally.judge(&mut document);
    Ok(document)
}

/// The offset at which the file starts: other bytes may precede the header, and a file cut at its
/// start has none.
fn start_of(bytes: &[u8]) -> Option<usize> {
    let find = |needle: &[u8], until: usize| {
        memmem::find(bytes.get(..until.min(bytes.len())).unwrap_or_default(), needle)
    };
    if let Some(at) = find(b"%PDF", 4096) {
        // Offsets count from the header, unless the producer counted the bytes before it.
        let counts_all =
            at > 0 && offset_of_table_fits(bytes, 0) && !offset_of_table_fits(bytes, at);
        return Some(if counts_all { 0 } else { at });
    }
    find(b" obj", bytes.len()).map(|_| 0)
}

/// Whether a cross-reference table is at the offset given at the end of the file, counted from
/// `start`.
fn offset_of_table_fits(bytes: &[u8], start: usize) -> bool {
    let tail = bytes.len().saturating_sub(2048);
    let tail = bytes.get(tail..).unwrap_or_default();
    let Some(at) = memmem::rfind(tail, b"startxref") else { return false };
    let digits: String = tail
        .get(at + 9..)
        .unwrap_or_default()
        .iter()
        .skip_while(|byte| byte.is_ascii_whitespace())
        .take_while(|byte| byte.is_ascii_digit())
        .map(|byte| char::from(*byte))
        .collect();
    let Ok(offset) = digits.parse::<usize>() else { return false };
    let there = bytes.get(start.saturating_add(offset)..).unwrap_or_default();
    there.starts_with(b"xref") || there.first().is_some_and(u8::is_ascii_digit)
}

/// The file without its encryption dictionary, if only attachments are encrypted.
fn without_encryption(bytes: &[u8]) -> Option<Vec<u8>> {
    let at = memmem::find_iter(bytes, b"/Standard").find(|at| {
        let from = at.saturating_sub(2000);
        let start = memmem::rfind(bytes.get(from..*at).unwrap_or_default(), b" obj");
        let dict = bytes.get(from + start.unwrap_or(0)..).unwrap_or_default();
        let dict = dict.get(..memmem::find(dict, b"endobj").unwrap_or(0)).unwrap_or_default();
        [b"/StmF".as_slice(), b"/StrF"].iter().all(|key| {
            memmem::find(dict, key).is_some_and(|at| {
                let value = dict.get(at + key.len()..).unwrap_or_default();
                value.trim_ascii_start().starts_with(b"/Identity")
            })
        })
    });
    at?;
    let mut plain = bytes.to_vec();
    for at in memmem::find_iter(bytes, b"/Encrypt") {
        let is_name = bytes.get(at + 8).is_some_and(|next| !next.is_ascii_alphanumeric());
        if let Some(letter) = plain.get_mut(at + 7).filter(|_| is_name) {
            *letter = b'_';
        }
    }
    Some(plain)
}

/// A document whose text needs a password.
fn encrypted(error: DecryptionError) -> Result<Document, Error> {
    let message = match error {
        DecryptionError::PasswordProtected => {
            "the document is encrypted with a password that is not empty"
        }
        DecryptionError::UnsupportedAlgorithm => {
            "the document is encrypted in a way that is not supported"
        }
        _ => "the document is encrypted and its encryption dictionary is broken",
    };
    let mut document = Document {
        quality: Quality::None,
        quality_reason: Some(Reason::Encrypted),
        ..Document::default()
    };
    document.warn("encrypted", message, None);
    Ok(document)
}

/// A file with a PDF header and no pages.
fn unreadable(bytes: &[u8]) -> Result<Document, Error> {
    let has = |needle: &[u8]| memmem::find(bytes, needle).is_some();
    if !has(b" obj") {
        return Err(Error::invalid_document("the PDF file has no objects", bytes.len() as u64, ""));
    }
    let truncated = !has(b"%%EOF");
    let reason = if truncated { Reason::Truncated } else { Reason::Damaged };
    let mut document =
        Document { quality: Quality::None, quality_reason: Some(reason), ..Document::default() };
    let message = if truncated {
        "the file ends before its cross-reference table, and no page is in it"
    } else {
        "the document's catalogue and pages cannot be found"
    };
    document.warn("no_pages", message, None);
    Ok(document)
}

/// Whether a file has the marks of its end.
fn has_end(bytes: &[u8]) -> bool {
    let has = |needle: &[u8]| memmem::rfind(bytes, needle).is_some();
    has(b"%%EOF") || has(b"startxref")
}

/// Optional content that the default view hides.
fn hidden_groups(pdf: &Pdf) -> HashSet<ObjectIdentifier> {
    let view = || {
        let root = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id())?;
        let properties = root.get::<Dict<'_>>(b"OCProperties")?;
        properties.get::<Dict<'_>>(b"D")?.get::<Array<'_>>(b"OFF")
    };
    let groups = view().into_iter().flat_map(|off| off.raw_iter().collect::<Vec<_>>());
    groups.filter_map(|group| group.as_obj_ref()).map(Into::into).collect()
}

/// The results of the pages.
#[derive(Debug, Default)]
struct Tally {
    pages: usize,
    with_text: usize,
    scanned: usize,
    damaged: bool,
    truncated: bool,
    glyphs: usize,
    unknown: usize,
}

impl Tally {
    fn add(&mut self, number: u64, content: &Content, document: &mut Document) {
        let location = || Some(format!("page {number}"));
        self.pages += 1;
        self.glyphs += content.glyphs.len();
        self.unknown += content.unknown;
        let area = f64::from(content.width) * f64::from(content.height);
        if content.glyphs.is_empty() {
            if content.image_area > area * SCANNED {
                self.scanned += 1;
                document.warn("scanned", "the page is a picture without a text layer", location());
            }
        } else {
            self.with_text += 1;
        }
        if content.broken > 0 {
            self.damaged = true;
            let message =
                format!("{} content stream(s) of the page cannot be decoded", content.broken);
            document.warn("broken_stream", message, location());
        }
        if content.cut {
            self.damaged = true;
            document.warn(
                "too_large",
                "the page's content was cut: it has too many operators or glyphs",
                location(),
            );
        }
        if content.unknown > 0 {
            let message = format!(
                "{} character(s) are in fonts that do not say what they stand for and were left out",
                content.unknown
            );
            document.warn("unmapped_characters", message, location());
        }
    }

    /// Sets the quality: how much of the text was read.
    fn judge(&self, document: &mut Document) {
        let some = if self.with_text > 0 { Quality::Partial } else { Quality::None };
        let (quality, reason) = if self.truncated {
            document.warn("truncated", "the file ends before its cross-reference table", None);
            (some, Some(Reason::Truncated))
        } else if self.scanned > 0 {
            (some, Some(Reason::Scanned))
        } else if self.damaged || self.unknown > self.glyphs {
            (some, Some(Reason::Damaged))
        } else if self.with_text > 0 {
            // A document with only headings has text.
            (Quality::Complete, None)
        } else {
            return;
        };
        (document.quality, document.quality_reason) = (quality, reason);
    }
}

/// A wrong option.
pub(crate) fn wrong_option(message: String) -> Error {
    Error::new(Code::InvalidArguments, message)
}
