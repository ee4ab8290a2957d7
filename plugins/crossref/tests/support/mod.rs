//! What holds for every document whatever, good or bad: shared by the tests and the fuzz target.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use carrel_crossref::{Crossref, parse};
#[cfg(test)]
use carrel_pdk::testing::fixtures::Case;
use carrel_pdk::testing::promises::check_error;
use carrel_pdk::{Code, Error, Plugin, url};
use serde_json::Value;

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Vec<Case> {
    Case::all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/crossref"))
}

/// Where the fixtures are listed.
#[cfg(test)]
pub const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/README.md");

/// The format that a fixture is read in: `works`, unless it says otherwise.
#[cfg(test)]
pub fn format_of(case: &Case) -> String {
    case.format().unwrap_or_else(|| "works".to_owned())
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
        Err(error) => check_failure(error, document),
    }
    match Crossref::parse("work", document) {
        Ok(json) => {
            let result: Value = serde_json::from_str(&json).expect("the result is JSON");
            let works: Value = serde_json::from_str(&works.expect("a work is a list of one"))
                .expect("the result is JSON");
            assert_eq!(result["work"], works["works"][0], "both formats agree");
        }
        Err(error) => check_failure(&error, document),
    }
}

fn check_failure(error: &Error, document: &str) {
    check_error(error, document, &[Code::InvalidDocument, Code::UpstreamError, Code::NotFound]);
    assert!(!error.message.contains('\n'), "{error}");
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
        Value::Array(items) => {
            // Only the lists that are the answer itself can be empty.
            assert!(!items.is_empty() || ["works", "values"].contains(&key), "{key} is empty");
            items.iter().for_each(|item| check_value(key, item));
        }
        Value::Object(members) => members.iter().for_each(|(key, value)| check_value(key, value)),
        Value::Bool(_) | Value::Number(_) => {}
    }
}

fn check_work(work: &Value) {
    let list = |key: &str| work.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    assert_eq!(work["source"], "crossref");
    for agent in list("authors").iter().chain(&list("editors")) {
        let named = ["family", "given", "literal"].iter().any(|key| agent.get(key).is_some());
        assert!(named, "{agent}");
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
