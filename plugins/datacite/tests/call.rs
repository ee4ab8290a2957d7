//! The reserved tools against a fake upstream.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_datacite::DataCite;
use carrel_pdk::testing::{FakeHost, Outcome, answer};
use carrel_pdk::{Code, Error, Plugin, Request, percent};
use serde_json::{Value, json};

fn call<F: Fn(&Request) -> Outcome>(
    tool: &str,
    arguments: &Value,
    host: &FakeHost<F>,
) -> Result<Value, Error> {
    let json = DataCite::call(tool, &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).unwrap())
}

/// The requested URLs, percent-decoded.
fn urls<F: Fn(&Request) -> Outcome>(host: &FakeHost<F>) -> Vec<String> {
    host.requests().iter().map(|request| percent::decode(&request.url).into_owned()).collect()
}

fn resource(doi: &str) -> Value {
    json!({"id": doi, "type": "dois", "attributes": {"doi": doi, "titles": [{"title": "A"}]}})
}

#[test]
fn each_doi_is_a_request_and_only_a_404_means_that_there_is_none() {
    let host = FakeHost::new(|request: &Request| match percent::decode(&request.url) {
        url if url.contains("10.5555/a/b") => {
            answer(200, json!({"data": resource("10.5555/a/b")}).to_string())
        }
        url if url.contains("10.5555/none") => {
            answer(404, r#"{"errors": [{"status": "404", "title": "x"}]}"#)
        }
        _ => answer(500, ""),
    });
    let ids = json!({"ids": [{"type": "doi", "id": "10.5555/a/b"}, {"type": "doi", "id": "10.5555/none"},
        {"type": "doi", "id": "10.5555/broken"}, {"type": "pmid", "id": "1"}]});
    let answer = call("lookup", &ids, &host).unwrap();
    assert_eq!(answer["works"][0]["work"]["ids"]["doi"], "10.5555/a/b");
    assert_eq!(answer["not_found"], json!([{"type": "doi", "id": "10.5555/none"}]));
    let codes: Vec<&Value> =
        answer["failed"].as_array().unwrap().iter().map(|failure| &failure["code"]).collect();
    assert_eq!(codes, ["invalid_arguments", "upstream_unavailable"]);
    assert_eq!(
        urls(&host)[0],
        "https://api.datacite.org/dois/10.5555/a/b?affiliation=true&publisher=true"
    );
}

#[test]
fn a_search_is_paged() {
    let host = FakeHost::new(|_: &Request| {
        answer(200, json!({"data": [resource("10.5555/a")], "meta": {"total": 30}}).to_string())
    });
    let arguments = json!({"query": "desks (lamps)", "limit": 10, "year_from": 2020});
    let found = call("role:search", &arguments, &host).unwrap();
    assert_eq!((&found["total"], &found["next_cursor"]), (&json!(30), &json!("2-10")));
    let last = json!({"query": "desks", "limit": 50, "cursor": "3-10"});
    assert_eq!(call("role:search", &last, &host).unwrap().get("next_cursor"), None);
    assert_eq!(
        urls(&host),
        [
            "https://api.datacite.org/dois?query=(desks lamps) AND publicationYear:[2020 TO 9999]\
             &page[size]=10&page[number]=1&sort=relevance&affiliation=true&publisher=true&disable-facets=true",
            "https://api.datacite.org/dois?query=desks&page[size]=10&page[number]=3&sort=relevance\
             &affiliation=true&publisher=true&disable-facets=true",
        ]
    );
    for arguments in
        [json!({"query": "*", "limit": 1}), json!({"query": "a", "limit": 1, "cursor": "0-1"})]
    {
        assert_eq!(
            call("role:search", &arguments, &host).unwrap_err().code,
            Code::InvalidArguments
        );
    }
}
