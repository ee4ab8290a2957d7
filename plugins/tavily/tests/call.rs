//! The tool against a fake Tavily.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::testing::{FakeHost, answer};
use carrel_pdk::{Action, Code, Request};
use carrel_tavily::Tavily;
use carrel_websearch::testing::{call, check_refusals, every_filter};
use serde_json::{Value, json};

#[test]
fn a_search_is_one_request_with_every_filter() {
    let host = FakeHost::new(|_: &Request| answer(200, r#"{"results": []}"#));
    assert_eq!(call::<Tavily>(&every_filter(), &host).unwrap(), json!({"results": []}));
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
    let found = call::<Tavily>(&json!({"query": "x", "country": "AQ"}), &host).unwrap();
    assert_eq!(found, json!({"results": [], "unapplied": ["country"]}));
}

#[test]
fn errors_say_what_to_do() {
    check_refusals::<Tavily>(
        &json!({"query": "x"}),
        "CARREL_SECRET_TAVILY_API_KEY",
        &[
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
        ],
    );
}
