//! The reserved tool `lookup` against a fake arXiv.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_arxiv::Arxiv;
use carrel_pdk::testing::{FakeHost, Outcome, answer, failure};
use carrel_pdk::{Code, FailureKind, Plugin, Request, percent};
use serde_json::{Value, json};

fn ids_of(request: &Request) -> Vec<String> {
    let list = request.url.split("id_list=").nth(1).unwrap().split('&').next().unwrap();
    percent::decode(list).split(',').map(str::to_owned).collect()
}

fn feed(entries: &[String], total: usize) -> Outcome {
    answer(
        200,
        format!(
            "<feed xmlns='http://www.w3.org/2005/Atom' \
             xmlns:o='http://a9.com/-/spec/opensearch/1.1/'>\
             <o:totalResults>{total}</o:totalResults><o:startIndex>0</o:startIndex>{}</feed>",
            entries.concat()
        ),
    )
}

fn entry(id: &str) -> String {
    let id = if id.contains('v') { id.to_owned() } else { format!("{id}v3") };
    format!(
        "<entry><id>http://arxiv.org/abs/{id}</id><title>Paper {id}</title>\
         <published>2020-01-02T00:00:00Z</published><author><name>A. Reader</name></author></entry>"
    )
}

/// An arXiv that has the papers whose number does not end in 7.
fn arxiv(request: &Request) -> Outcome {
    let ids = ids_of(request);
    let entries: Vec<String> =
        ids.iter().filter(|id| !id.ends_with('7')).map(|id| entry(id)).collect();
    feed(&entries, entries.len())
}

fn report(id: &str) -> Outcome {
    answer(
        400,
        format!(
            "<feed xmlns='http://www.w3.org/2005/Atom'><entry>\
             <id>http://arxiv.org/api/errors#incorrect_id_format_for_{id}</id><title>Error</title>\
             <summary>incorrect id format for {id}</summary></entry></feed>"
        ),
    )
}

fn lookup<F: Fn(&Request) -> Outcome>(ids: &[&str], host: &FakeHost<F>) -> Value {
    let ids: Vec<Value> = ids
        .iter()
        .map(|id| json!({"type": if id.starts_with("10.") { "doi" } else { "arxiv" }, "id": id}))
        .collect();
    let arguments = json!({ "ids": ids }).to_string();
    serde_json::from_str(&Arxiv::call("lookup", &arguments, host).unwrap()).unwrap()
}

fn named(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|id| id["id"].as_str().unwrap()).collect()
}

fn found(answer: &Value) -> Vec<(&str, &str)> {
    let works = answer["works"].as_array().unwrap();
    works
        .iter()
        .map(|item| {
            (item["id"]["id"].as_str().unwrap(), item["work"]["ids"]["arxiv"].as_str().unwrap())
        })
        .collect()
}

#[test]
fn ids_are_requested_at_once_and_answered_as_they_were_written() {
    let host = FakeHost::new(arxiv);
    let answer = lookup(
        &[
            "2301.00001",
            "2301.00002v1",
            "hep-ex/0307015",
            "2301.00007",
            "10.48550/arXiv.2301.00003",
        ],
        &host,
    );
    assert_eq!(
        found(&answer),
        [
            ("2301.00001", "2301.00001v3"),
            ("2301.00002v1", "2301.00002v1"),
            ("hep-ex/0307015", "hep-ex/0307015v3"),
            ("10.48550/arXiv.2301.00003", "2301.00003v3"),
        ]
    );
    assert_eq!(named(&answer["not_found"]), ["2301.00007"]);
    assert!(answer.get("failed").is_none());
    assert_eq!(host.requests().len(), 1);
    let work = &answer["works"][0]["work"];
    assert_eq!(work["source_type"], "e-print");
    assert_eq!(work["authors"][0]["literal"], "A. Reader");
}

#[test]
fn a_hundred_ids_are_one_request() {
    let ids: Vec<String> = (0..100).map(|number| format!("2301.{:05}", number * 10)).collect();
    let host = FakeHost::new(arxiv);
    let answer = lookup(&ids.iter().map(String::as_str).collect::<Vec<_>>(), &host);
    assert_eq!(answer["works"].as_array().unwrap().len(), 100);
    assert_eq!(host.requests().len(), 1);
}

#[test]
fn a_paper_looked_up_twice_is_answered_twice_and_requested_once() {
    let host = FakeHost::new(arxiv);
    let answer = lookup(&["2301.00001", "10.48550/arXiv.2301.00001"], &host);
    assert_eq!(answer["works"].as_array().unwrap().len(), 2);
    assert_eq!(ids_of(&host.requests()[0]), ["2301.00001"]);
}

#[test]
fn an_id_that_arxiv_refuses_fails_alone() {
    let host = FakeHost::new(|request| {
        let ids = ids_of(request);
        match ids.iter().find(|id| id.starts_with("bad")) {
            Some(bad) => report(bad),
            None => arxiv(request),
        }
    });
    let answer = lookup(&["2301.00001", "bad/0307015", "2301.00002", "bad-x/0307015"], &host);
    assert_eq!(found(&answer).len(), 2);
    let failed = answer["failed"].as_array().unwrap();
    assert_eq!(failed.len(), 2);
    assert!(failed.iter().all(|error| error["code"] == "upstream_error"), "{failed:?}");
    assert_eq!(host.requests().len(), 3);
}

#[test]
fn a_version_that_does_not_exist_is_not_found() {
    let host = FakeHost::new(|_| {
        feed(&["<entry><id>http://arxiv.org/abs/2301.00001v9</id></entry>".to_owned()], 1)
    });
    assert_eq!(named(&lookup(&["2301.00001v9"], &host)["not_found"]), ["2301.00001v9"]);
    let host = FakeHost::new(|_| feed(&[entry("2301.00001v2")], 1));
    assert_eq!(named(&lookup(&["2301.00001v9"], &host)["not_found"]), ["2301.00001v9"]);
}

#[test]
fn an_empty_page_that_should_not_be_is_never_not_found() {
    let host = FakeHost::new(|_| feed(&[], 2));
    let answer = lookup(&["2301.00001", "2301.00002"], &host);
    assert_eq!(answer["not_found"], json!([]));
    assert_eq!(answer["failed"][1]["code"], "upstream_invalid");
    assert_eq!(host.requests().len(), 3);
    assert!(host.requests()[1].refresh);
}

#[test]
fn a_failure_of_arxiv_is_the_failure_of_every_id() {
    for (outcome, code) in [
        (failure(FailureKind::RateLimited { seconds: 7.0 }, "wait"), "rate_limited"),
        (answer(503, ""), "upstream_unavailable"),
        (answer(200, "<html>"), "upstream_invalid"),
    ] {
        let host = FakeHost::new(|_| outcome.clone());
        let answer = lookup(&["2301.00001", "2301.00002"], &host);
        assert_eq!(answer["works"], json!([]));
        assert_eq!(answer["not_found"], json!([]));
        for error in answer["failed"].as_array().unwrap() {
            assert_eq!(error["code"], code);
        }
    }
}

#[test]
fn what_is_no_arxiv_id_fails_without_a_request() {
    let host = FakeHost::new(arxiv);
    let answer = lookup(&["10.5555/other"], &host);
    assert_eq!(answer["failed"][0]["code"], "invalid_arguments");
    assert!(host.requests().is_empty());
    let error = Arxiv::call("lookup", r#"{"ids": "x"}"#, &host).unwrap_err();
    assert_eq!(error.code, Code::InvalidArguments);
}

#[test]
fn an_answer_that_no_record_can_be_read_from_is_discarded() {
    let host = FakeHost::new(|_: &Request| answer(200, "<html>sign in</html>"));
    let found = lookup(&["2301.00001"], &host);
    assert_eq!(found["failed"][0]["code"], "upstream_invalid");
    assert!(host.discards().contains(&host.requests()[0]));
    let host = FakeHost::new(arxiv);
    assert_eq!(lookup(&["2301.00007"], &host)["not_found"].as_array().unwrap().len(), 1);
    assert_eq!(host.discards(), [], "that there is no such paper could be read");
}
