//! Every fixture natively; `tests/plugins/test_golden.py` runs the same ones through the component.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use std::fs;
use std::path::Path;

use carrel_crossref::Crossref;
use carrel_pdk::Plugin;
use serde_json::{Value, json};

mod support;

use support::{fixtures, format_of, read};

#[test]
fn every_fixture_gives_what_is_expected() {
    let cases = fixtures();
    assert!(cases.len() >= 50, "only {} fixtures found", cases.len());
    for case in cases {
        let expected: Value = serde_json::from_str(&read(&case, "expected.json")).unwrap();
        let found = match Crossref::parse(&format_of(&case), &read(&case, "response.json")) {
            Ok(json) => serde_json::from_str(&json).unwrap(),
            Err(error) => json!({"error": serde_json::to_value(error).unwrap()}),
        };
        assert_eq!(found, expected, "{}", case.display());
    }
}

#[test]
fn every_fixture_keeps_what_holds_for_all_documents() {
    for case in fixtures() {
        support::check(&read(&case, "response.json"));
    }
}

#[test]
fn every_fixture_is_listed_with_its_reason() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/README.md");
    let list = fs::read_to_string(list).unwrap();
    for case in fixtures() {
        let name = case.file_name().unwrap().to_str().unwrap();
        assert!(
            list.contains(&format!("| `{name}` |")),
            "{name} is not in tests/fixtures/README.md"
        );
    }
}
