//! The roles against a fake Semantic Scholar.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::testing::{FakeHost, Outcome, answer, failure};
use carrel_pdk::{Action, Code, Error, FailureKind, Method, Plugin, Request, percent};
use carrel_semanticscholar::SemanticScholar;
use serde_json::{Value, json};

const PAPER: &str = "https://api.semanticscholar.org/graph/v1/paper";

fn call<F: Fn(&Request) -> Outcome>(
    tool: &str,
    arguments: &Value,
    host: &FakeHost<F>,
) -> Result<Value, Error> {
    let json = SemanticScholar::call(tool, &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).unwrap())
}

fn ids(ids: &[(&str, &str)]) -> Value {
    let ids: Vec<Value> = ids.iter().map(|(kind, id)| json!({"type": kind, "id": id})).collect();
    json!({"ids": ids})
}

fn paper(digit: &str) -> Value {
    json!({"paperId": digit.repeat(40), "title": "A desk"})
}

#[test]
fn a_lookup_of_one_paper_is_one_request_that_can_be_cached() {
    let host = FakeHost::new(|_: &Request| answer(200, paper("a").to_string()));
    for (kind, id, name) in [
        ("doi", "10.5555/Desk<1>", "DOI:10.5555/Desk%3C1%3E"),
        ("arxiv", "2401.00001v3", "ARXIV:2401.00001"),
        ("pmid", "12", "PMID:12"),
        ("pmcid", "PMC34", "PMCID:34"),
        ("s2", &"A".repeat(40), &"a".repeat(40)),
    ] {
        let result = call("lookup", &ids(&[(kind, id)]), &host).unwrap();
        assert_eq!(result["works"][0]["work"]["ids"]["s2"], "a".repeat(40));
        let request = host.requests().pop().unwrap();
        assert_eq!(request.method, Method::Get);
        assert!(request.url.starts_with(&format!("{PAPER}/{name}?fields=paperId,")), "{request:?}");
    }
}

#[test]
fn a_lookup_of_several_papers_is_one_batch_in_their_order() {
    let host =
        FakeHost::new(|_: &Request| answer(200, json!([paper("a"), null, paper("b")]).to_string()));
    let identifiers = [("doi", "10.5555/1"), ("pmid", "2"), ("pmcid", "PMC3"), ("doi", "desk")];
    let result = call("role:open_copies", &ids(&identifiers), &host).unwrap();
    let requests = host.requests();
    assert_eq!((requests.len(), requests[0].method), (1, Method::Post));
    assert!(requests[0].url.starts_with(&format!("{PAPER}/batch?fields=")));
    assert_eq!(requests[0].body, r#"{"ids":["DOI:10.5555/1","PMID:2","PMCID:3"]}"#);
    assert_eq!(result["works"][1]["id"], json!({"type": "pmcid", "id": "PMC3"}));
    assert_eq!(result["works"][1]["work"]["ids"]["s2"], "b".repeat(40));
    assert_eq!(result["not_found"], json!([{"type": "pmid", "id": "2"}]));
    assert_eq!(result["failed"][0]["code"], "invalid_arguments");
}

#[test]
fn a_batch_of_another_length_is_unreadable() {
    let host = FakeHost::new(|_: &Request| answer(200, json!([paper("a")]).to_string()));
    let result = call("lookup", &ids(&[("pmid", "1"), ("pmid", "2")]), &host).unwrap();
    assert_eq!(result["failed"][1]["code"], "upstream_invalid");
}

#[test]
fn a_batch_without_any_paper_is_not_found() {
    let report = json!({"error": "No valid paper ids given"}).to_string();
    let host = FakeHost::new(|_: &Request| answer(400, report.clone()));
    let result = call("lookup", &ids(&[("pmid", "1"), ("pmid", "2")]), &host).unwrap();
    assert_eq!(result["not_found"].as_array().unwrap().len(), 2);
    let unknown = json!({"error": "Paper with id PMID:1 not found"}).to_string();
    let host = FakeHost::new(|_: &Request| answer(404, unknown.clone()));
    let result = call("lookup", &ids(&[("pmid", "1")]), &host).unwrap();
    assert_eq!(result["not_found"].as_array().unwrap().len(), 1);
}

#[test]
fn a_rate_limit_hints_at_a_key() {
    let pause = FailureKind::RateLimited { seconds: 4.0 };
    let host = FakeHost::new(|_: &Request| failure(pause.clone(), "asks for a pause"));
    let result = call("lookup", &ids(&[("pmid", "1")]), &host).unwrap();
    assert_eq!(result["failed"][0]["code"], "rate_limited");
    assert_eq!(result["failed"][0]["retry_after_seconds"], 4.0);
    let message = result["failed"][0]["message"].as_str().unwrap();
    assert!(message.contains("CARREL_SECRET_SEMANTICSCHOLAR_API_KEY"), "{message}");
    let body = json!({"message": "Too Many Requests.", "code": "429"}).to_string();
    let host = FakeHost::new(|_: &Request| answer(429, body.clone()));
    let error = call("role:search", &json!({"query": "x", "limit": 1}), &host).unwrap_err();
    assert_eq!(error.code, Code::RateLimited);
    assert!(error.message.contains("API key"), "{error}");
}

#[test]
fn a_refused_key_is_reported_to_the_operator() {
    let host = FakeHost::new(|_: &Request| answer(403, r#"{"message": "Forbidden"}"#));
    let error = call("role:search", &json!({"query": "x", "limit": 1}), &host).unwrap_err();
    assert_eq!((error.code, error.action), (Code::UpstreamError, Some(Action::AskOperator)));
}

#[test]
fn a_search_is_paged_by_offset_up_to_the_thousandth_match() {
    let host = FakeHost::new(|_: &Request| {
        answer(
            200,
            json!({"total": 5000, "offset": 0, "next": 950, "data": [paper("a")]}).to_string(),
        )
    });
    let arguments = json!({"query": "open-access desks", "limit": 80, "year_from": 1990,
        "open_access": true});
    let found = call("role:search", &arguments, &host).unwrap();
    assert_eq!((&found["total"], &found["next_cursor"]), (&json!(5000), &json!("950")));
    let url = percent::decode(&host.requests()[0].url).into_owned();
    assert!(url.starts_with(&format!("{PAPER}/search?query=open access desks&fields=paperId,")));
    assert!(url.ends_with("&offset=0&limit=80&year=1990-&openAccessPdf="), "{url}");
    let last = json!({"query": "desks", "limit": 100, "year_to": 1999, "cursor": "950"});
    call("role:search", &last, &host).unwrap();
    assert!(host.requests()[1].url.ends_with("&offset=950&limit=50&year=-1999"));
    for cursor in ["1000", "x"] {
        let past_the_end = json!({"query": "desks", "limit": 100, "cursor": cursor});
        let found = call("role:search", &past_the_end, &host).unwrap();
        assert_eq!(found, json!({"works": []}));
    }
    assert_eq!(host.requests().len(), 2);
}

#[test]
fn links_carry_contexts_intents_and_influence() {
    let host = FakeHost::new(|request: &Request| {
        let key = if request.url.contains("/citations?") { "citingPaper" } else { "citedPaper" };
        let entry = json!({key: paper("b"), "contexts": ["As shown [1]."], "intents": ["background"],
            "isInfluential": true});
        answer(200, json!({"offset": 0, "next": 100, "data": [entry]}).to_string())
    });
    let arguments =
        json!({"id": {"type": "doi", "id": "10.5555/x"}, "limit": 700, "cursor": "100"});
    for role in ["role:citations", "role:references"] {
        let linked = call(role, &arguments, &host).unwrap();
        assert_eq!(
            linked["links"][0],
            json!({"work": {"ids": {"s2": "b".repeat(40)}, "type": "document", "title": "A desk",
                "source": "semanticscholar"}, "contexts": ["As shown [1]."],
                "intents": ["background"], "influential": true})
        );
        assert_eq!(linked["next_cursor"], "100");
    }
    let urls: Vec<String> = host.requests().into_iter().map(|request| request.url).collect();
    assert!(urls[0].starts_with(&format!("{PAPER}/DOI:10.5555/x/citations?fields=contexts,")));
    assert!(urls[1].contains("/references?"));
    assert!(urls[1].ends_with("&offset=100&limit=500"), "{}", urls[1]);
}

#[test]
fn links_of_an_unknown_paper_are_not_found() {
    let host =
        FakeHost::new(|_: &Request| answer(404, r#"{"error": "Paper with id 0 not found"}"#));
    let arguments = json!({"id": {"type": "doi", "id": "10.5555/x"}, "limit": 3});
    assert_eq!(call("role:citations", &arguments, &host).unwrap_err().code, Code::NotFound);
    let unsupported = json!({"id": {"type": "openalex", "id": "W1"}, "limit": 3});
    assert_eq!(
        call("role:citations", &unsupported, &host).unwrap_err().code,
        Code::InvalidArguments
    );
}

#[test]
fn the_key_is_a_header_and_goes_to_semantic_scholar_only() {
    let manifest: Value = serde_json::from_str(&SemanticScholar::manifest().to_json()).unwrap();
    assert_eq!(manifest["secrets"][0]["hosts"], json!(["api.semanticscholar.org"]));
    assert_eq!(manifest["secrets"][0]["attach"], json!({"header": "x-api-key"}));
    assert_eq!(manifest["hosts"][0]["pace"]["interval_ms"], 1000);
    assert_eq!(manifest["tools"], json!([]));
}
