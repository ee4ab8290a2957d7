//! What holds for every document whatever, good or bad: shared by the tests and the fuzz target.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test takes this file in as a module of its own"
)]

use carrel_page::Options;
use carrel_pdk::Code;
use carrel_pdk::document::{MAX_WARNINGS, Quality};
#[cfg(test)]
use carrel_pdk::testing::fixtures::Case;
use carrel_pdk::testing::promises::check_error;
use serde_json::Value;

/// The folder of this plugin's fixtures.
#[cfg(test)]
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/page");

/// Where the fixtures are listed.
#[cfg(test)]
pub const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/README.md");

/// A fixture: what goes in.
#[cfg(test)]
pub struct Fixture {
    pub case: Case,
    pub format: String,
    pub document: Vec<u8>,
    pub options: String,
}

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Vec<Fixture> {
    let read = |case: Case| {
        let folder = std::path::Path::new(FOLDER).join(case.name());
        let files = std::fs::read_dir(&folder).expect("a case is a folder");
        let document = files
            .flatten()
            .find(|file| file.file_name().to_string_lossy().starts_with("document."))
            .expect("a case has a document");
        let told = std::fs::read_to_string(folder.join("case.json")).unwrap_or_default();
        let told: Value = serde_json::from_str(&told).unwrap_or_default();
        Fixture {
            format: case.format().unwrap_or_else(|| "html".to_owned()),
            document: std::fs::read(document.path()).expect("it can be read"),
            options: told.get("options").map_or_else(|| "{}".to_owned(), Value::to_string),
            case,
        }
    };
    Case::all(FOLDER).into_iter().map(read).collect()
}

/// Reads the document and checks everything that must hold of the outcome.
pub fn check(format: &str, document: &[u8]) {
    match carrel_page::read(format, document, &Options::default()) {
        Ok(read) => {
            let json = read.to_json(document.len());
            let derived = serde_json::to_string(&read).expect("plain data");
            assert_eq!(json, derived, "both writers agree");
            check_value("", &serde_json::from_str(&json).expect("the result is JSON"));
            assert!(read.warnings.len() <= MAX_WARNINGS);
            assert_eq!(read.quality == Quality::Complete, read.quality_reason.is_none());
            if read.kind.as_deref() == Some("challenge") {
                assert!(read.sections.is_empty(), "a challenge is no text");
            }
            let _ = (read.to_markdown(), read.to_text());
        }
        Err(error) => check_error(&error, "", &[Code::TooLarge]),
    }
}

/// Absent is absent: no nulls, no empty texts but cells.
fn check_value(key: &str, value: &Value) {
    match value {
        Value::Null => panic!("{key} is null"),
        Value::String(text) => assert!(!text.is_empty(), "{key} is empty"),
        Value::Array(_) if key == "rows" => {}
        Value::Array(items) => items.iter().for_each(|item| check_value(key, item)),
        Value::Object(members) => members.iter().for_each(|(key, value)| check_value(key, value)),
        Value::Bool(_) | Value::Number(_) => {}
    }
}
