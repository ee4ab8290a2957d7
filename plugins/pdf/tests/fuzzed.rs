//! Reads mutated files and decompression bombs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use std::io::Write;
use std::time::{Duration, Instant};

use carrel_pdk::Code;

mod support;

use support::damage::{Numbers, damage};
use support::files::{File, lines};

fn files() -> Vec<Vec<u8>> {
    let plain = File::of_pages(&[
        &lines("F1", 10, 72, 700, &["one line", "and another"]),
        &lines("F2", 14, 72, 700, &["1 A Heading"]),
    ]);
    let mut rich = File::of_pages(&[&lines("F3", 10, 72, 700, &["code", "more code"])]);
    let form =
        rich.add_stream("/Subtype /Form /BBox [0 0 100 100]", b"BT /F1 10 Tf (in a form) Tj ET");
    rich.page = format!(
        "/Annots [<< /Subtype /Widget /Rect [0 0 90 90] /AP << /N {form} 0 R >> >>] /Rotate 270"
    );
    rich.add_page(
        &lines("F1", 9, 72, 60, &["References", "[1] A. B. 2001. doi:10.5555/x."]).into_bytes(),
    );
    rich.catalogue =
        "/PageLabels << /Nums [0 << /S /R >>] >> /Outlines << /First 1 0 R >>".to_owned();
    vec![plain.bytes(), rich.bytes()]
}

#[test]
fn many_damaged_files_give_a_document_or_an_error() {
    let files = files();
    let mut numbers = Numbers::new(0x5EED_CA99_E112_3457);
    for round in 0..2000 {
        let mut bytes = files[round % files.len()].clone();
        damage(&mut bytes, &files[(round + 1) % files.len()], &mut numbers);
        support::check(&bytes, "{}");
    }
}

#[test]
fn every_prefix_of_a_file_gives_a_document_or_an_error() {
    let file = &files()[1];
    for end in (0..file.len()).step_by(7) {
        support::check(&file[..end], "{}");
    }
}

#[test]
fn objects_that_nest_or_refer_to_themselves_end() {
    let deep = |open: &str, close: &str| {
        let mut file = File::of_pages(&["BT ET"]);
        file.catalogue = format!("/Deep {}{}", open.repeat(20_000), close.repeat(20_000));
        file.bytes()
    };
    let content = |content: String| File::of_pages(&[&content]).bytes();
    for bytes in [
        deep("[", "]"),
        deep("<< /A ", ">>"),
        content("q ".repeat(100_000)),
        content("[".repeat(100_000)),
        content("/Span << /ActualText (x) >> BDC ".repeat(30_000)),
        content("(".repeat(100_000)),
    ] {
        support::check(&bytes, "{}");
    }
    let mut file = File::default();
    let number = 9;
    file.page = format!("/Resources << /XObject << /X {number} 0 R >> >>");
    file.add_page(b"/X Do");
    for _ in 0..4 {
        let entries = format!(
            "/Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {number} 0 R >> >>"
        );
        file.add_stream(&entries, b"/X Do /X Do BT (x) Tj ET");
    }
    support::check(&file.bytes(), "{}");
}

#[test]
fn ten_thousand_objects_are_read() {
    let mut file = File::of_pages(&["BT /F1 10 Tf 72 700 Td (words) Tj ET"]);
    for number in 0..10_000 {
        file.add(format!("<< /Number {number} >>"));
    }
    let read = carrel_pdf::read(&file.bytes(), "{}").unwrap();
    assert!(read.to_text().contains("words"));
}

#[test]
fn forms_that_multiply_are_cut() {
    let mut file = File::default();
    let mut inner = file.add_stream("/Subtype /Form /BBox [0 0 9 9]", b"BT ET");
    for _ in 0..20 {
        let entries = format!(
            "/Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {inner} 0 R >> >>"
        );
        inner = file.add_stream(&entries, "/X Do ".repeat(10).as_bytes());
    }
    file.page = format!("/Annots [<< /Subtype /Stamp /Rect [0 0 9 9] /AP << /N {inner} 0 R >> >>]");
    file.add_page(b"");
    let begin = Instant::now();
    let read = carrel_pdf::read(&file.bytes(), "{}").unwrap();
    assert!(read.warnings.iter().any(|warning| warning.code == "too_large"), "{:?}", read.warnings);
    assert!(begin.elapsed() < Duration::from_secs(120));
}

fn deflated(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_content_stream_that_inflates_beyond_the_bound_is_a_warning() {
    let bomb = deflated(&deflated(&vec![b' '; 300 << 20]));
    let mut file = File::default();
    let stream = file
        .add_stream("/Filter [/FlateDecode /FlateDecode] /Subtype /Form /BBox [0 0 9 9]", &bomb);
    file.page =
        format!("/Annots [<< /Subtype /Stamp /Rect [0 0 9 9] /AP << /N {stream} 0 R >> >>]");
    file.add_page(b"");
    let read = carrel_pdf::read(&file.bytes(), "{}").unwrap();
    assert!(
        read.warnings.iter().any(|warning| warning.code == "broken_stream"),
        "{:?}",
        read.warnings
    );
}

#[test]
fn an_object_stream_that_inflates_beyond_the_bound_is_too_large() {
    let bomb = deflated(&deflated(&vec![b' '; 300 << 20]));
    let mut file = File::of_pages(&["BT ET"]);
    file.add_stream("/Type /ObjStm /N 1 /First 4 /Filter [/FlateDecode /FlateDecode]", &bomb);
    assert_eq!(carrel_pdf::read(&file.bytes(), "{}").unwrap_err().code, Code::TooLarge);
}
