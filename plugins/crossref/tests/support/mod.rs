//! What holds for every document whatever, good or bad: shared by the tests and the fuzz target.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use std::fs;
use std::path::{Path, PathBuf};

use carrel_crossref::{Crossref, parse};
use carrel_pdk::{Code, Error, Plugin, url};
use serde_json::Value;

/// The fixtures' folders, in order.
pub fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/crossref");
    let mut cases: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// A file of a fixture.
pub fn read(case: &Path, name: &str) -> String {
    fs::read_to_string(case.join(name)).unwrap()
}

/// The format that a fixture is read in: `works`, unless a file says otherwise.
pub fn format_of(case: &Path) -> String {
    fs::read_to_string(case.join("format"))
        .map_or("works".to_owned(), |text| text.trim().to_owned())
}

/// Parses the document in both formats and checks everything that must hold of the outcomes.
pub fn check(document: &str) {
    let works = Crossref::parse("works", document);
    match &works {
        Ok(json) => {
            let result: Value = serde_json::from_str(json).expect("the result is JSON");
            if let Ok(page) = parse::works(document) {
                assert_eq!(
                    *json,
                    serde_json::to_string(&page).expect("plain data"),
                    "both writers agree"
                );
            }
            check_value("", &result);
            for work in result["works"].as_array().expect("works is a list") {
                check_work(work);
            }
        }
        Err(error) => check_error(error, document),
    }
    match Crossref::parse("work", document) {
        Ok(json) => {
            let result: Value = serde_json::from_str(&json).expect("the result is JSON");
            let works: Value = serde_json::from_str(&works.expect("a work is a list of one"))
                .expect("the result is JSON");
            assert_eq!(result["work"], works["works"][0], "both formats agree");
        }
        Err(error) => check_error(&error, document),
    }
}

fn check_error(error: &Error, document: &str) {
    assert!(
        matches!(error.code, Code::InvalidDocument | Code::UpstreamError | Code::NotFound),
        "a document is invalid or a report, but found {error}"
    );
    assert!(!error.message.is_empty() && error.message.len() < 20_000, "{error}");
    assert!(!error.message.contains('\n'), "{error}");
    if error.code == Code::InvalidDocument {
        let position = error.position.as_ref().expect("an invalid document has a place");
        assert!(position.offset <= document.len() as u64, "{error}");
    }
    serde_json::from_str::<Value>(&error.to_json()).expect("the error is JSON");
}

/// Absent is absent: no nulls and no blank strings; whitespace is collapsed in what readers see.
fn check_value(key: &str, value: &Value) {
    const MACHINES: [&str; 12] = [
        "next_cursor",
        "source_type",
        "doi",
        "id",
        "id_type",
        "type",
        "key",
        "source",
        "version",
        "content_type",
        "application",
        "url",
    ];
    match value {
        Value::Null => panic!("{key} is null"),
        Value::String(text) => {
            assert!(!text.trim().is_empty(), "{key} is blank");
            let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if !MACHINES.contains(&key) {
                assert_eq!(*text, plain, "{key} has whitespace to collapse");
            }
        }
        Value::Array(items) => items.iter().for_each(|item| check_value(key, item)),
        Value::Object(members) => members.iter().for_each(|(key, value)| check_value(key, value)),
        Value::Bool(_) | Value::Number(_) => {}
    }
}

fn check_work(work: &Value) {
    let list = |key: &str| work.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    assert_eq!(work["source"], "crossref");
    for agent in list("authors").iter().chain(&list("editors")) {
        let named = ["family", "given", "literal"].iter().any(|key| agent.get(key).is_some());
        assert!(named && agent["affiliations"].is_array(), "{agent}");
    }
    let own = work.get("url").cloned();
    let others = [list("links"), list("licenses")].concat();
    for address in own.into_iter().chain(others.iter().map(|item| item["url"].clone())) {
        let text = address.as_str().expect("an address is text");
        assert_eq!(
            url::well_formed(text).as_deref(),
            Some(text),
            "a malformed address came through"
        );
    }
    let dates = [list("updates"), list("updated_by")].concat();
    let dates = dates.iter().map(|item| item.get("date").cloned());
    let starts = list("licenses");
    let starts = starts.iter().map(|item| item.get("start").cloned());
    for date in dates.chain(starts).chain([work.get("issued").cloned()]).flatten() {
        let date = date.as_str().expect("a date is text").to_owned();
        assert!([4, 7, 10].contains(&date.len()), "{date}");
        assert!(date.split('-').all(|part| part.bytes().all(|byte| byte.is_ascii_digit())));
    }
}
