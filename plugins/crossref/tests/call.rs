//! The tools against a fake Crossref.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_crossref::Crossref;
use carrel_pdk::testing::{FakeHost, Outcome, answer, failure};
use carrel_pdk::{Code, Error, FailureKind, Plugin, Request, percent};
use serde_json::{Value, json};

fn call<F: Fn(&Request) -> Outcome>(
    tool: &str,
    arguments: &Value,
    host: &FakeHost<F>,
) -> Result<Value, Error> {
    let json = Crossref::call(tool, &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).unwrap())
}

fn work(item: &Value) -> Outcome {
    answer(200, json!({"status": "ok", "message-type": "work", "message": item}).to_string())
}

fn many(items: &[Value]) -> Outcome {
    let message = json!({"total-results": items.len(), "items-per-page": 20, "items": items});
    answer(
        200,
        json!({"status": "ok", "message-type": "work-list", "message": message}).to_string(),
    )
}

fn missing() -> Outcome {
    answer(404, "Resource not found.")
}

fn urls<F: Fn(&Request) -> Outcome>(host: &FakeHost<F>) -> Vec<String> {
    host.requests().into_iter().map(|request| request.url).collect()
}

/// The percent-decoded path or query.
fn decoded(request: &Request) -> String {
    percent::decode(&request.url).into_owned()
}

#[test]
fn a_search_is_one_request_and_leaves_references_out() {
    let item = json!({"DOI": "10.5555/a", "type": "book", "reference": [{"key": "1"}],
        "reference-count": 1});
    let host = FakeHost::new(|_: &Request| many(std::slice::from_ref(&item)));
    let page = call("works", &json!({"query": "desks", "rows": 3}), &host).unwrap();
    assert_eq!(urls(&host), ["https://api.crossref.org/works?query=desks&rows=3"]);
    assert_eq!(page["works"][0]["references_count"], 1);
    assert_eq!(page["works"][0].get("references"), None);
    let selected = json!({"query": "desks", "select": ["DOI", "reference"]});
    let page = call("works", &selected, &host).unwrap();
    assert_eq!(page["works"][0]["references"], json!([{"key": "1"}]));
}

#[test]
fn a_cursor_continues_until_a_page_is_empty() {
    let pages = |items: &[Value]| {
        let message = json!({"total-results": 1, "items-per-page": 20, "items": items,
            "next-cursor": "abc+/="});
        answer(200, json!({"message-type": "work-list", "message": message}).to_string())
    };
    let host = FakeHost::new(|request: &Request| {
        if request.url.contains("cursor=%2A") {
            pages(&[json!({"DOI": "10.5555/a"})])
        } else {
            pages(&[])
        }
    });
    let first = call("works", &json!({"cursor": "*"}), &host).unwrap();
    assert_eq!(first["next_cursor"], "abc+/=");
    let last = call("works", &json!({"cursor": "abc+/="}), &host).unwrap();
    assert_eq!(last.get("next_cursor"), None);
    assert!(host.requests().iter().all(|request| request.refresh));
    assert!(host.requests()[1].url.ends_with("cursor=abc%2B/%3D"));
}

#[test]
fn any_spelling_of_a_doi_asks_for_the_same_work() {
    let host = FakeHost::new(|_: &Request| work(&json!({"DOI": "10.5555/a(b)c;d<e>"})));
    for doi in [
        "10.5555/a(b)c;d<e>",
        "doi:10.5555/a(b)c;d<e>",
        "https://doi.org/10.5555/a(b)c;d%3Ce%3E",
        " http://dx.doi.org/10.5555/a(b)c%3Bd%3Ce%3E ",
    ] {
        let result = call("work", &json!({"doi": doi}), &host).unwrap();
        assert_eq!(result["work"]["ids"]["doi"], "10.5555/a(b)c;d<e>");
    }
    for url in urls(&host) {
        assert_eq!(url, "https://api.crossref.org/works/10.5555%2Fa%28b%29c%3Bd%3Ce%3E");
    }
}

#[test]
fn the_agency_of_a_foreign_doi_is_named() {
    let host = FakeHost::new(|request: &Request| {
        if request.url.ends_with("/agency") {
            let agency =
                json!({"DOI": "10.5555/x", "agency": {"id": "datacite", "label": "DataCite"}});
            answer(200, json!({"message-type": "work-agency", "message": agency}).to_string())
        } else {
            missing()
        }
    });
    let error = call("work", &json!({"doi": "10.5555/x"}), &host).unwrap_err();
    assert_eq!(error.code, Code::NotFound);
    assert_eq!(
        error.message,
        "Crossref has no work with the DOI 10.5555/x; it is registered with DataCite, not with Crossref"
    );
    let host = FakeHost::new(|_: &Request| missing());
    let error = call("work", &json!({"doi": "10.5555/x"}), &host).unwrap_err();
    assert_eq!(error.message, "Crossref has no work with the DOI 10.5555/x");
}

#[test]
fn every_failure_of_the_host_has_its_code() {
    for (kind, code) in [
        (FailureKind::Denied { reason: "x".into(), grant: "y".into() }, Code::Denied),
        (FailureKind::Timeout { milliseconds: 5 }, Code::Timeout),
        (FailureKind::RateLimited { seconds: 12.5 }, Code::RateLimited),
        (FailureKind::TooLarge { cap: 1 }, Code::TooLarge),
        (FailureKind::Unreachable { status: 502 }, Code::UpstreamUnavailable),
        (FailureKind::Undecodable, Code::UpstreamInvalid),
    ] {
        let host = FakeHost::new(|_: &Request| failure(kind.clone(), "what happened"));
        for (tool, arguments) in [
            ("works", json!({"query": "x"})),
            ("work", json!({"doi": "10.5555/x"})),
            ("updates", json!({"doi": "10.5555/x"})),
            ("citation_match", json!({"citation": "x"})),
        ] {
            let error = call(tool, &arguments, &host).unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (code, "what happened"), "{tool}");
        }
    }
}

#[test]
fn every_status_has_its_code() {
    let failed = r#"{"status":"failed","message-type":"validation-failure",
        "message":[{"type":"t","message":"no such filter"}]}"#;
    for (status, body, code) in [
        (200, "<html>", Code::UpstreamInvalid),
        (200, failed, Code::UpstreamError),
        (400, failed, Code::UpstreamError),
        (400, "<html>", Code::UpstreamError),
        (404, failed, Code::UpstreamError),
        (404, "<html>", Code::UpstreamUnavailable),
        (410, "", Code::UpstreamUnavailable),
        (429, "", Code::RateLimited),
        (500, failed, Code::UpstreamUnavailable),
        (503, "<html>", Code::UpstreamUnavailable),
    ] {
        let host = FakeHost::new(|_: &Request| answer(status, body));
        let error = call("works", &json!({"query": "x"}), &host).unwrap_err();
        assert_eq!(error.code, code, "{status} {body}: {error}");
        if code == Code::UpstreamError && body == failed {
            assert!(error.message.contains("no such filter"), "{error}");
        }
    }
}

#[test]
fn a_retraction_is_found_from_either_side() {
    let update = |source: Value| {
        json!({"DOI": "10.5555/w", "type": "retraction", "source": source,
        "updated": {"date-parts": [[2026, 6, 1]]}})
    };
    let notice =
        json!({"DOI": "10.5555/n", "title": ["Retraction"], "update-to": [update(Value::Null)]});
    let by = json!({"DOI": "10.5555/n", "type": "retraction", "source": "retraction-watch",
        "updated": {"date-parts": [[2026, 6, 1]]}});
    for (in_work, in_notice) in [(true, false), (false, true), (true, true)] {
        let host = FakeHost::new(|request: &Request| {
            if request.url.contains("filter=updates:") {
                if in_notice { many(std::slice::from_ref(&notice)) } else { many(&[]) }
            } else {
                let by = if in_work { json!([by]) } else { json!([]) };
                work(&json!({"DOI": "10.5555/w", "title": ["Work"], "updated-by": by}))
            }
        });
        let fate = call("updates", &json!({"doi": "10.5555/W"}), &host).unwrap();
        assert_eq!(fate["is_retracted"], true, "{in_work} {in_notice}");
        assert_eq!(fate["title"], "Work");
        let updates = fate["updates"].as_array().unwrap();
        assert_eq!(updates.len(), 1, "{fate}");
        assert_eq!(updates[0]["notice_doi"], "10.5555/n");
        assert_eq!(updates[0]["date"], "2026-06-01");
        assert_eq!(updates[0].get("source").is_some(), in_work);
        let locations = updates[0]["found_in"].as_array().unwrap().len();
        assert_eq!(locations, usize::from(in_work) + usize::from(in_notice));
        assert_eq!(
            urls(&host),
            [
                "https://api.crossref.org/works/10.5555%2FW",
                "https://api.crossref.org/works?filter=updates:10.5555/W&rows=100"
            ]
        );
    }
}

#[test]
fn half_an_answer_about_retractions_is_an_error_and_never_a_clean_record() {
    let arguments = json!({"doi": "10.5555/w"});
    let host = FakeHost::new(|request: &Request| {
        if request.url.contains("filter=") {
            answer(503, "")
        } else {
            work(&json!({"DOI": "10.5555/w"}))
        }
    });
    assert_eq!(call("updates", &arguments, &host).unwrap_err().code, Code::UpstreamUnavailable);
    let host =
        FakeHost::new(
            |request: &Request| {
                if request.url.contains("filter=") { many(&[]) } else { answer(500, "") }
            },
        );
    assert_eq!(call("updates", &arguments, &host).unwrap_err().code, Code::UpstreamUnavailable);
    let host = FakeHost::new(
        |request: &Request| {
            if request.url.contains("filter=") { many(&[]) } else { missing() }
        },
    );
    assert_eq!(call("updates", &arguments, &host).unwrap_err().code, Code::NotFound);
}

#[test]
fn a_doi_with_a_comma_is_requested_once_and_the_gap_is_reported() {
    let host = FakeHost::new(|_: &Request| work(&json!({"DOI": "10.5555/a,b", "type": "book"})));
    let fate = call("updates", &json!({"doi": "10.5555/a,b"}), &host).unwrap();
    assert_eq!(urls(&host), ["https://api.crossref.org/works/10.5555%2Fa%2Cb"]);
    assert!(fate["notices"][0].as_str().unwrap().contains("comma"), "{fate}");
}

#[test]
fn notices_about_a_work_that_is_not_there_are_still_reported() {
    let notice =
        json!({"DOI": "10.5555/n", "update-to": [{"DOI": "10.5555/w", "type": "removal"}]});
    let host = FakeHost::new(|request: &Request| {
        if request.url.contains("filter=") {
            many(std::slice::from_ref(&notice))
        } else {
            missing()
        }
    });
    let fate = call("updates", &json!({"doi": "10.5555/w"}), &host).unwrap();
    assert_eq!(fate["is_retracted"], true);
    assert!(fate["notices"][0].as_str().unwrap().contains("not the work itself"), "{fate}");
}

/// A candidate for a reference.
fn desk(number: u32, title: &str) -> Value {
    json!({"DOI": format!("10.5555/desk.{number}"), "type": "journal-article", "title": [title],
        "author": [{"family": "Núñez", "given": "A."}], "volume": "12", "page": "345-359",
        "container-title": ["Journal of Desks"], "issued": {"date-parts": [[2019, 4]]}})
}

#[test]
fn candidates_are_ranked_by_what_agrees_and_the_rest_is_left_out() {
    let host = FakeHost::new(|_: &Request| {
        many(&[
            desk(1, "A history of chairs in seven volumes"),
            json!({"type": "book", "title": ["On the habits of quiet readers"]}),
            json!({"DOI": "10.5555/review", "title": ["Review for \"On the habits of quiet readers\""]}),
            desk(2, "On the habits of quiet readers"),
            desk(3, "On the habits of quiet readers, part two"),
        ])
    });
    let arguments =
        json!({"citation": "Nunez A (2019) On the habits of quiet readers. Libraries 1, 1"});
    let result = call("citation_match", &arguments, &host).unwrap();
    let found: Vec<&str> = result["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|candidate| candidate["doi"].as_str().unwrap())
        .collect();
    assert_eq!(found[0], "10.5555/desk.2");
    assert!(!found.contains(&"10.5555/desk.1"), "{result}");
    let best = &result["candidates"][0];
    assert_eq!(best["score"], 1.0);
    assert_eq!(best["agreed"], json!(["title", "author", "year"]));
    assert_eq!(best["author"], "Núñez");
    let scores: Vec<f64> = result["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|candidate| candidate["score"].as_f64().unwrap())
        .collect();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]));
    assert!(scores.iter().all(|score| (0.5..=1.0).contains(score)));
    let limited = call(
        "citation_match",
        &json!({"citation": arguments["citation"], "max_candidates": 1}),
        &host,
    );
    assert_eq!(limited.unwrap()["candidates"].as_array().unwrap().len(), 1);
}

#[test]
fn without_agreement_there_is_no_candidate_but_a_notice() {
    let host = FakeHost::new(|_: &Request| many(&[desk(1, "A history of chairs")]));
    let result =
        call("citation_match", &json!({"citation": "Birds of Norway, 1950"}), &host).unwrap();
    assert_eq!(result["candidates"], json!([]));
    assert!(result["notices"][0].as_str().unwrap().contains("nothing"), "{result}");
}

#[test]
fn a_doi_in_the_reference_is_requested_too() {
    let host = FakeHost::new(|request: &Request| {
        if request.url.contains("/works/") { work(&desk(9, "Somewhere else")) } else { many(&[]) }
    });
    let arguments = json!({"citation": "Núñez, Somewhere else, doi:10.5555/desk.9."});
    let result = call("citation_match", &arguments, &host).unwrap();
    assert_eq!(result["candidates"][0]["doi"], "10.5555/desk.9");
    assert!(result["candidates"][0]["agreed"].as_array().unwrap().contains(&json!("doi")));
    let host = FakeHost::new(
        |request: &Request| {
            if request.url.contains("/works/") { missing() } else { many(&[]) }
        },
    );
    let result = call("citation_match", &arguments, &host).unwrap();
    assert!(result["notices"][0].as_str().unwrap().contains("could not confirm"), "{result}");
}

fn ids(dois: &[&str]) -> Value {
    json!({"ids": dois.iter().map(|doi| json!({"type": "doi", "id": doi})).collect::<Vec<_>>()})
}

#[test]
fn a_lookup_of_many_is_one_search_and_single_requests_for_the_rest() {
    let known = ["10.5555/a", "10.5555/B", "10.5555/c", "10.5555/x,y"];
    let host = FakeHost::new(|request: &Request| {
        let url = decoded(request);
        if url.contains("filter=") {
            let found = |doi: &&&str| url.contains(&format!("doi:{doi}").to_lowercase());
            let items: Vec<Value> =
                known.iter().filter(found).map(|doi| json!({"DOI": doi})).collect();
            return many(&items);
        }
        match known.iter().find(|doi| url.ends_with(*doi)) {
            Some(doi) => work(&json!({"DOI": doi})),
            None if url.ends_with("/broken") => answer(500, ""),
            None => missing(),
        }
    });
    let dois =
        ["10.5555/a", "10.5555/b", "10.5555/c", "10.5555/x,y", "10.5555/gone", "10.5555/broken"];
    let result = call("lookup", &ids(&dois), &host).unwrap();
    let found: Vec<&str> = result["works"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| w["id"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(found.len() + 2, dois.len(), "{result}");
    assert_eq!(result["not_found"], json!([{"type": "doi", "id": "10.5555/gone"}]));
    assert_eq!(result["failed"][0]["id"]["id"], "10.5555/broken");
    assert_eq!(result["failed"][0]["code"], "upstream_unavailable");
    assert_eq!(host.batches().len(), 2);
    assert_eq!(host.batches()[0].len(), 1);
}

#[test]
fn a_lookup_of_one_is_the_work_s_own_request() {
    let host = FakeHost::new(|_: &Request| work(&json!({"DOI": "10.5555/a"})));
    let result = call("lookup", &ids(&["10.5555/A"]), &host).unwrap();
    assert_eq!(urls(&host), ["https://api.crossref.org/works/10.5555%2FA"]);
    assert_eq!(result["works"][0]["id"]["id"], "10.5555/A");
    assert_eq!(result["works"][0]["work"]["ids"]["doi"], "10.5555/a");
    assert_eq!(result["not_found"], json!([]));
    assert_eq!(result.get("failed"), None);
}

#[test]
fn what_is_no_doi_fails_without_a_request() {
    let host = FakeHost::new(|_: &Request| missing());
    let arguments = json!({"ids": [{"type": "pmid", "id": "1"}, {"type": "doi", "id": "no"}]});
    let result = call("lookup", &arguments, &host).unwrap();
    assert_eq!(result["failed"].as_array().unwrap().len(), 2);
    assert_eq!(host.requests().len(), 0);
}

#[test]
fn an_unknown_tool_and_format_are_named() {
    let host = FakeHost::new(|_: &Request| missing());
    assert_eq!(call("grants", &json!({}), &host).unwrap_err().code, Code::InvalidArguments);
    assert_eq!(Crossref::parse("journal", "{}").unwrap_err().code, Code::InvalidArguments);
}

#[test]
fn parts_that_cannot_be_read_are_discarded_and_absence_is_not() {
    let host = FakeHost::new(|request: &Request| match decoded(request) {
        url if url.contains("filter=doi:") => answer(200, "<html>busy</html>"),
        url if url.ends_with("/10.5555/a") => answer(200, "{"),
        url if url.ends_with("/10.5555/b") => missing(),
        _ => work(&json!({"DOI": "10.5555/c", "type": "book"})),
    });
    let found = call("lookup", &ids(&["10.5555/a", "10.5555/b", "10.5555/c"]), &host).unwrap();
    assert_eq!(found["not_found"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["failed"].as_array().unwrap().len(), 1, "{found}");
    let discards: Vec<String> = host.discards().iter().map(decoded).collect();
    assert_eq!(discards.len(), 2, "{discards:?}");
    assert!(discards[0].contains("filter=doi:") && discards[1].ends_with("/10.5555/a"));
}

#[test]
fn an_agency_that_cannot_be_read_is_discarded() {
    let host = FakeHost::new(|request: &Request| match request.url.ends_with("/agency") {
        true => answer(200, "<html>busy</html>"),
        false => missing(),
    });
    let error = call("work", &json!({"doi": "10.5555/a"}), &host).unwrap_err();
    assert_eq!(error.code, Code::NotFound);
    assert_eq!(host.discards(), host.requests()[1..]);
}
