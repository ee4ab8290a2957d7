//! The role against a fake Unpaywall.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::testing::{FakeHost, Outcome, answer};
use carrel_pdk::{Code, Plugin, Request};
use carrel_unpaywall::Unpaywall;
use serde_json::{Value, json};

fn copies<F: Fn(&Request) -> Outcome>(ids: &[(&str, &str)], host: &FakeHost<F>) -> Value {
    let ids: Vec<Value> = ids.iter().map(|(kind, id)| json!({"type": kind, "id": id})).collect();
    let arguments = json!({"ids": ids}).to_string();
    serde_json::from_str(&Unpaywall::call("role:open_copies", &arguments, host).unwrap()).unwrap()
}

fn record() -> String {
    let copy = json!({"url_for_pdf": "https://example.org/1.pdf", "host_type": "repository"});
    json!({"doi": "10.5555/1", "is_oa": true, "oa_status": "green", "best_oa_location": copy})
        .to_string()
}

#[test]
fn copies_are_requested_by_doi_and_the_host_adds_the_address() {
    let host = FakeHost::new(|request: &Request| {
        if request.url.contains("nobody") {
            answer(
                404,
                r#"{"HTTP_status_code": 404, "error": true, "message": "isn't in Unpaywall"}"#,
            )
        } else {
            answer(200, record())
        }
    });
    let identifiers = [("doi", "10.5555/Desk<1>"), ("doi", "10.5555/nobody"), ("pmid", "1")];
    let result = copies(&identifiers, &host);
    let urls: Vec<String> = host.requests().into_iter().map(|request| request.url).collect();
    assert_eq!(
        urls,
        [
            "https://api.unpaywall.org/v2/10.5555/desk%3C1%3E",
            "https://api.unpaywall.org/v2/10.5555/nobody"
        ]
    );
    assert_eq!(result["works"][0]["work"]["oa_status"], "green");
    assert_eq!(result["works"][0]["work"]["open_copies"][0]["kind"], "pdf");
    assert_eq!(result["not_found"], json!([{"type": "doi", "id": "10.5555/nobody"}]));
    assert_eq!(result["failed"][0]["code"], "invalid_arguments");
}

#[test]
fn a_missing_address_is_explained() {
    let report = r#"{"HTTP_status_code": 422, "error": true, "message": "Please use your own email address"}"#;
    for body in [report, "<html></html>"] {
        let host = FakeHost::new(|_: &Request| answer(422, body));
        let result = copies(&[("doi", "10.5555/1")], &host);
        assert_eq!(result["failed"][0]["code"], "upstream_error");
        let message = result["failed"][0]["message"].as_str().unwrap();
        assert_eq!(message.matches("CARREL_CONTACT").count(), 1, "{message}");
    }
}

#[test]
fn a_server_that_broke_down_is_not_an_unknown_work() {
    let host = FakeHost::new(|_: &Request| answer(503, "<title>503 Service Unavailable</title>"));
    let result = copies(&[("doi", "10.5555/1")], &host);
    assert_eq!(result["failed"][0]["code"], "upstream_unavailable");
    let error = Unpaywall::call("lookup", r#"{"ids": []}"#, &host).unwrap_err();
    assert_eq!(error.code, Code::InvalidArguments);
}

#[test]
fn the_address_goes_to_unpaywall_only() {
    let manifest: Value = serde_json::from_str(&Unpaywall::manifest().to_json()).unwrap();
    assert_eq!(manifest["secrets"][0]["name"], "contact");
    assert_eq!(manifest["secrets"][0]["hosts"], json!(["api.unpaywall.org"]));
    assert_eq!(manifest["secrets"][0]["attach"], json!({"query": "email"}));
    assert_eq!(manifest["tools"], json!([]));
}
