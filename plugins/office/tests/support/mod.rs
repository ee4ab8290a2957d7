//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz target.

#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use carrel_pdk::Code;
#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::{check_document, check_error};

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    Suite::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"), "office", "docx")
}

/// Reads the document and checks the invariants of the result.
pub fn check(format: &str, document: &[u8]) {
    match carrel_office::read(format, document) {
        Ok(read) => drop(check_document(&read, document.len())),
        Err(error) => check_error(&error, document, &[Code::InvalidDocument, Code::TooLarge]),
    }
}

/// Reads the bytes as the main part of each format.
pub fn check_parts(part: &[u8]) {
    let rels = |main: &str| {
        format!(
            "<Relationships><Relationship Id='a' Type='x/officeDocument' Target='{main}'/>\
             </Relationships>"
        )
    };
    let (word, slides) = (rels("word/document.xml"), rels("ppt/presentation.xml"));
    let presentation =
        "<presentation xmlns:r='r'><sldIdLst><sldId id='1' r:id='s'/></sldIdLst></presentation>";
    let slide = "<Relationships><Relationship Id='s' Type='x/slide' Target='slides/s.xml'/>\
                 </Relationships>";
    let opf = "<package><manifest><item id='c' href='c.xhtml' \
               media-type='application/xhtml+xml'/></manifest><spine><itemref idref='c'/></spine>\
               </package>";
    check("docx", &zip(&[("_rels/.rels", word.as_bytes()), ("word/document.xml", part)]));
    check(
        "pptx",
        &zip(&[
            ("_rels/.rels", slides.as_bytes()),
            ("ppt/presentation.xml", presentation.as_bytes()),
            ("ppt/_rels/presentation.xml.rels", slide.as_bytes()),
            ("ppt/slides/s.xml", part),
        ]),
    );
    check("odt", &zip(&[("content.xml", part)]));
    check("epub", &zip(&[("b.opf", opf.as_bytes()), ("c.xhtml", part)]));
}

/// A part with the prefixes declared that the tests use, in its first tag.
pub fn declared(part: &str) -> String {
    const PREFIXES: &[&str] =
        &["w", "r", "m", "a", "p", "mc", "text", "table", "office", "draw", "epub", "wps"];
    let declarations: Vec<String> =
        PREFIXES.iter().map(|prefix| format!(" xmlns:{prefix}='{prefix}'")).collect();
    let end = part.find([' ', '>', '/']).unwrap_or(part.len());
    format!("{}{}{}", &part[..end], declarations.concat(), &part[end..])
}

/// An archive of stored (uncompressed) entries.
pub fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    for (name, content) in entries {
        let header = out.len() as u32;
        let size = (content.len() as u32).to_le_bytes();
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        common.extend(size);
        common.extend(size);
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(*content);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(header.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = out.len() as u32;
    let count = (entries.len() as u16).to_le_bytes();
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count);
    out.extend(count);
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}
