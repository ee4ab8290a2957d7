//! Reads generated files, one behaviour per test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdf::read;
use carrel_pdk::Code;
use carrel_pdk::document::{Document, Kind, Quality, Reason};

mod support;

use support::files::{File, lines};

const BODY: [&str; 6] = [
    "Reading rooms are quiet places where people read for hours without a word being",
    "spoken, and the desks in them are known as carrels. A carrel has a shelf above the",
    "desk, a lamp, and walls on its three sides that keep the eyes on the page. Libraries",
    "have had them since monks sat in the cloister's north walk, where light is even all",
    "day long. Most of them are made of oak, some of pine, and a few of steel and felt.",
    "They are loved by those who write as much as by those who read.",
];

fn document(file: &File) -> Document {
    read(&file.bytes(), "{}").unwrap()
}

fn text(file: &File) -> String {
    document(file).to_text()
}

fn headings(document: &Document) -> Vec<(u32, Option<&str>, &str)> {
    let sections = document.sections.iter();
    let named = sections.filter_map(|section| {
        Some((section.level, section.label.as_deref(), section.heading.as_deref()?))
    });
    named.collect()
}

#[test]
fn lines_of_a_paragraph_are_one_text() {
    let file = File::of_pages(&[&lines("F1", 10, 72, 700, &BODY)]);
    let read = document(&file);
    assert_eq!(read.sections.len(), 1);
    assert_eq!(read.sections[0].blocks.len(), 1);
    assert_eq!(read.sections[0].blocks[0].text.as_deref(), Some(BODY.join(" ").as_str()));
    assert_eq!((read.quality, read.pages), (Quality::Complete, Some(1)));
}

#[test]
fn hyphens_at_ends_of_lines_are_joined_but_those_of_compounds_are_kept() {
    let text = text(&File::of_pages(&[&lines(
        "F1",
        10,
        72,
        700,
        &[
            "A well-known rule of libra-",
            "ries is that a well-",
            "known book is out, and Jean-",
            "Paul has it.",
        ],
    )]));
    assert_eq!(
        text.trim(),
        "A well-known rule of libraries is that a well-known book is out, and Jean-Paul has it."
    );
}

#[test]
fn two_columns_drawn_row_by_row_are_read_one_after_the_other() {
    let mut content = String::new();
    for row in 0..20_u32 {
        let y = 700 - row * 13;
        content +=
            &lines("F1", 10, 60, y, &[&format!("left line number {row} of the first column here")]);
        content +=
            &lines("F1", 10, 330, y, &[&format!("right line number {row} of the second column")]);
    }
    let text = text(&File::of_pages(&[&content])).replace('\n', " ");
    let offset = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} in {text}"));
    assert!(offset("left line number 19") < offset("right line number 0"));
    assert!(offset("left line number 3 ") < offset("left line number 4 "));
}

#[test]
fn words_are_divided_by_gaps_and_not_by_kerning() {
    let content = "BT /F1 10 Tf 72 700 Td [(V) 80 (alue) -333 (and) -300 (T) 70 (ype)] TJ ET";
    assert_eq!(text(&File::of_pages(&[content])).trim(), "Value and Type");
}

#[test]
fn ligatures_are_letters() {
    let content = b"BT /F9 10 Tf 72 700 Td (\x01nd the \x02ag in the o\x03ce) Tj ET";
    let mut page = File::default();
    let font = page.add(
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica \
         /Encoding << /BaseEncoding /WinAnsiEncoding /Differences [1 /fi /fl /f_f_i] >> >>",
    );
    let form = page.add_stream(
        &format!("/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F9 {font} 0 R >> >>"),
        content,
    );
    page.page =
        format!("/Annots [<< /Subtype /Stamp /Rect [0 0 612 792] /AP << /N {form} 0 R >> >>]");
    page.add_page(b"");
    assert_eq!(text(&page).trim(), "find the flag in the office");
}

#[test]
fn title_headings_and_levels_come_from_type_and_numbers() {
    let content = [
        lines("F2", 18, 72, 740, &["A Study of Desks"]),
        lines("F2", 12, 72, 690, &["1 Introduction"]),
        lines("F1", 10, 72, 670, &BODY),
        lines("F2", 11, 72, 580, &["1.1 Oak and Pine"]),
        lines("F1", 10, 72, 560, &BODY),
        lines("F2", 12, 72, 470, &["References"]),
        lines(
            "F1",
            10,
            72,
            450,
            &[
                "[1] A. Reader. Desks. Journal of Rooms, 2001. doi:10.5555/desk.1.",
                "[2] B. Writer. Lamps. 1999.",
            ],
        ),
    ]
    .concat();
    let read = document(&File::of_pages(&[&content]));
    assert_eq!(read.title.as_deref(), Some("A Study of Desks"));
    assert_eq!(
        headings(&read),
        [(1, Some("1"), "Introduction"), (2, Some("1.1"), "Oak and Pine"), (1, None, "References")]
    );
    assert_eq!(read.references.len(), 2);
    assert_eq!(read.references[0].label.as_deref(), Some("[1]"));
    assert_eq!(read.references[0].doi.as_deref(), Some("10.5555/desk.1"));
    assert_eq!(read.references[0].year.as_deref(), Some("2001"));
    assert_eq!(read.references[1].text, "B. Writer. Lamps. 1999.");
}

#[test]
fn headers_and_page_numbers_that_repeat_are_dropped_and_stated() {
    let pages: Vec<String> = (1..=4)
        .map(|number| {
            lines("F1", 8, 72, 770, &["Journal of Rooms"])
                + &lines(
                    "F1",
                    10,
                    72,
                    600,
                    &[&format!("Page {number} has words of its own."), BODY[0], BODY[1]],
                )
                + &lines("F1", 8, 300, 20, &[&number.to_string()])
        })
        .collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let read = document(&File::of_pages(&pages));
    let text = read.to_text();
    assert!(!text.contains("Journal of Rooms"), "{text}");
    assert!(text.contains("Page 3 has words"));
    let stated = read.metadata.iter().find(|entry| entry.name == "running_title").unwrap();
    assert_eq!(stated.value, "Journal of Rooms");
}

#[test]
fn captions_are_figures_with_their_label() {
    let content = lines("F1", 10, 72, 700, &BODY)
        + &lines("F1", 9, 72, 560, &["Figure 2: A desk by a window."]);
    let read = document(&File::of_pages(&[&content]));
    let figure = read.sections[0].blocks.iter().find(|block| block.kind == Kind::Figure).unwrap();
    assert_eq!(figure.label.as_deref(), Some("Figure 2"));
    assert_eq!(figure.caption.as_deref(), Some("A desk by a window."));
}

#[test]
fn a_rotated_page_is_read_upright() {
    let mut file = File { page: "/Rotate 90".to_owned(), ..File::default() };
    file.add_page(b"BT /F1 10 Tf 0 1 -1 0 100 100 Tm (first line of it) Tj 0 -12 Td (second line of it) Tj ET");
    let read = document(&file);
    assert_eq!(
        read.sections[0].blocks[0].text.as_deref(),
        Some("first line of it second line of it")
    );
}

#[test]
fn a_range_of_pages_is_read_and_a_wrong_one_is_refused() {
    let pages: Vec<String> = (1..=5)
        .map(|number| lines("F1", 10, 72, 400, &[&format!("words of page {number}")]))
        .collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let bytes = File::of_pages(&pages).bytes();
    let some = read(&bytes, r#"{"pages": "2-3,5"}"#).unwrap();
    assert_eq!(some.pages, Some(5));
    let text = some.to_text();
    assert!(
        text.contains("page 2") && text.contains("page 3") && text.contains("page 5"),
        "{text}"
    );
    assert!(!text.contains("page 1") && !text.contains("page 4"), "{text}");
    for wrong in [
        r#"{"pages": "0"}"#,
        r#"{"pages": "x"}"#,
        r#"{"pages": "9"}"#,
        r#"{"pages": "3-2"}"#,
        r#"{"page": 1}"#,
    ] {
        assert_eq!(read(&bytes, wrong).unwrap_err().code, Code::InvalidArguments, "{wrong}");
    }
}

#[test]
fn a_page_that_is_a_picture_is_scanned() {
    let mut file = File::default();
    let image = file.add_stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray", b"\x80");
    let form = file.add_stream(
        &format!("/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << /I {image} 0 R >> >>"),
        b"q 612 0 0 792 0 0 cm /I Do Q",
    );
    file.page =
        format!("/Annots [<< /Subtype /Stamp /Rect [0 0 612 792] /AP << /N {form} 0 R >> >>]");
    file.add_page(b"");
    let read = document(&file);
    assert_eq!((read.quality, read.quality_reason), (Quality::None, Some(Reason::Scanned)));
    assert_eq!(read.warnings[0].place.as_deref(), Some("page 1"));
}

#[test]
fn a_broken_cross_reference_table_is_rebuilt() {
    let mut bytes =
        File::of_pages(&[&lines("F1", 10, 72, 700, &["words behind a broken table"])]).bytes();
    let at = bytes.windows(9).rposition(|window| window == b"startxref").unwrap();
    bytes.truncate(at);
    bytes.extend_from_slice(b"startxref\n17\n%%EOF\n");
    assert!(read(&bytes, "").unwrap().to_text().contains("words behind a broken table"));
}

#[test]
fn what_is_no_pdf_file_is_an_invalid_document() {
    for bytes in [b"".as_slice(), b"<html></html>", b"%PDF-1.7", &[0xFF; 100]] {
        assert_eq!(read(bytes, "{}").unwrap_err().code, Code::InvalidDocument);
    }
}

#[test]
fn outline_labels_links_and_metadata_are_kept() {
    let mut file = File::of_pages(&[
        &lines("F1", 10, 72, 700, &["words"]),
        &lines("F1", 10, 72, 700, &["more"]),
    ]);
    let first_page = 7;
    let item =
        file.add(format!("<< /Title (A chapter) /Parent 1 0 R /Dest [{first_page} 0 R /Fit] >>"));
    let outline = file.add(format!("<< /First {item} 0 R /Last {item} 0 R >>"));
    file.catalogue = format!(
        "/Outlines {outline} 0 R /PageLabels << /Nums [0 << /S /r >> 1 << /S /D /P (A-) >>] >> /Lang (en-GB)"
    );
    let info =
        file.add("<< /Title (Of Desks) /Keywords (oak, pine) /CreationDate (D:20010203040506Z) >>");
    file.trailer = format!("/Info {info} 0 R");
    let read = document(&file);
    assert_eq!(read.page_labels, ["i", "A-1"]);
    assert_eq!(
        (read.outline[0].title.as_str(), read.outline[0].level, read.outline[0].page),
        ("A chapter", 1, Some(1))
    );
    assert_eq!(read.language.as_deref(), Some("en-GB"));
    let stated = |name: &str| {
        read.metadata
            .iter()
            .find(|entry| entry.name == name)
            .map(|entry| (entry.value.as_str(), entry.from.as_str()))
    };
    assert_eq!(stated("title"), Some(("Of Desks", "Info/Title")));
    assert_eq!(stated("created"), Some(("2001-02-03T04:05:06", "Info/CreationDate")));
}

/// A font of type 0 whose table maps codes to these characters.
fn file_in_script(characters: &str, show: &str) -> File {
    let mut file = File::default();
    let entries: String = (1..)
        .zip(characters.chars())
        .map(|(code, c)| format!("<{code:04X}> <{:04X}>\n", u32::from(c)))
        .collect();
    let map = file.add_stream("", format!("begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange {} beginbfchar\n{entries}endbfchar endcmap", characters.chars().count()).as_bytes());
    let inner = file.add("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Made /DW 500 /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor << /Type /FontDescriptor /FontName /Made /Flags 4 >> >>");
    let font = file.add(format!("<< /Type /Font /Subtype /Type0 /BaseFont /Made /Encoding /Identity-H /DescendantFonts [{inner} 0 R] /ToUnicode {map} 0 R >>"));
    let form = file.add_stream(&format!("/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F9 {font} 0 R >> >>"), show.as_bytes());
    file.page =
        format!("/Annots [<< /Subtype /Stamp /Rect [0 0 612 792] /AP << /N {form} 0 R >> >>]");
    file.add_page(b"");
    file
}

#[test]
fn text_from_right_to_left_is_in_reading_order() {
    // On the page from left to right: 2019, a space, and the word backwards.
    let file = file_in_script(
        "2019 םולש",
        "BT /F9 10 Tf 72 700 Td <000100020003000400050006000700080009> Tj ET",
    );
    assert_eq!(text(&file).trim(), "שלום 2019");
}

#[test]
fn presentation_forms_are_letters() {
    let file =
        file_in_script("\u{fe91}\u{fe8e}\u{fe91}", "BT /F9 10 Tf 72 700 Td <000300020001> Tj ET");
    assert_eq!(text(&file).trim(), "باب");
}
