//! The tool against a fake Exa.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_exa::Exa;
use carrel_pdk::testing::{FakeHost, answer};
use carrel_pdk::{Action, Code, Request};
use carrel_websearch::testing::{call, check_refusals, every_filter};
use serde_json::{Value, json};

#[test]
fn a_search_is_one_request_with_every_filter() {
    let host = FakeHost::new(|_: &Request| answer(200, r#"{"results": []}"#));
    assert_eq!(call::<Exa>(&every_filter(), &host).unwrap(), json!({"results": []}));
    let request = host.requests().remove(0);
    assert_eq!(request.url, "https://api.exa.ai/search");
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(
        body,
        json!({"query": "walled desks", "type": "auto", "numResults": 5,
            "contents": {"highlights": {"numSentences": 2, "highlightsPerUrl": 2}},
            "includeDomains": ["desks.example.org", "example.com"],
            "startPublishedDate": "2026-11-16T00:00:00.000Z", "userLocation": "AT",
            "moderation": true, "includeText": ["reading desk"], "excludeText": ["sale"]})
    );
}

#[test]
fn phrases_that_are_too_long_are_left_out_and_named() {
    let host = FakeHost::new(|_: &Request| answer(200, r#"{"results": []}"#));
    let arguments = json!({"query": "x", "safe": "off", "exact_terms": "one two three four five six",
        "exclude_terms": "two words"});
    let found = call::<Exa>(&arguments, &host).unwrap();
    assert_eq!(found["unapplied"], json!(["exact_terms", "exclude_terms"]));
    assert!(!host.requests()[0].body.contains("moderation"));
}

#[test]
fn errors_say_what_to_do() {
    check_refusals::<Exa>(
        &json!({"query": "x"}),
        "CARREL_SECRET_EXA_API_KEY",
        &[
            (
                401,
                r#"{"error": "x-api-key header is invalid", "tag": "INVALID_API_KEY"}"#,
                Code::UpstreamError,
                Some(Action::AskOperator),
            ),
            (
                402,
                r#"{"error": "x", "tag": "NO_MORE_CREDITS"}"#,
                Code::RateLimited,
                Some(Action::AskOperator),
            ),
            (400, r#"{"error": "bad", "tag": "INVALID_REQUEST_BODY"}"#, Code::UpstreamError, None),
        ],
    );
}
