//! The reserved tools against a fake upstream.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_doaj::Doaj;
use carrel_pdk::testing::{FakeHost, Outcome, answer};
use carrel_pdk::{Code, Error, Plugin, Request, percent};
use serde_json::{Value, json};

fn call<F: Fn(&Request) -> Outcome>(
    tool: &str,
    arguments: &Value,
    host: &FakeHost<F>,
) -> Result<Value, Error> {
    let json = Doaj::call(tool, &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).unwrap())
}

/// The requested URLs, percent-decoded.
fn urls<F: Fn(&Request) -> Outcome>(host: &FakeHost<F>) -> Vec<String> {
    host.requests().iter().map(|request| percent::decode(&request.url).into_owned()).collect()
}

fn page(total: u64, dois: &[&str]) -> Outcome {
    let article = |doi: &&str| {
        json!({"id": "a", "bibjson": {"title": "A", "journal": {"title": "J"},
        "identifier": [{"type": "doi", "id": doi}],
        "link": [{"type": "fulltext", "url": "https://journal.example.org/a.pdf"}]}})
    };
    let results: Vec<Value> = dois.iter().map(article).collect();
    answer(200, json!({"total": total, "results": results}).to_string())
}

#[test]
fn dois_are_one_search() {
    let host = FakeHost::new(|_: &Request| page(1, &["10.5555/A"]));
    let ids = json!({"ids": [{"type": "doi", "id": "10.5555/a"}, {"type": "doi", "id": "10.5555/b"},
        {"type": "pmid", "id": "1"}]});
    let answer = call("role:open_copies", &ids, &host).unwrap();
    assert_eq!(answer["works"][0]["work"]["open_copies"][0]["kind"], "pdf");
    assert_eq!(answer["not_found"], json!([{"type": "doi", "id": "10.5555/b"}]));
    assert_eq!(answer["failed"][0]["code"], "invalid_arguments");
    assert_eq!(
        urls(&host),
        [
            "https://doaj.org/api/v4/search/articles/doi:\"10.5555/a\" OR doi:\"10.5555/b\"?page=1&pageSize=100"
        ]
    );
    assert_eq!(call("lookup", &ids, &host).unwrap(), answer);
}

#[test]
fn a_failed_search_fails_for_each_doi() {
    let ids = json!({"ids": [{"type": "doi", "id": "10.5555/a"}]});
    for (outcome, code) in [
        (answer(400, r#"{"status": "bad_request", "error": "no"}"#), "upstream_error"),
        (answer(429, ""), "rate_limited"),
        (answer(200, "{}"), "upstream_invalid"),
    ] {
        let host = FakeHost::new(move |_: &Request| outcome.clone());
        assert_eq!(call("lookup", &ids, &host).unwrap()["failed"][0]["code"], code);
    }
}

#[test]
fn a_search_is_paged_up_to_the_last_reachable_page() {
    let host = FakeHost::new(|_: &Request| page(5000, &["10.5555/a"]));
    let arguments = json!({"query": "desks", "limit": 10, "year_from": 2020, "year_to": 2021,
        "open_access": true});
    assert_eq!(call("role:search", &arguments, &host).unwrap()["next_cursor"], "2-10");
    let last = json!({"query": "desks", "limit": 10, "cursor": "100-10"});
    assert_eq!(call("role:search", &last, &host).unwrap().get("next_cursor"), None);
    assert_eq!(
        urls(&host)[0],
        "https://doaj.org/api/v4/search/articles/(desks) AND bibjson.year:[2020 TO 2021]?page=1&pageSize=10"
    );
    let error = call("role:search", &json!({"query": "?", "limit": 1}), &host).unwrap_err();
    assert_eq!(error.code, Code::InvalidArguments);
}
