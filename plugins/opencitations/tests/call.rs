//! The reserved tools against a fake upstream.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_opencitations::OpenCitations;
use carrel_pdk::testing::{FakeHost, Outcome, answer};
use carrel_pdk::{Code, Error, Plugin, Request, percent};
use serde_json::{Value, json};

fn call<F: Fn(&Request) -> Outcome>(
    tool: &str,
    arguments: &Value,
    host: &FakeHost<F>,
) -> Result<Value, Error> {
    let json = OpenCitations::call(tool, &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).unwrap())
}

/// The requested URLs, percent-decoded.
fn urls<F: Fn(&Request) -> Outcome>(host: &FakeHost<F>) -> Vec<String> {
    host.requests().iter().map(|request| percent::decode(&request.url).into_owned()).collect()
}

fn rows() -> Outcome {
    let row = |citing: &str| json!({"citing": citing, "cited": "omid:br/9 doi:10.5555/d", "creation": "2024-05"});
    let rows = [
        row("omid:br/1 doi:10.5555/a pmid:1 openalex:W1"),
        row("doi:10.5555/b"),
        row("omid:br/3"),
        row("pmid:4"),
    ];
    answer(200, json!(rows).to_string())
}

#[test]
fn the_works_at_the_other_end_are_paged() {
    let host = FakeHost::new(|_: &Request| rows());
    let arguments = json!({"id": {"type": "doi", "id": "10.5555/d?x"}, "limit": 2});
    let found = call("role:citations", &arguments, &host).unwrap();
    // One work has only OpenCitations' identifier.
    assert_eq!((&found["total"], &found["next_cursor"]), (&json!(3), &json!("2")));
    assert_eq!(
        found["links"][0]["work"],
        json!({"ids": {"doi": "10.5555/a", "pmid": "1", "openalex": "W1"}, "type": "document",
            "issued": "2024-05", "source": "opencitations"})
    );
    let arguments = json!({"id": {"type": "doi", "id": "10.5555/d?x"}, "limit": 2, "cursor": "2"});
    let found = call("role:citations", &arguments, &host).unwrap();
    assert_eq!(found["links"][0]["work"]["ids"], json!({"pmid": "4"}));
    assert_eq!(found.get("next_cursor"), None);
    assert_eq!(urls(&host)[0], "https://api.opencitations.net/index/v2/citations/doi:10.5555/d?x");
    assert!(host.requests()[0].url.ends_with("10.5555/d%3Fx"));
}

#[test]
fn cited_works_have_no_date() {
    let host = FakeHost::new(|_: &Request| rows());
    let arguments = json!({"id": {"type": "pmid", "id": "1"}, "limit": 1000});
    let found = call("role:references", &arguments, &host).unwrap();
    assert_eq!(found["links"][0]["work"]["ids"]["doi"], "10.5555/d");
    assert_eq!(found["links"][0]["work"].get("issued"), None);
    assert_eq!(urls(&host), ["https://api.opencitations.net/index/v2/references/pmid:1"]);
}

#[test]
fn invalid_arguments_and_refused_requests_are_errors() {
    let host = FakeHost::new(|_: &Request| answer(429, r#"{"error": 429, "message": "slow"}"#));
    for (arguments, code) in [
        (json!({"id": {"type": "pmcid", "id": "PMC1"}, "limit": 1}), Code::InvalidArguments),
        (
            json!({"id": {"type": "doi", "id": "10.5555/a"}, "limit": 1, "cursor": "x"}),
            Code::InvalidArguments,
        ),
        (json!({"id": {"type": "doi", "id": "10.5555/a"}, "limit": 1}), Code::RateLimited),
    ] {
        assert_eq!(call("role:citations", &arguments, &host).unwrap_err().code, code);
    }
}
