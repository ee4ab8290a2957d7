//! The tool against a fake Custom Search API.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_google::Google;
use carrel_pdk::testing::{FakeHost, Outcome, answer};
use carrel_pdk::{Action, Code, Plugin, Request, percent};
use carrel_websearch::testing::{call, check_refusals, every_filter};
use serde_json::json;

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
    let mut arguments = every_filter();
    arguments["engine"] = json!("lens:1");
    let found = call::<Google>(&arguments, &host).unwrap();
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
    let arguments = json!({"query": "x", "count": 20, "sites": ["example.org"], "language": "zh", "next": "91"});
    Google::call("web_search", &arguments.to_string(), &Configured(&host)).unwrap();
    assert!(host.requests()[0].url.ends_with(
        "?cx=from-settings&q=x&num=10&siteSearch=example.org&siteSearchFilter=i&lr=lang_zh-CN&start=91"
    ));
}

#[test]
fn without_an_engine_the_setting_is_named() {
    let host = FakeHost::new(|_: &Request| answer(200, "{}"));
    let error = call::<Google>(&json!({"query": "x"}), &host).unwrap_err();
    assert_eq!((error.code, error.action), (Code::UpstreamError, Some(Action::AskOperator)));
    assert!(error.message.contains("plugins.google.settings.cx"), "{error}");
    assert!(host.requests().is_empty());
}

#[test]
fn errors_say_what_to_do() {
    check_refusals::<Google>(
        &json!({"query": "x", "engine": "e"}),
        "CARREL_SECRET_GOOGLE_API_KEY",
        &[
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
            (
                400,
                r#"{"error": {"code": 400, "message": "Invalid Value"}}"#,
                Code::UpstreamError,
                None,
            ),
        ],
    );
}
