//! The tool against a fake Tavily.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::testing::{FakeHost, Outcome, answer, failure};
use carrel_pdk::{Action, Code, Error, FailureKind, Plugin, Request};
use carrel_tavily::Tavily;
use serde_json::{Value, json};

fn call<F: Fn(&Request) -> Outcome>(arguments: &Value, host: &FakeHost<F>) -> Result<Value, Error> {
    let json = Tavily::call("web_search", &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).unwrap())
}

/// Every filter at once.
fn all() -> Value {
    json!({"query": "walled desks", "count": 5, "time_range": "week", "since": "2026-11-16", "safe": "high",
        "language": "de", "country": "AT", "sites": ["desks.example.org", "example.com"],
        "exact_terms": "reading desk", "exclude_terms": "sale"})
}

#[test]
fn a_search_is_one_request_with_every_filter() {
    let host = FakeHost::new(|_: &Request| answer(200, r#"{"results": []}"#));
    assert_eq!(call(&all(), &host).unwrap(), json!({"results": []}));
    let request = host.requests().remove(0);
    assert_eq!(request.url, "https://api.tavily.com/search");
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(
        body,
        json!({"query": "walled desks \"reading desk\"", "max_results": 5, "search_depth": "basic",
            "time_range": "week", "include_domains": ["desks.example.org", "example.com"],
            "topic": "general", "country": "austria"})
    );
}

#[test]
fn a_country_that_the_api_does_not_know_is_left_out_and_named() {
    let host = FakeHost::new(|_: &Request| answer(200, r#"{"results": []}"#));
    let found = call(&json!({"query": "x", "country": "AQ"}), &host).unwrap();
    assert_eq!(found, json!({"results": [], "unapplied": ["country"]}));
}

#[test]
fn errors_say_what_to_do() {
    for (status, body, code, action) in [
        (
            401,
            r#"{"detail": {"error": "Unauthorized: missing or invalid API key."}}"#,
            Code::UpstreamError,
            Some(Action::AskOperator),
        ),
        (
            432,
            r#"{"detail": {"error": "This request exceeds your plan's set usage limit."}}"#,
            Code::RateLimited,
            Some(Action::AskOperator),
        ),
        (433, r#""#, Code::RateLimited, Some(Action::AskOperator)),
        (400, r#"{"detail": {"error": "Query is too long."}}"#, Code::UpstreamError, None),
        (503, "", Code::UpstreamUnavailable, None),
        (200, "<html>", Code::UpstreamInvalid, None),
        (200, "{}", Code::UpstreamInvalid, None),
    ] {
        let host = FakeHost::new(|_: &Request| answer(status, body));
        let error = call(&json!({"query": "x"}), &host).unwrap_err();
        assert_eq!((error.code, error.action), (code, action), "{status} {body}: {error}");
        if action == Some(Action::AskOperator) && code == Code::UpstreamError {
            assert!(error.message.contains("CARREL_SECRET_TAVILY_API_KEY"), "{error}");
        }
    }
    let pause = FailureKind::RateLimited { seconds: 7.0 };
    let host = FakeHost::new(|_: &Request| failure(pause.clone(), "asks for a pause"));
    let error = call(&json!({"query": "x"}), &host).unwrap_err();
    assert_eq!((error.code, error.retry_after_seconds), (Code::RateLimited, Some(7.0)));
}
