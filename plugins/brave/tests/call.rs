//! The tool against a fake Brave Search.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_brave::Brave;
use carrel_pdk::testing::{FakeHost, answer};
use carrel_pdk::{Action, Code, Request, percent};
use carrel_websearch::testing::{call, check_refusals, every_filter};
use serde_json::json;

#[test]
fn a_search_is_one_request_with_every_filter() {
    let body = json!({"type": "search", "query": {"more_results_available": true},
        "web": {"results": [{"title": "A desk", "url": "https://desks.example.org/"}]}});
    let host = FakeHost::new(|_: &Request| answer(200, body.to_string()));
    let found = call::<Brave>(&every_filter(), &host);
    assert!(found.is_ok(), "{found:?}");
    let requests = host.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        percent::decode(&requests[0].url),
        "https://api.search.brave.com/res/v1/web/search?q=walled desks \"reading desk\" -sale \
         site:desks.example.org OR site:example.com&count=5&result_filter=web&text_decorations=false\
         &freshness=pw&safesearch=strict&country=AT&search_lang=de"
    );
    let found = found.unwrap();
    assert_eq!((&found["next"], found.get("unapplied")), (&json!("1"), None));
}

#[test]
fn what_the_api_does_not_know_is_left_out_and_named() {
    let host = FakeHost::new(|_: &Request| answer(200, r#"{"type": "search"}"#));
    let arguments = json!({"query": "x", "country": "IS", "language": "eo", "next": "9"});
    let found = call::<Brave>(&arguments, &host).unwrap();
    assert_eq!(found, json!({"results": [], "unapplied": ["country", "language"]}));
    assert!(host.requests()[0].url.ends_with("&offset=9"));
    let arguments = json!({"query": "x", "language": "ja", "next": "10"});
    call::<Brave>(&arguments, &host).unwrap();
    assert!(host.requests()[1].url.ends_with("&search_lang=jp"));
}

#[test]
fn errors_say_what_to_do() {
    check_refusals::<Brave>(
        &json!({"query": "x"}),
        "CARREL_SECRET_BRAVE_API_KEY",
        &[
            (
                422,
                r#"{"type": "ErrorResponse", "error": {"status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID"}}"#,
                Code::UpstreamError,
                Some(Action::AskOperator),
            ),
            (401, r#""#, Code::UpstreamError, Some(Action::AskOperator)),
            (402, r#""#, Code::RateLimited, Some(Action::AskOperator)),
            (
                429,
                r#"{"type": "ErrorResponse", "error": {"code": "RATE_LIMITED"}}"#,
                Code::RateLimited,
                None,
            ),
            (
                422,
                r#"{"type": "ErrorResponse", "error": {"code": "VALIDATION", "detail": "bad"}}"#,
                Code::UpstreamError,
                None,
            ),
        ],
    );
}
