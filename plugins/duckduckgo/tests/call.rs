//! The tool against a fake DuckDuckGo.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_duckduckgo::DuckDuckGo;
use carrel_pdk::testing::{FakeHost, answer};
use carrel_pdk::{Action, Code, Request, percent};
use carrel_websearch::testing::{call, check_refusals, every_filter};
use serde_json::json;

#[test]
fn a_search_is_one_request_with_every_filter() {
    let host = FakeHost::new(|_: &Request| answer(200, r#"<div class="no-results">"#));
    assert_eq!(call::<DuckDuckGo>(&every_filter(), &host).unwrap(), json!({"results": []}));
    assert_eq!(
        percent::decode(&host.requests()[0].url),
        "https://html.duckduckgo.com/html/?q=walled desks \"reading desk\" -sale \
         site:desks.example.org OR site:example.com&df=w&kp=1&kl=at-de"
    );
}

#[test]
fn regions_are_those_of_the_site() {
    let host = FakeHost::new(|_: &Request| answer(200, r#"<div class="no-results">"#));
    for (country, language, region, unapplied) in [
        (Some("GB"), None, "&kl=uk-en", json!(null)),
        (Some("CH"), Some("fr"), "&kl=ch-fr", json!(null)),
        (Some("JP"), Some("ja"), "&kl=jp-jp", json!(null)),
        (Some("DE"), Some("tr"), "&kl=de-de", json!(["language"])),
        (Some("AQ"), Some("en"), "/?q=x", json!(["country", "language"])),
        (None, Some("en"), "/?q=x", json!(["language"])),
    ] {
        let mut arguments = json!({"query": "x"});
        if let Some(country) = country {
            arguments["country"] = json!(country);
        }
        if let Some(language) = language {
            arguments["language"] = json!(language);
        }
        let found = call::<DuckDuckGo>(&arguments, &host).unwrap();
        assert!(host.requests().pop().unwrap().url.ends_with(region), "{arguments}");
        assert_eq!(found.get("unapplied").unwrap_or(&json!(null)), &unapplied, "{arguments}");
    }
}

#[test]
fn a_challenge_is_named_as_blocked() {
    let page = r#"<form id="challenge-form"><div class="anomaly-modal__title">Bots</div></form>"#;
    for (status, body) in [(202, ""), (200, page), (403, "<title>403 Forbidden</title>")] {
        let host = FakeHost::new(|_: &Request| answer(status, body));
        let error = call::<DuckDuckGo>(&json!({"query": "x"}), &host).unwrap_err();
        assert_eq!((error.code, error.action), (Code::UpstreamError, Some(Action::RetryLater)));
        assert!(error.message.starts_with("blocked: "), "{error}");
    }
}

#[test]
fn other_pages_are_failures() {
    check_refusals::<DuckDuckGo>(
        &json!({"query": "x"}),
        "",
        &[
            (200, "<html><p>Welcome</p>", Code::UpstreamInvalid, None),
            (500, "", Code::UpstreamUnavailable, None),
        ],
    );
}
