//! Parses mutated documents, and documents that a fuzzer found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::testing::damage::{Numbers, damage};

mod support;

use support::{check, check_parts, declared, zip};

const WORD: &str = "<w:document><w:body><w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>Heading</w:t></w:r></w:p>\
    <w:p><w:r><w:t>Words </w:t></w:r><w:hyperlink r:id='x'><w:r><w:t>link</w:t></w:r></w:hyperlink>\
    <m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></w:p>\
    <w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/><w:vMerge w:val='restart'/></w:tcPr><w:p><w:r><w:t>c</w:t></w:r></w:p>\
    </w:tc></w:tr><w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr></w:tbl></w:body></w:document>";
const SLIDE: &str = "<p:sld><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr><p:txBody>\
    <a:p><a:r><a:t>Title</a:t></a:r></a:p></p:txBody></p:sp><p:grpSp><p:sp><p:txBody><a:p><a:pPr lvl='1'><a:buChar char='-'/>\
    </a:pPr><a:r><a:t>Item</a:t></a:r></a:p></p:txBody></p:sp></p:grpSp><p:graphicFrame><a:graphicData><a:tbl><a:tr>\
    <a:tc gridSpan='2'><a:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData>\
    </p:graphicFrame></p:spTree></p:cSld></p:sld>";
const ODT: &str = "<office:document-content><office:body><office:text><text:h text:outline-level='1'>Heading</text:h><text:p>Words\
    <text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Note</text:p></text:note-body></text:note></text:p>\
    <text:list><text:list-item><text:p>one</text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell \
    table:number-columns-spanned='2'><text:p>c</text:p></table:table-cell></table:table-row></table:table></office:text>\
    </office:body></office:document-content>";
const PAGE: &str = "<html><body><h1>Heading</h1><p>Words <a href='https://a.example/'>link</a><sub>2</sub></p><ul><li>a<ol><li>b</li>\
    </ol></li></ul><table><tr><th>h</th></tr><tr><td colspan='2'>c</td></tr></table><figure><img src='a.png' alt='x'/><figcaption>C\
    </figcaption></figure><dl><dt>t</dt><dd>d</dd></dl><aside epub:type='footnote'>n</aside></body></html>";

/// Fragments of these formats that are hard to parse.
const PIECES: &[&str] = &[
    "<w:p>",
    "</w:p>",
    "<w:tbl><w:tr><w:tc>",
    "<w:gridSpan w:val='99999'/>",
    "<w:gridBefore w:val='99999'/>",
    "<w:fldChar w:fldCharType='begin'/>",
    "<w:fldChar w:fldCharType='end'/>",
    "<w:instrText>HYPERLINK \"x</w:instrText>",
    "<mc:AlternateContent><mc:Choice/><mc:Fallback>",
    "<w:txbxContent>",
    "<m:sSup>",
    "<a:tc rowSpan='99999' gridSpan='99999'>",
    "<table:table-cell table:number-columns-repeated='99999999'>",
    "<text:s text:c='9999999999'/>",
    "<td rowspan='9999' colspan='9999'>",
    "<math>",
    "\u{2028}",
];

#[test]
fn many_damaged_parts_give_a_document_or_an_error() {
    let mut numbers = Numbers::new(0x5EED_CA99_E112_3457);
    for part in [WORD, SLIDE, ODT, PAGE] {
        for _ in 0..600 {
            let mut part = declared(part);
            damage(&mut part, PIECES, &mut numbers);
            check_parts(part.as_bytes());
        }
    }
}

#[test]
fn an_archive_with_any_byte_changed_gives_a_document_or_an_error() {
    let archive = zip(&[
        ("_rels/.rels", b"<Relationships/>"),
        ("word/document.xml", declared(WORD).as_bytes()),
    ]);
    for at in 0..archive.len() {
        for value in [0, 1, 0x7F, 0xFF] {
            let mut damaged = archive.clone();
            damaged[at] = value;
            check("docx", &damaged);
        }
        check("docx", &archive[..at]);
    }
}

#[test]
fn an_archive_that_was_cut_gives_what_is_left() {
    let archive =
        zip(&[("word/document.xml", declared(WORD).as_bytes()), ("docProps/core.xml", b"<x/>")]);
    let end = archive.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    let read = carrel_office::read("docx", &archive[..end]).unwrap();
    assert_eq!(read.sections[0].heading.as_deref(), Some("Heading"));
    assert_eq!(read.warnings[0].code, "damaged_archive");
}

#[test]
fn nesting_of_any_depth_is_read_or_refused() {
    for (before, behind) in [
        ("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>"),
        ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"),
        ("<w:p><w:r><w:drawing><w:txbxContent>", "</w:txbxContent></w:drawing></w:r></w:p>"),
        ("<w:p><m:oMath><m:sSup><m:e>", "</m:e></m:sSup></m:oMath></w:p>"),
        ("<m:f><m:num>", "</m:num></m:f>"),
    ] {
        for depth in [5, 20, 40, 2000] {
            let inner = format!(
                "{}<w:p><w:r><w:t>word</w:t></w:r></w:p>{}",
                before.repeat(depth),
                behind.repeat(depth)
            );
            check_parts(
                declared(&format!("<w:document><w:body>{inner}</w:body></w:document>")).as_bytes(),
            );
        }
    }
    for (before, behind) in [
        ("<text:section>", "</text:section>"),
        ("<text:list><text:list-item>", "</text:list-item></text:list>"),
        (
            "<table:table><table:table-row><table:table-cell>",
            "</table:table-cell></table:table-row></table:table>",
        ),
        ("<text:p><draw:frame><draw:text-box>", "</draw:text-box></draw:frame></text:p>"),
        ("<text:p><text:note><text:note-body>", "</text:note-body></text:note></text:p>"),
    ] {
        for depth in [5, 20, 40, 2000] {
            let inner =
                format!("{}<text:p>word</text:p>{}", before.repeat(depth), behind.repeat(depth));
            let part =
                format!("<a><office:body><office:text>{inner}</office:text></office:body></a>");
            check_parts(declared(&part).as_bytes());
        }
    }
    for (before, behind) in [
        ("<p:grpSp>", "</p:grpSp>"),
        ("<mc:AlternateContent><mc:Choice>", "</mc:Choice></mc:AlternateContent>"),
        ("<div>", "</div>"),
        ("<ul><li>", "</li></ul>"),
        ("<table><tr><td>", "</td></tr></table>"),
        ("<blockquote>", "</blockquote>"),
        ("<figure>", "</figure>"),
        ("<dl><dd>", "</dd></dl>"),
    ] {
        for depth in [5, 20, 40, 2000] {
            let inner = format!("{}word{}", before.repeat(depth), behind.repeat(depth));
            check_parts(
                declared(&format!("<html><body><spTree>{inner}</spTree></body></html>")).as_bytes(),
            );
            check_parts(format!("<html><body>{inner}</body></html>").as_bytes());
        }
    }
}
