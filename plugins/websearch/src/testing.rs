//! The tests that all providers' plugins share: what holds for every answer, every fixture and damaged
//! copies of them, calls against a fake provider.

#![allow(clippy::panic, clippy::expect_used, reason = "tests fail loudly")]

use carrel_pdk::testing::promises::{check_collapsed, check_error, check_values};
use carrel_pdk::testing::{FakeHost, answer, failure};
use carrel_pdk::{Action, Code, Error, FailureKind, Host, Plugin, Request};
use serde_json::{Value, json};

use crate::provider::{FORMAT, TOOL};
use crate::text::is_hidden;

/// What a document without results can be.
const CODES: &[Code] = &[
    Code::InvalidDocument,
    Code::UpstreamError,
    Code::UpstreamUnavailable,
    Code::RateLimited,
    Code::NotFound,
];

/// Parses a document and checks what holds of every outcome: an error has a code that fits; of a
/// result nothing is null, texts are on one line without hidden characters, URLs are of the web and
/// each is there once, and dates are days.
///
/// # Panics
///
/// When any of that does not hold.
pub fn check<P: Plugin>(document: &str) {
    let json = match P::parse(FORMAT, document) {
        Ok(json) => json,
        Err(error) => return check_error(&error, document, CODES),
    };
    let result: Value = serde_json::from_str(&json).expect("the result is JSON");
    let text = |key: &str, text: &str| {
        assert!(key == "snippet" || !text.is_empty(), "{key} is empty");
        assert!(text.chars().count() <= 4200, "{key} is long");
        assert!(!text.chars().any(is_hidden), "{key} has hidden characters: {text:?}");
        match key {
            "url" => {
                assert!(text.to_ascii_lowercase().starts_with("http"), "{text}");
                assert!(!text.contains(char::is_whitespace), "{text}");
            }
            "published" => assert!(text.len() == 10, "{text}"),
            _ => check_collapsed(key, text),
        }
    };
    check_values("", &result, &text, &|_, _| {});
    let found = result["results"].as_array().expect("results are a list");
    let mut urls: Vec<&str> = found.iter().filter_map(|entry| entry["url"].as_str()).collect();
    assert_eq!(urls.len(), found.len());
    urls.sort_unstable();
    urls.dedup();
    assert_eq!(urls.len(), found.len(), "a URL is there twice");
}

/// Declares the tests of a plugin's documents: `document_tests!(Brave, "brave", &["fragment"])`, with
/// the folder of its fixtures and fragments of its documents that are hard to parse.
#[macro_export]
macro_rules! document_tests {
    ($plugin:ty, $folder:literal, $pieces:expr) => {
        fn fixtures() -> carrel_pdk::testing::fixtures::Suite {
            let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
            carrel_pdk::testing::fixtures::Suite::open(root, $folder, "results")
        }

        #[test]
        fn every_fixture_gives_what_is_expected() {
            fixtures().check_outcomes(8, <$plugin as carrel_pdk::Plugin>::parse);
        }

        #[test]
        fn every_fixture_keeps_what_holds_for_all_documents() {
            for (_, document) in fixtures().documents() {
                $crate::testing::check::<$plugin>(&document);
            }
        }

        #[test]
        fn thousands_of_damaged_documents_give_a_result_or_an_error() {
            fixtures().check_damaged(5_000, $pieces, |_, document| {
                $crate::testing::check::<$plugin>(document);
            });
        }

        #[test]
        fn every_fixture_is_listed_with_its_reason() {
            fixtures().check_listed();
        }
    };
}

/// A search with every filter.
pub fn every_filter() -> Value {
    json!({"query": "walled desks", "count": 5, "time_range": "week", "since": "2026-11-16", "safe": "high",
        "language": "de", "country": "AT", "sites": ["desks.example.org", "example.com"],
        "exact_terms": "reading desk", "exclude_terms": "sale"})
}

/// Calls a provider's tool.
///
/// # Errors
///
/// The plugin's.
///
/// # Panics
///
/// When its result is no JSON.
pub fn call<P: Plugin>(arguments: &Value, host: &dyn Host) -> Result<Value, Error> {
    let json = P::call(TOOL, &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).expect("the result is JSON"))
}

/// The status and the body of an answer, and the code and the action of the error that it is.
pub type Refusal<'r> = (u16, &'r str, Code, Option<Action>);

/// Checks the errors of refused searches: those of `own`, those of answers that no provider should
/// give, and a pause that the host keeps. The error of a refused key names `key`.
///
/// # Panics
///
/// When an error is another one.
pub fn check_refusals<P: Plugin>(arguments: &Value, key: &str, own: &[Refusal<'_>]) {
    let any: &[Refusal<'_>] = &[
        (503, "", Code::UpstreamUnavailable, None),
        (200, "", Code::UpstreamInvalid, None),
        (200, "<html>", Code::UpstreamInvalid, None),
        (200, "{}", Code::UpstreamInvalid, None),
        (200, r#"{"results": [{"title": "cut of"#, Code::UpstreamInvalid, None),
        (200, "null", Code::UpstreamInvalid, None),
    ];
    for &(status, body, code, action) in own.iter().chain(any) {
        let host = FakeHost::new(|_: &Request| answer(status, body));
        let error = match call::<P>(arguments, &host) {
            Err(error) => error,
            Ok(found) => panic!("{status} {body}: {found}"),
        };
        assert_eq!((error.code, error.action), (code, action), "{status} {body}: {error}");
        if action == Some(Action::AskOperator) && code == Code::UpstreamError {
            assert!(error.message.contains(key), "{error}");
        }
    }
    let pause = FailureKind::RateLimited { seconds: 7.0 };
    let host = FakeHost::new(|_: &Request| failure(pause.clone(), "asks for a pause"));
    let error = call::<P>(arguments, &host).expect_err("a pause");
    assert_eq!((error.code, error.retry_after_seconds), (Code::RateLimited, Some(7.0)));
}
