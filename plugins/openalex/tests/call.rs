//! The tool and the roles against a fake OpenAlex.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_openalex::OpenAlex;
use carrel_pdk::testing::{FakeHost, Outcome, answer, failure};
use carrel_pdk::{Action, Code, Error, FailureKind, Header, Plugin, Request, Response, percent};
use serde_json::{Value, json};

fn call<F: Fn(&Request) -> Outcome>(
    tool: &str,
    arguments: &Value,
    host: &FakeHost<F>,
) -> Result<Value, Error> {
    let json = OpenAlex::call(tool, &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).unwrap())
}

fn urls<F: Fn(&Request) -> Outcome>(host: &FakeHost<F>) -> Vec<String> {
    host.requests().into_iter().map(|request| percent::decode(&request.url).into_owned()).collect()
}

fn ids(ids: &[(&str, &str)]) -> Value {
    let ids: Vec<Value> = ids.iter().map(|(kind, id)| json!({"type": kind, "id": id})).collect();
    json!({"ids": ids})
}

fn work(number: u32) -> Value {
    json!({"id": format!("https://openalex.org/W{number}"), "title": "A desk", "type": "article"})
}

fn page(works: &[Value], next: Option<&str>) -> String {
    json!({"meta": {"count": 7, "next_cursor": next}, "results": works}).to_string()
}

/// An answer with the headers of the budget.
fn with_budget(status: u16, body: &str, remaining: &str) -> Outcome {
    let header =
        |name: &str, value: &str| Header { name: name.to_owned(), value: value.to_owned() };
    Ok(Response {
        status,
        url: String::new(),
        headers: vec![
            header("x-ratelimit-limit", "1000"),
            header("x-ratelimit-remaining", remaining),
            header("x-ratelimit-reset", "3600"),
        ],
        body: body.to_owned(),
    })
}

const NOT_FOUND: &str = "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n";

#[test]
fn a_lookup_asks_for_each_work_alone_because_that_is_free() {
    let host = FakeHost::new(|request: &Request| {
        if request.url.contains("nobody") {
            answer(404, NOT_FOUND)
        } else {
            answer(200, work(1).to_string())
        }
    });
    let identifiers = [
        ("openalex", "W1"),
        ("doi", "10.5555/Desk<1>#2"),
        ("doi", "10.5555/nobody"),
        ("arxiv", "2401.00001v2"),
        ("pmid", "12"),
        ("pmcid", "PMC34"),
    ];
    let result = call("lookup", &ids(&identifiers), &host).unwrap();
    let encoded: Vec<String> = host.requests().into_iter().map(|request| request.url).collect();
    let expected = [
        "W1",
        "doi:10.5555/desk%3C1%3E%232",
        "doi:10.5555/nobody",
        "doi:10.48550/arxiv.2401.00001",
        "pmid:12",
        "pmcid:PMC34",
    ];
    assert_eq!(encoded, expected.map(|name| format!("https://api.openalex.org/works/{name}")));
    assert_eq!(host.batches().len(), 1);
    assert_eq!(result["works"].as_array().unwrap().len(), 5);
    assert_eq!(result["works"][0]["work"]["ids"]["openalex"], "W1");
    assert_eq!(result["not_found"], json!([{"type": "doi", "id": "10.5555/nobody"}]));
    let copies = call("role:open_copies", &ids(&identifiers[..1]), &host).unwrap();
    assert_eq!(copies["works"].as_array().unwrap().len(), 1);
}

#[test]
fn only_the_invalid_identifiers_fail() {
    let host = FakeHost::new(|_: &Request| answer(200, work(1).to_string()));
    let arguments = ids(&[("doi", "desk"), ("openalex", "A1"), ("s2", "x"), ("pmid", "1")]);
    let result = call("lookup", &arguments, &host).unwrap();
    assert_eq!(result["failed"].as_array().unwrap().len(), 3);
    assert_eq!(result["failed"][0]["code"], "invalid_arguments");
    assert_eq!(host.requests().len(), 1);
}

#[test]
fn an_unreadable_answer_fails_and_is_not_cached() {
    let host = FakeHost::new(|_: &Request| answer(200, "<p>maintenance</p>"));
    let result = call("lookup", &ids(&[("pmid", "1")]), &host).unwrap();
    assert_eq!(result["failed"][0]["code"], "upstream_invalid");
    assert_eq!(result["not_found"], json!([]));
    assert_eq!(host.discards().len(), 1);
}

#[test]
fn a_search_filters_by_years_and_access() {
    let host = FakeHost::new(|_: &Request| answer(200, page(&[work(1)], Some("abc="))));
    let arguments = json!({"query": "desks AND (lamps)? *", "limit": 5, "year_from": 1990,
        "year_to": 1999, "open_access": true});
    let found = call("role:search", &arguments, &host).unwrap();
    let url = &urls(&host)[0];
    for part in [
        "search=desks and lamps&",
        "filter=publication_year:1990-1999,is_oa:true&",
        "per_page=5&cursor=*&select=id,doi,",
        "is_retracted",
    ] {
        assert!(url.contains(part), "{part} in {url}");
    }
    assert_eq!((&found["total"], &found["next_cursor"]), (&json!(7), &json!("abc=")));
    let open = json!({"query": "x", "limit": 500, "year_to": 1950, "cursor": "abc="});
    call("role:search", &open, &host).unwrap();
    assert!(urls(&host)[1].contains("filter=publication_year:-1950&per_page=200&cursor=abc="));
}

#[test]
fn an_empty_page_ends_a_search() {
    let host = FakeHost::new(|_: &Request| answer(200, page(&[], Some("more"))));
    let found = call("role:search", &json!({"query": "x", "limit": 1}), &host).unwrap();
    assert_eq!(found, json!({"works": [], "total": 7}));
}

#[test]
fn links_of_another_identifier_ask_for_openalexs_own_first() {
    let host = FakeHost::new(|request: &Request| {
        if request.url.contains("filter=") {
            answer(200, page(&[work(2)], None))
        } else {
            answer(200, json!({"id": "https://openalex.org/W9"}).to_string())
        }
    });
    let by = |kind: &str, id: &str| json!({"id": {"type": kind, "id": id}, "limit": 3});
    let linked = call("role:citations", &by("doi", "10.5555/x"), &host).unwrap();
    assert_eq!(linked["links"][0]["work"]["ids"]["openalex"], "W2");
    assert_eq!(linked["total"], 7);
    call("role:references", &by("openalex", "W9"), &host).unwrap();
    let urls = urls(&host);
    assert_eq!(urls.len(), 3);
    assert_eq!(urls[0], "https://api.openalex.org/works/doi:10.5555/x?select=id");
    assert!(urls[1].contains("filter=cites:W9&per_page=3"), "{}", urls[1]);
    assert!(urls[2].contains("filter=cited_by:W9&per_page=3"), "{}", urls[2]);
}

#[test]
fn links_of_an_unknown_work_are_not_found() {
    let host = FakeHost::new(|_: &Request| answer(404, NOT_FOUND));
    let arguments = json!({"id": {"type": "doi", "id": "10.5555/x"}, "limit": 3});
    assert_eq!(call("role:citations", &arguments, &host).unwrap_err().code, Code::NotFound);
}

#[test]
fn a_search_in_openalexs_words_passes_them_on() {
    let host = FakeHost::new(|_: &Request| {
        let mut listed = work(1);
        listed["abstract_inverted_index"] = json!({"Desks": [0]});
        answer(200, page(&[listed], None))
    });
    let arguments = json!({"search": " desks AND lamps ", "filter": "type:review",
        "sort": "cited_by_count:desc", "per_page": 2, "cursor": " ", "omit": ["abstracts"]});
    let matches = call("works", &arguments, &host).unwrap();
    assert!(urls(&host)[0].contains(
        "?search=desks AND lamps&filter=type:review&sort=cited_by_count:desc&per_page=2&cursor=*&"
    ));
    assert_eq!(matches["works"][0].get("abstract"), None);
    assert_eq!(matches.get("notices"), None);
    let error = call("works", &json!({"per_page": 500}), &host).unwrap_err();
    assert_eq!(error.code, Code::InvalidArguments);
}

#[test]
fn a_budget_that_is_nearly_spent_is_a_notice() {
    for (remaining, notice) in [
        ("900", None),
        (
            "120",
            Some(
                "OpenAlex's daily budget: 120 of 1000 credits left, renewed in 3600 s; a search costs 10, \
                 a list 1, a single work none",
            ),
        ),
    ] {
        let host =
            FakeHost::new(|_: &Request| with_budget(200, &page(&[work(1)], None), remaining));
        let matches = call("works", &json!({"search": "x"}), &host).unwrap();
        assert_eq!(matches["notices"][0].as_str(), notice);
    }
}

#[test]
fn a_spent_budget_is_a_rate_limit_until_it_is_renewed() {
    let body =
        json!({"error": "Rate limit exceeded", "message": "Insufficient budget."}).to_string();
    let host = FakeHost::new(|_: &Request| with_budget(429, &body, "0"));
    let error = call("works", &json!({"search": "x"}), &host).unwrap_err();
    assert_eq!((error.code, error.retry_after_seconds), (Code::RateLimited, Some(3600.0)));
    assert!(error.message.contains("CARREL_SECRET_OPENALEX_API_KEY"), "{error}");
    let pause = FailureKind::RateLimited { seconds: 9.0 };
    let host = FakeHost::new(|_: &Request| failure(pause.clone(), "asks for a pause"));
    let error = call("role:search", &json!({"query": "x", "limit": 1}), &host).unwrap_err();
    assert_eq!((error.code, error.retry_after_seconds), (Code::RateLimited, Some(9.0)));
    assert!(error.message.starts_with("asks for a pause; OpenAlex counts a daily budget"));
}

#[test]
fn a_refused_filter_and_a_refused_key_have_their_codes() {
    let body = json!({"error": "Invalid query parameters error.", "message": "x is not valid"});
    let host = FakeHost::new(|_: &Request| answer(400, body.to_string()));
    let error = call("works", &json!({"filter": "x:1"}), &host).unwrap_err();
    assert_eq!(error.code, Code::UpstreamError);
    assert!(error.message.contains("x is not valid"), "{error}");
    let host = FakeHost::new(|_: &Request| answer(403, "{}"));
    let error = call("works", &json!({}), &host).unwrap_err();
    assert_eq!((error.code, error.action), (Code::UpstreamError, Some(Action::AskOperator)));
    let host = FakeHost::new(|_: &Request| answer(503, "<html></html>"));
    assert_eq!(call("works", &json!({}), &host).unwrap_err().code, Code::UpstreamUnavailable);
}

#[test]
fn the_key_goes_to_openalex_only_and_every_request_fits_the_manifest() {
    let manifest: Value = serde_json::from_str(&OpenAlex::manifest().to_json()).unwrap();
    assert_eq!(manifest["secrets"][0]["hosts"], json!(["api.openalex.org"]));
    assert_eq!(manifest["secrets"][0]["attach"], json!({"query": "api_key"}));
    assert_eq!(manifest["hosts"][0]["paths"], json!(["/works"]));
    assert_eq!(manifest["roles"]["search"]["max"], 200);
    assert!(manifest["roles"].get("full_text").is_none());
}
