//! Checks the invariants of every parse result, for valid and invalid documents. Shared by the
//! tests and the fuzz target.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail loudly")]
#![allow(unreachable_pub, dead_code, reason = "each test takes this file in as its own module")]

use carrel_crossref::Crossref;
use carrel_crossref::formats::works;
#[cfg(test)]
use carrel_pdk::testing::fixtures::Suite;
use carrel_pdk::testing::promises::{check_address, check_collapsed, check_error, check_values};
use carrel_pdk::{Code, Error, Plugin};
use serde_json::Value;

/// The fixtures of this plugin.
#[cfg(test)]
pub fn fixtures() -> Suite {
    Suite::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"), "crossref", "works")
}

/// Parses the document in both formats and checks the invariants of the results.
pub fn check(document: &str) {
    let works = Crossref::parse("works", document);
    match &works {
        Ok(json) => {
            let result: Value = serde_json::from_str(json).expect("the result is JSON");
            if let Ok(page) = works::works(document) {
                assert_eq!(
                    *json,
                    serde_json::to_string(&page).expect("plain data"),
                    "both writers agree"
                );
            }
            check_result(&result);
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

/// Checks that absent values are left out (no nulls, no blank strings) and that texts for readers
/// have collapsed whitespace.
fn check_result(result: &Value) {
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
    let text = |key: &str, text: &str| {
        assert!(!text.trim().is_empty(), "{key} is blank");
        if !MACHINES.contains(&key) {
            check_collapsed(key, text);
        }
    };
    let list = |key: &str, items: &[Value]| {
        // Only the result's own lists may be empty.
        assert!(!items.is_empty() || ["works", "values"].contains(&key), "{key} is empty");
    };
    check_values("", result, &text, &list);
}

fn check_work(work: &Value) {
    let list = |key: &str| work.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    assert_eq!(work["source"], "crossref");
    for agent in list("authors").iter().chain(&list("editors")) {
        let named = ["family", "given", "literal"].iter().any(|key| agent.get(key).is_some());
        assert!(named, "{agent}");
    }
    let own = work.get("url").cloned();
    let linked = [list("links"), list("licenses")].concat();
    for address in own.into_iter().chain(linked.iter().map(|item| item["url"].clone())) {
        check_address(&address);
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
