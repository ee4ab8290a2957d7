//! Every fixture natively; `tests/plugins/test_golden.py` runs the same ones through the component.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use std::fs;
use std::path::Path;

use carrel_eutils::Eutils;
use carrel_pdk::Plugin;
use serde_json::{Value, json};

mod support;

use support::fixtures::{all, document, format};

#[test]
fn every_fixture_gives_what_is_expected() {
    let cases = all();
    assert!(cases.len() >= 60, "only {} fixtures found", cases.len());
    for case in cases {
        let expected = fs::read_to_string(case.join("expected.json")).unwrap();
        let expected: Value = serde_json::from_str(&expected).unwrap();
        let found = match Eutils::parse(&format(&case), &document(&case)) {
            Ok(json) => serde_json::from_str(&json).unwrap(),
            Err(error) => json!({"error": serde_json::to_value(error).unwrap()}),
        };
        assert_eq!(found, expected, "{}", case.display());
    }
}

#[test]
fn every_fixture_keeps_what_holds_for_all_documents_in_every_format() {
    for case in all() {
        for format in support::FORMATS {
            support::check(format, &document(&case));
        }
    }
}

#[test]
fn every_fixture_is_listed_with_its_reason() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/README.md");
    let list = fs::read_to_string(list).unwrap();
    for case in all() {
        let name = case.file_name().unwrap().to_str().unwrap();
        assert!(
            list.contains(&format!("| `{name}` |")),
            "{name} is not in tests/fixtures/README.md"
        );
    }
}
