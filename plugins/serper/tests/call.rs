//! The tool against a fake Serper.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::testing::{FakeHost, Outcome, answer, failure};
use carrel_pdk::{Action, Code, Error, FailureKind, Plugin, Request};
use carrel_serper::Serper;
use serde_json::{Value, json};

fn call<F: Fn(&Request) -> Outcome>(arguments: &Value, host: &FakeHost<F>) -> Result<Value, Error> {
    let json = Serper::call("web_search", &arguments.to_string(), host)?;
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
    let items: Vec<Value> =
        (0..10).map(|number| json!({"link": format!("https://example.org/{number}")})).collect();
    let host = FakeHost::new(|_: &Request| answer(200, json!({"organic": items}).to_string()));
    let found = call(&all(), &host).unwrap();
    assert_eq!((found["results"].as_array().unwrap().len(), &found["next"]), (5, &json!("2")));
    let request = host.requests().remove(0);
    assert_eq!(request.url, "https://google.serper.dev/search");
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(
        body,
        json!({"q": "walled desks \"reading desk\" -sale site:desks.example.org OR site:example.com",
            "num": 10, "tbs": "qdr:w", "safe": "active", "hl": "de", "gl": "at"})
    );
    call(&json!({"query": "x", "next": "2", "language": "zh"}), &host).unwrap();
    let body: Value = serde_json::from_str(&host.requests()[1].body).unwrap();
    assert_eq!(body, json!({"q": "x", "num": 10, "page": 2, "hl": "zh-cn"}));
}

#[test]
fn errors_say_what_to_do() {
    for (status, body, code, action) in [
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
        (503, "", Code::UpstreamUnavailable, None),
        (200, "<html>", Code::UpstreamInvalid, None),
        (200, "{}", Code::UpstreamInvalid, None),
    ] {
        let host = FakeHost::new(|_: &Request| answer(status, body));
        let error = call(&json!({"query": "x"}), &host).unwrap_err();
        assert_eq!((error.code, error.action), (code, action), "{status} {body}: {error}");
        if action == Some(Action::AskOperator) && code == Code::UpstreamError {
            assert!(error.message.contains("CARREL_SECRET_SERPER_API_KEY"), "{error}");
        }
    }
    let pause = FailureKind::RateLimited { seconds: 7.0 };
    let host = FakeHost::new(|_: &Request| failure(pause.clone(), "asks for a pause"));
    let error = call(&json!({"query": "x"}), &host).unwrap_err();
    assert_eq!((error.code, error.retry_after_seconds), (Code::RateLimited, Some(7.0)));
}
