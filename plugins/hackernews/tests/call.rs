//! The tool against a fake upstream.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_hackernews::HackerNews;
use carrel_pdk::testing::{FakeHost, answer};
use carrel_pdk::{Code, Plugin, Request};
use serde_json::Value;

#[test]
fn a_thread_is_one_request() {
    let item = r#"{"id": 7, "title": "Desks", "author": "ada", "children": []}"#;
    let host = FakeHost::new(|_: &Request| answer(200, item));
    let thread: Value =
        serde_json::from_str(&HackerNews::call("thread", r#"{"id": 7}"#, &host).unwrap()).unwrap();
    assert_eq!(thread["document"]["title"], "Desks");
    assert_eq!(thread["forum"]["platform"], "hackernews");
    assert_eq!(host.requests()[0].url, "https://hn.algolia.com/api/v1/items/7");
}

#[test]
fn each_failure_has_its_code() {
    for (status, body, code) in [
        (404, r#"{"status": 404, "error": "Not Found"}"#, Code::NotFound),
        (200, "", Code::UpstreamInvalid),
        (200, "{}", Code::UpstreamInvalid),
        (429, "", Code::RateLimited),
        (503, "<html>", Code::UpstreamUnavailable),
    ] {
        let host = FakeHost::new(move |_: &Request| answer(status, body));
        let error = HackerNews::call("thread", r#"{"id": 7}"#, &host).unwrap_err();
        assert_eq!(error.code, code, "{status} {body}");
    }
}

#[test]
fn other_tools_and_arguments_are_refused() {
    let host = FakeHost::new(|_: &Request| answer(200, ""));
    for (tool, arguments) in [("thread", "{}"), ("thread", r#"{"id": "x"}"#), ("other", "{}")] {
        let error = HackerNews::call(tool, arguments, &host).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments);
    }
    assert!(host.requests().is_empty());
}
