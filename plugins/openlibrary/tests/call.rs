//! The reserved tool against a fake upstream.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_openlibrary::OpenLibrary;
use carrel_pdk::testing::{FakeHost, Outcome, answer};
use carrel_pdk::{Error, Plugin, Request};
use serde_json::{Value, json};

fn call<F: Fn(&Request) -> Outcome>(arguments: &Value, host: &FakeHost<F>) -> Result<Value, Error> {
    let json = OpenLibrary::call("lookup", &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).unwrap())
}

fn ids(isbns: &[&str]) -> Value {
    let ids: Vec<Value> = isbns.iter().map(|id| json!({"type": "isbn", "id": id})).collect();
    json!({"ids": ids})
}

#[test]
fn isbns_are_one_request() {
    let host = FakeHost::new(|_: &Request| {
        let book = json!({"title": "The Tidy Desk", "authors": [{"name": "Ada Marlow"}],
            "identifiers": {"isbn_10": ["0306406152"]}});
        answer(200, json!({"ISBN:9780306406157": book}).to_string())
    });
    let arguments = ids(&["9780306406157", "9780439420891", "9780306406158"]);
    let found = call(&arguments, &host).unwrap();
    assert_eq!(found["works"][0]["id"]["id"], "9780306406157");
    assert_eq!(found["works"][0]["work"]["authors"][0]["family"], "Marlow");
    assert_eq!(found["not_found"], json!([{"type": "isbn", "id": "9780439420891"}]));
    assert_eq!(found["failed"][0]["code"], "invalid_arguments");
    let urls: Vec<String> = host.requests().iter().map(|request| request.url.clone()).collect();
    assert_eq!(
        urls,
        [
            "https://openlibrary.org/api/books?bibkeys=ISBN:9780306406157,ISBN:9780439420891&format=json&jscmd=data"
        ]
    );
}

#[test]
fn an_isbn_of_ten_digits_is_the_same_number() {
    let host = FakeHost::new(|_: &Request| {
        answer(200, r#"{"ISBN:9780306406157": {"title": "The Tidy Desk"}}"#.to_owned())
    });
    let found = call(&ids(&["0306406152"]), &host).unwrap();
    assert_eq!(found["works"][0]["id"]["id"], "0306406152");
    assert_eq!(found["works"][0]["work"]["ids"]["isbn"], json!(["9780306406157"]));
}

#[test]
fn an_empty_answer_is_not_found_and_a_failure_fails() {
    for (outcome, member) in [
        (answer(200, "{}"), "not_found"),
        (answer(429, ""), "failed"),
        (answer(200, "<html></html>"), "failed"),
        (answer(503, ""), "failed"),
    ] {
        let host = FakeHost::new(move |_: &Request| outcome.clone());
        let found = call(&ids(&["9780306406157"]), &host).unwrap();
        assert_eq!(found[member].as_array().map(Vec::len), Some(1), "{member}");
    }
}

#[test]
fn other_kinds_are_refused_without_a_request() {
    let host = FakeHost::new(|_: &Request| answer(200, "{}"));
    let found = call(&json!({"ids": [{"type": "doi", "id": "10.5555/a"}]}), &host).unwrap();
    assert_eq!(found["failed"][0]["code"], "invalid_arguments");
    assert!(host.requests().is_empty());
}
