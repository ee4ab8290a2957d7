//! The tool against a fake upstream.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::testing::{FakeHost, answer};
use carrel_pdk::{Code, Plugin, Request};
use carrel_reddit::Reddit;
use serde_json::Value;

const POST: &str = r#"[{"kind": "Listing", "data": {"children": [{"kind": "t3", "data":
    {"title": "Desks", "score": 12, "num_comments": 0}}]}}, {"kind": "Listing", "data": {}}]"#;

#[test]
fn a_post_is_one_request() {
    let host = FakeHost::new(|_: &Request| answer(200, POST));
    let thread: Value =
        serde_json::from_str(&Reddit::call("post", r#"{"id": "1AbC"}"#, &host).unwrap()).unwrap();
    assert_eq!(thread["document"]["title"], "Desks");
    assert_eq!(thread["forum"]["upvotes"], 12);
    assert_eq!(
        host.requests()[0].url,
        "https://www.reddit.com/comments/1abc.json?raw_json=1&limit=300"
    );
}

#[test]
fn a_comment_has_its_own_request() {
    let host = FakeHost::new(|_: &Request| answer(200, POST));
    Reddit::call("post", r#"{"id": "1AbC/k2"}"#, &host).unwrap();
    assert_eq!(
        host.requests()[0].url,
        "https://www.reddit.com/comments/1abc/comment/k2.json?raw_json=1&limit=300"
    );
}

#[test]
fn each_failure_has_its_code() {
    for (status, body, code) in [
        (404, r#"{"message": "Not Found", "error": 404}"#, Code::NotFound),
        (
            403,
            r#"{"reason": "private", "message": "Forbidden", "error": 403}"#,
            Code::UpstreamError,
        ),
        (403, "<html><body>blocked</body></html>", Code::UpstreamError),
        (200, "[]", Code::UpstreamInvalid),
        (429, "", Code::RateLimited),
    ] {
        let host = FakeHost::new(move |_: &Request| answer(status, body));
        let error = Reddit::call("post", r#"{"id": "abc"}"#, &host).unwrap_err();
        assert_eq!(error.code, code, "{status} {body}");
    }
}

#[test]
fn an_identifier_is_letters_and_digits() {
    let host = FakeHost::new(|_: &Request| answer(200, ""));
    for id in ["", "a/b/c", "a/", "/b", "../x", "a?b", "\u{e9}"] {
        let arguments = serde_json::json!({"id": id}).to_string();
        let error = Reddit::call("post", &arguments, &host).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments, "{id}");
    }
    assert!(host.requests().is_empty());
}
