//! The tool against a fake SearXNG.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::testing::{FakeHost, answer, failure};
use carrel_pdk::{Action, Code, FailureKind, Request, percent};
use carrel_searxng::SearXng;
use carrel_websearch::testing::{call, check_refusals, every_filter};
use serde_json::json;

#[test]
fn a_search_is_one_request_with_every_filter() {
    let body = json!({"results": [{"url": "https://desks.example.org/", "title": "A desk"}]});
    let host = FakeHost::new(|_: &Request| answer(200, body.to_string()));
    let found = call::<SearXng>(&every_filter(), &host).unwrap();
    assert_eq!(found["next"], "2");
    assert_eq!(
        percent::decode(&host.requests()[0].url),
        "https://endpoint.invalid/search?q=walled desks \"reading desk\" -sale \
         site:desks.example.org OR site:example.com&format=json&categories=general&time_range=week\
         &safesearch=2&language=de-AT"
    );
    let found =
        call::<SearXng>(&json!({"query": "x", "country": "AT", "next": "3"}), &host).unwrap();
    assert_eq!(found["unapplied"], json!(["country"]));
    assert!(host.requests()[1].url.ends_with("&pageno=3"));
}

#[test]
fn an_instance_without_json_says_which_setting_it_needs() {
    let host = FakeHost::new(|_: &Request| answer(403, "<title>403 Forbidden</title>"));
    let error = call::<SearXng>(&json!({"query": "x"}), &host).unwrap_err();
    assert_eq!(error.action, Some(Action::AskOperator));
    assert!(error.message.contains("search.formats"), "{error}");
}

#[test]
fn an_unreachable_instance_names_the_setting_and_not_the_placeholder() {
    let host = FakeHost::new(|_: &Request| {
        failure(FailureKind::Unreachable { status: 0 }, "no connection to endpoint.invalid")
    });
    let error = call::<SearXng>(&json!({"query": "x"}), &host).unwrap_err();
    assert_eq!(error.code, Code::UpstreamUnavailable);
    assert!(error.message.contains("plugins.searxng.runtime_config.endpoint"), "{error}");
    assert!(!error.message.contains("endpoint.invalid"), "{error}");
}

#[test]
fn unresponsive_engines_are_not_an_empty_answer() {
    let body = json!({"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}).to_string();
    let host = FakeHost::new(|_: &Request| answer(200, body.clone()));
    let error = call::<SearXng>(&json!({"query": "x"}), &host).unwrap_err();
    assert_eq!(error.code, Code::UpstreamUnavailable);
    assert!(error.message.contains("google (CAPTCHA)"), "{error}");
}

#[test]
fn an_answer_that_cannot_be_read_is_a_failure() {
    check_refusals::<SearXng>(
        &json!({"query": "x"}),
        "",
        &[
            (200, "[]", Code::UpstreamInvalid, None),
            (429, "Too Many Requests", Code::RateLimited, None),
        ],
    );
}
