//! The tool against a fake Serper.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::testing::{FakeHost, answer};
use carrel_pdk::{Action, Code, Request};
use carrel_serper::Serper;
use carrel_websearch::testing::{call, check_refusals, every_filter};
use serde_json::{Value, json};

#[test]
fn a_search_is_one_request_with_every_filter() {
    let items: Vec<Value> =
        (0..10).map(|number| json!({"link": format!("https://example.org/{number}")})).collect();
    let host = FakeHost::new(|_: &Request| answer(200, json!({"organic": items}).to_string()));
    let found = call::<Serper>(&every_filter(), &host).unwrap();
    assert_eq!((found["results"].as_array().unwrap().len(), &found["next"]), (5, &json!("2")));
    let request = host.requests().remove(0);
    assert_eq!(request.url, "https://google.serper.dev/search");
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(
        body,
        json!({"q": "walled desks \"reading desk\" -sale site:desks.example.org OR site:example.com",
            "num": 10, "tbs": "qdr:w", "safe": "active", "hl": "de", "gl": "at"})
    );
    call::<Serper>(&json!({"query": "x", "next": "2", "language": "zh"}), &host).unwrap();
    let body: Value = serde_json::from_str(&host.requests()[1].body).unwrap();
    assert_eq!(body, json!({"q": "x", "num": 10, "page": 2, "hl": "zh-cn"}));
}

#[test]
fn errors_say_what_to_do() {
    check_refusals::<Serper>(
        &json!({"query": "x"}),
        "CARREL_SECRET_SERPER_API_KEY",
        &[
            (
                403,
                r#"{"message": "Unauthorized.", "statusCode": 403}"#,
                Code::UpstreamError,
                Some(Action::AskOperator),
            ),
            (
                400,
                r#"{"message": "Not enough credits", "statusCode": 400}"#,
                Code::RateLimited,
                Some(Action::AskOperator),
            ),
            (400, r#"{"message": "Invalid query", "statusCode": 400}"#, Code::UpstreamError, None),
        ],
    );
}
