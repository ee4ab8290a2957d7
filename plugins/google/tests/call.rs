//! The tool against a fake Custom Search API.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_google::Google;
use carrel_pdk::testing::{FakeHost, Outcome, answer, failure};
use carrel_pdk::{Action, Code, Error, FailureKind, Plugin, Request, percent};
use serde_json::{Value, json};

fn call<F: Fn(&Request) -> Outcome>(arguments: &Value, host: &FakeHost<F>) -> Result<Value, Error> {
    let json = Google::call("web_search", &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).unwrap())
}

/// Every filter at once.
fn all() -> Value {
    json!({"query": "walled desks", "count": 5, "time_range": "week", "since": "2026-11-16", "safe": "high",
        "language": "de", "country": "AT", "sites": ["desks.example.org", "example.com"],
        "exact_terms": "reading desk", "exclude_terms": "sale"})
}

/// A host with a setting.
struct Configured<'f, F: Fn(&Request) -> Outcome>(&'f FakeHost<F>);

impl<F: Fn(&Request) -> Outcome> carrel_pdk::Host for Configured<'_, F> {
    fn fetch_all(&self, requests: Vec<Request>) -> Vec<Outcome> {
        self.0.fetch_all(requests)
    }

    fn log(&self, _: carrel_pdk::Level, _: &str) {}

    fn progress(&self, _: u64, _: u64, _: &str) {}

    fn setting(&self, key: &str) -> Option<String> {
        (key == "cx").then(|| r#""from-settings""#.to_owned())
    }
}

#[test]
fn a_search_is_one_request_with_every_filter() {
    let body = json!({"kind": "customsearch#search", "items": [],
        "queries": {"nextPage": [{"startIndex": 11}]}, "searchInformation": {"totalResults": "12"}});
    let host = FakeHost::new(|_: &Request| answer(200, body.to_string()));
    let mut asked = all();
    asked["engine"] = json!("lens:1");
    let found = call(&asked, &host).unwrap();
    assert_eq!(found, json!({"results": [], "total": 12, "next": "11"}));
    assert_eq!(
        percent::decode(&host.requests()[0].url),
        "https://www.googleapis.com/customsearch/v1?cx=lens:1&q=walled desks \
         site:desks.example.org OR site:example.com&num=5&exactTerms=reading desk&excludeTerms=sale\
         &dateRestrict=w1&safe=active&lr=lang_de&gl=at"
    );
}

#[test]
fn one_site_is_a_parameter_and_the_engine_may_be_a_setting() {
    let host = FakeHost::new(|_: &Request| answer(200, r#"{"kind": "customsearch#search"}"#));
    let asked = json!({"query": "x", "count": 20, "sites": ["example.org"], "language": "zh", "next": "91"});
    Google::call("web_search", &asked.to_string(), &Configured(&host)).unwrap();
    assert!(host.requests()[0].url.ends_with(
        "?cx=from-settings&q=x&num=10&siteSearch=example.org&siteSearchFilter=i&lr=lang_zh-CN&start=91"
    ));
}

#[test]
fn without_an_engine_the_setting_is_named() {
    let host = FakeHost::new(|_: &Request| answer(200, "{}"));
    let error = call(&json!({"query": "x"}), &host).unwrap_err();
    assert_eq!((error.code, error.action), (Code::UpstreamError, Some(Action::AskOperator)));
    assert!(error.message.contains("plugins.google.settings.cx"), "{error}");
    assert!(host.requests().is_empty());
}

#[test]
fn errors_say_what_to_do() {
    for (status, body, code, action) in [
        (
            400,
            r#"{"error": {"code": 400, "message": "API key not valid."}}"#,
            Code::UpstreamError,
            Some(Action::AskOperator),
        ),
        (
            403,
            r#"{"error": {"code": 403, "message": "x", "errors": [{"reason": "dailyLimitExceeded"}]}}"#,
            Code::RateLimited,
            Some(Action::AskOperator),
        ),
        (
            403,
            r#"{"error": {"code": 403, "message": "x", "errors": [{"reason": "accessNotConfigured"}]}}"#,
            Code::UpstreamError,
            Some(Action::AskOperator),
        ),
        (400, r#"{"error": {"code": 400, "message": "Invalid Value"}}"#, Code::UpstreamError, None),
        (503, "", Code::UpstreamUnavailable, None),
        (200, "<html>", Code::UpstreamInvalid, None),
        (200, "{}", Code::UpstreamInvalid, None),
    ] {
        let host = FakeHost::new(|_: &Request| answer(status, body));
        let error = call(&json!({"query": "x", "engine": "e"}), &host).unwrap_err();
        assert_eq!((error.code, error.action), (code, action), "{status} {body}: {error}");
        if action == Some(Action::AskOperator) && code == Code::UpstreamError {
            assert!(error.message.contains("CARREL_SECRET_GOOGLE_API_KEY"), "{error}");
        }
    }
    let pause = FailureKind::RateLimited { seconds: 7.0 };
    let host = FakeHost::new(|_: &Request| failure(pause.clone(), "asks for a pause"));
    let error = call(&json!({"query": "x", "engine": "e"}), &host).unwrap_err();
    assert_eq!((error.code, error.retry_after_seconds), (Code::RateLimited, Some(7.0)));
}
