//! The reserved tools against a fake upstream.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_europepmc::EuropePmc;
use carrel_pdk::testing::{FakeHost, Outcome, answer, failure};
use carrel_pdk::{Code, Error, FailureKind, Plugin, Request, percent};
use serde_json::{Value, json};

fn call<F: Fn(&Request) -> Outcome>(
    tool: &str,
    arguments: &Value,
    host: &FakeHost<F>,
) -> Result<Value, Error> {
    let json = EuropePmc::call(tool, &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).unwrap())
}

/// The requested URLs, percent-decoded.
fn urls<F: Fn(&Request) -> Outcome>(host: &FakeHost<F>) -> Vec<String> {
    host.requests().iter().map(|request| percent::decode(&request.url).into_owned()).collect()
}

const REST: &str = "https://www.ebi.ac.uk/europepmc/webservices/rest";

fn results(items: &Value) -> Outcome {
    let count = items.as_array().unwrap().len();
    let page = json!({"version": "6.9", "hitCount": count, "request": {"cursorMark": "*"},
        "resultList": {"result": items}});
    answer(200, page.to_string())
}

fn open_article() -> Value {
    json!({"id": "1", "source": "MED", "pmid": "1", "pmcid": "PMC2", "doi": "10.5555/X",
        "isOpenAccess": "Y", "inEPMC": "Y", "license": "cc by"})
}

#[test]
fn identifiers_of_three_kinds_are_one_search() {
    let host = FakeHost::new(|_: &Request| results(&json!([open_article()])));
    let ids = json!({"ids": [{"type": "doi", "id": "10.5555/x"}, {"type": "pmid", "id": "1"},
        {"type": "pmcid", "id": "PMC2"}, {"type": "doi", "id": "10.5555/none"},
        {"type": "arxiv", "id": "2401.00001"}]});
    let answer = call("lookup", &ids, &host).unwrap();
    let found: Vec<&str> = answer["works"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["id"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(found, ["10.5555/x", "1", "PMC2"]);
    assert_eq!(answer["not_found"], json!([{"type": "doi", "id": "10.5555/none"}]));
    assert_eq!(answer["failed"][0]["code"], "invalid_arguments");
    assert_eq!(
        urls(&host),
        [format!(
            "{REST}/search?query=DOI:\"10.5555/x\" OR (EXT_ID:\"1\" AND SRC:MED) OR PMCID:\"PMC2\" \
             OR DOI:\"10.5555/none\"&resultType=core&format=json&pageSize=100&cursorMark=*"
        )]
    );
    let copies = call("role:open_copies", &ids, &host).unwrap();
    assert_eq!(copies["works"][0]["work"]["is_oa"], true);
}

#[test]
fn a_failed_request_is_not_an_empty_result() {
    let ids = json!({"ids": [{"type": "doi", "id": "10.5555/x"}]});
    for (outcome, code) in [
        (failure(FailureKind::Timeout { milliseconds: 9 }, "late"), "timeout"),
        (answer(503, ""), "upstream_unavailable"),
        (answer(429, "<h1>Too Many Requests</h1>"), "rate_limited"),
        (answer(200, r#"{"errCode": 500, "errMsg": "broken"}"#), "upstream_unavailable"),
        (answer(200, r#"{"version": "6.9", "request": {}}"#), "upstream_error"),
        (answer(200, "oops"), "upstream_invalid"),
    ] {
        let host = FakeHost::new(move |_: &Request| outcome.clone());
        let answer = call("lookup", &ids, &host).unwrap();
        assert_eq!(answer["failed"][0]["code"], code, "{answer}");
        assert_eq!(answer["not_found"], json!([]));
    }
}

#[test]
fn a_search_sends_words_and_filters() {
    let host = FakeHost::new(|_: &Request| results(&json!([open_article()])));
    let arguments = json!({"query": "title:(desk AND \"lamp\")", "limit": 5, "year_from": 1999,
        "year_to": 2001, "open_access": true, "cursor": "Ao=="});
    let found = call("role:search", &arguments, &host).unwrap();
    assert_eq!((&found["total"], &found["works"][0]["ids"]["pmid"]), (&json!(1), &json!("1")));
    assert_eq!(
        urls(&host),
        [format!(
            "{REST}/search?query=(title desk lamp) AND PUB_YEAR:[1999 TO 2001] AND OPEN_ACCESS:y\
             &resultType=core&format=json&pageSize=5&cursorMark=Ao=="
        )]
    );
    let error = call("role:search", &json!({"query": "(AND)", "limit": 5}), &host).unwrap_err();
    assert_eq!(error.code, Code::InvalidArguments);
}

#[test]
fn the_full_text_of_an_open_article_is_its_xml() {
    let host = FakeHost::new(|_: &Request| results(&json!([open_article()])));
    let arguments = json!({"id": {"type": "pmcid", "id": "PMC2"}});
    assert_eq!(
        call("role:full_text", &arguments, &host).unwrap(),
        json!({"copies": [{"url": format!("{REST}/PMC2/fullTextXML"), "format": "jats",
            "license": "cc by", "landing_url": "https://europepmc.org/article/MED/1"}]})
    );
    let closed = json!([{"id": "1", "source": "MED", "pmcid": "PMC2", "isOpenAccess": "N"}]);
    for items in [closed, json!([])] {
        let host = FakeHost::new(move |_: &Request| results(&items));
        assert_eq!(call("role:full_text", &arguments, &host).unwrap(), json!({"copies": []}));
    }
}

#[test]
fn citations_and_references_are_paged() {
    let host = FakeHost::new(|request: &Request| {
        let (list, item) = match request.url.contains("/citations?") {
            true => ("citationList", "citation"),
            false if request.url.contains("/references?") => ("referenceList", "reference"),
            false => return results(&json!([open_article()])),
        };
        let items = json!([{"id": "7", "source": "MED", "title": "Seven"}]);
        answer(200, json!({"hitCount": 3, list: {item: items}}).to_string())
    });
    let arguments = json!({"id": {"type": "pmid", "id": "1"}, "limit": 2});
    let found = call("role:citations", &arguments, &host).unwrap();
    assert_eq!((&found["total"], &found["next_cursor"]), (&json!(3), &json!("2-2")));
    assert_eq!(found["links"][0]["work"]["title"], "Seven");
    let arguments = json!({"id": {"type": "doi", "id": "10.5555/x"}, "limit": 9, "cursor": "2-2"});
    let found = call("role:references", &arguments, &host).unwrap();
    assert_eq!(found.get("next_cursor"), None);
    let urls = urls(&host);
    assert_eq!(urls[0], format!("{REST}/MED/1/citations?page=1&pageSize=2&format=json"));
    assert!(urls[1].contains("DOI:\"10.5555/x\""), "{}", urls[1]);
    assert_eq!(urls[2], format!("{REST}/MED/1/references?page=2&pageSize=2&format=json"));
    let invalid = json!({"id": {"type": "pmid", "id": "1"}, "limit": 2, "cursor": "x"});
    assert_eq!(call("role:citations", &invalid, &host).unwrap_err().code, Code::InvalidArguments);
}
