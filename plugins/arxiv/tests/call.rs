//! The tool `query` against a fake arXiv.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use std::cell::Cell;
use std::fmt::Write as _;

use carrel_arxiv::Arxiv;
use carrel_pdk::testing::{FakeHost, Outcome, answer, failure};
use carrel_pdk::{Code, Error, FailureKind, Method, Plugin, Request, percent};
use serde_json::{Value, json};

/// The value of a query parameter of a URL.
fn parameter(url: &str, name: &str) -> Option<String> {
    let query = url.split_once('?')?.1;
    let pair = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")))?;
    Some(percent::decode(pair).into_owned())
}

fn entry(id: &str) -> String {
    // Later numbers were submitted earlier, so that sorting is not the order of the list.
    let number: u32 = id.split(['.', 'v']).nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    let day =
        |year: u32| format!("{year}-{:02}-{:02}T00:00:00Z", 12 - number % 12, 28 - number % 28);
    let id = if id.contains('v') { id.to_owned() } else { format!("{id}v1") };
    format!(
        "<entry><id>http://arxiv.org/abs/{id}</id><title>Paper {id}</title><summary>About {id}.</summary>\
         <published>{}</published><updated>{}</updated></entry>",
        day(2020),
        day(2021)
    )
}

fn feed(total: usize, start: usize, per_page: usize, entries: &str) -> String {
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:o='http://a9.com/-/spec/opensearch/1.1/'>\
         <o:totalResults>{total}</o:totalResults><o:startIndex>{start}</o:startIndex>\
         <o:itemsPerPage>{per_page}</o:itemsPerPage>{entries}</feed>"
    )
}

/// An arXiv that has the papers whose number does not end in 7, and sources of the even ones.
fn arxiv(request: &Request) -> Outcome {
    if request.method == Method::Head {
        let even = request.url.trim_end_matches("v1").ends_with(['0', '2', '4', '6', '8']);
        return answer(if even { 200 } else { 404 }, "");
    }
    let number = |name: &str| parameter(&request.url, name).unwrap().parse::<usize>().unwrap();
    let (start, most) = (number("start"), number("max_results"));
    let ids = parameter(&request.url, "id_list")
        .unwrap_or_else(|| (0..50).map(|n| format!("2301.{n:05}")).collect::<Vec<_>>().join(","));
    let found: Vec<&str> =
        ids.split(',').filter(|id| !id.trim_end_matches("v1").ends_with('7')).collect();
    let mut entries = String::new();
    for id in found.iter().skip(start).take(most) {
        entries.push_str(&entry(id));
    }
    answer(200, feed(found.len(), start, most, &entries))
}

fn list(count: usize) -> String {
    (0..count).map(|number| format!("2301.{number:05}")).collect::<Vec<_>>().join(",")
}

fn call<F: Fn(&Request) -> Outcome>(arguments: &Value, host: &FakeHost<F>) -> Result<Value, Error> {
    let json = Arxiv::call("query", &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).unwrap())
}

fn refused(arguments: &Value, outcome: impl Fn() -> Outcome) -> Error {
    call(arguments, &FakeHost::new(|_| outcome())).unwrap_err()
}

fn ids(page: &Value) -> Vec<String> {
    let entries = page["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_search_is_one_request_and_one_batch_of_heads() {
    let host = FakeHost::new(arxiv);
    let page = call(&json!({"search_query": "all:x", "max_results": 3}), &host).unwrap();
    let batches = host.batches();
    assert_eq!(batches.len(), 2);
    assert_eq!(
        batches[0],
        [Request::get(
            "https://export.arxiv.org/api/query?search_query=all:x&start=0&max_results=3"
        )]
    );
    let heads: Vec<&str> = batches[1].iter().map(|request| request.url.as_str()).collect();
    assert_eq!(
        heads,
        [
            "https://arxiv.org/e-print/2301.00000v1",
            "https://arxiv.org/e-print/2301.00001v1",
            "https://arxiv.org/e-print/2301.00002v1"
        ]
    );
    assert_eq!(page["entries"][0]["source_url"], "https://arxiv.org/e-print/2301.00000v1");
    assert_eq!(page["entries"][1].get("source_url"), None);
    assert_eq!(page["entries"][2]["source_url"], "https://arxiv.org/e-print/2301.00002v1");
    assert_eq!(page["total_results"], 45);
    assert_eq!(page["next_start"], 3);
    assert_eq!(page.get("notices"), None);
    assert_eq!(host.progress_reports(), [(0, 2), (1, 2), (2, 2)]);
}

#[test]
fn without_verification_no_link_is_checked() {
    let host = FakeHost::new(arxiv);
    let arguments = json!({"search_query": "all:x", "verify_source_url": false});
    let page = call(&arguments, &host).unwrap();
    assert_eq!(host.requests().len(), 1);
    assert!(page["entries"].as_array().unwrap().iter().all(|e| e.get("source_url").is_none()));
    assert_eq!(page.get("notices"), None);
}

#[test]
fn links_that_could_not_be_checked_are_left_out_with_a_notice() {
    let heads = Cell::new(0);
    let host = FakeHost::new(|request: &Request| {
        if request.method == Method::Get {
            return arxiv(request);
        }
        heads.set(heads.get() + 1);
        if heads.get() > 2 {
            return failure(FailureKind::RateLimited { seconds: 4.2 }, "busy");
        }
        arxiv(request)
    });
    let page = call(&json!({"search_query": "all:x", "max_results": 5}), &host).unwrap();
    assert_eq!(page["entries"][0]["source_url"], "https://arxiv.org/e-print/2301.00000v1");
    assert_eq!(page["entries"][2].get("source_url"), None);
    assert_eq!(
        page["notices"],
        json!([
            "source_url was not checked for 3 of 5 entries: arXiv's pace leaves no time; ask again in 5 s (2301.00002v1, 2301.00003v1, 2301.00004v1)"
        ])
    );
}

#[test]
fn each_link_that_was_not_checked_says_why() {
    let host = FakeHost::new(|request: &Request| {
        match request.url.rsplit('/').next().unwrap_or_default() {
            "2301.00000v1" => answer(503, ""),
            "2301.00001v1" => failure(FailureKind::Unreachable { status: 0 }, "dropped"),
            "2301.00002v1" => failure(FailureKind::Timeout { milliseconds: 1 }, "late"),
            "2301.00003v1" => answer(403, ""),
            _ => arxiv(request),
        }
    });
    let page = call(&json!({"search_query": "all:x", "max_results": 6}), &host).unwrap();
    let notices: Vec<&str> =
        page["notices"].as_array().unwrap().iter().map(|notice| notice.as_str().unwrap()).collect();
    for (notice, (id, words)) in notices.iter().zip([
        ("2301.00000v1", "arXiv answered with status 503"),
        ("2301.00001v1", "the connection failed or was dropped"),
        ("2301.00002v1", "the call's time was up"),
        ("2301.00003v1", "arXiv answered with status 403"),
    ]) {
        assert_eq!(
            *notice,
            format!("source_url was not checked for 1 of 6 entries: {words} ({id})")
        );
    }
    assert_eq!(notices.len(), 4);
    assert!(page["entries"][4].get("source_url").is_some());
}

#[test]
fn a_site_that_is_not_granted_or_broken_costs_only_the_links() {
    let host = FakeHost::new(|request: &Request| match request.method {
        Method::Get => arxiv(request),
        _ => {
            let kind = FailureKind::Denied { reason: String::new(), grant: String::new() };
            failure(kind, "a redirect leads off the list")
        }
    });
    let page = call(&json!({"search_query": "all:x", "max_results": 2}), &host).unwrap();
    assert_eq!(
        page["notices"],
        json!([
            "source_url was not checked for 2 of 2 entries: a redirect leads off the list (2301.00000v1, 2301.00001v1)"
        ])
    );
    let host = FakeHost::new(|request: &Request| match request.method {
        Method::Get => arxiv(request),
        _ => answer(503, ""),
    });
    let page = call(&json!({"search_query": "all:x", "max_results": 2}), &host).unwrap();
    assert_eq!(
        page["notices"],
        json!([
            "source_url was not checked for 2 of 2 entries: arXiv answered with status 503 (2301.00000v1, 2301.00001v1)"
        ])
    );
}

#[test]
fn an_id_of_the_feed_s_own_making_is_never_put_into_an_address() {
    let body = feed(2, 0, 10, "<entry><id>http://arxiv.org/abs/../../evil?x=</id></entry><entry/>");
    let host = FakeHost::new(|_: &Request| answer(200, body.clone()));
    let page = call(&json!({"search_query": "all:x"}), &host).unwrap();
    assert_eq!(host.requests().len(), 1);
    assert_eq!(ids(&json!({"entries": [page["entries"][0]]})), ["../../evil?x="]);
}

#[test]
fn every_failure_of_the_host_has_its_code() {
    let arguments = json!({"search_query": "all:x"});
    for (kind, code, seconds) in [
        (FailureKind::Denied { reason: "x".into(), grant: "y".into() }, Code::Denied, None),
        (FailureKind::Timeout { milliseconds: 5 }, Code::Timeout, None),
        (FailureKind::RateLimited { seconds: 12.5 }, Code::RateLimited, Some(12.5)),
        (FailureKind::TooLarge { cap: 1 }, Code::TooLarge, None),
        (FailureKind::Unreachable { status: 502 }, Code::UpstreamUnavailable, None),
        (FailureKind::Undecodable, Code::UpstreamInvalid, None),
    ] {
        let error = refused(&arguments, || failure(kind.clone(), "what happened"));
        assert_eq!((error.code, error.retry_after_seconds), (code, seconds));
        assert_eq!(error.message, "what happened");
    }
}

#[test]
fn every_status_has_its_code() {
    let arguments = json!({"search_query": "all:x"});
    for (status, code) in [
        (400, Code::UpstreamError),
        (403, Code::UpstreamError),
        (404, Code::UpstreamUnavailable),
        (410, Code::UpstreamUnavailable),
        (429, Code::RateLimited),
        (500, Code::UpstreamUnavailable),
        (503, Code::UpstreamUnavailable),
        (304, Code::UpstreamInvalid),
    ] {
        let error = refused(&arguments, || answer(status, "<html>no feed</html>"));
        assert_eq!(error.code, code, "{status}: {error}");
    }
}

#[test]
fn arxivs_own_report_is_passed_on_whatever_the_status() {
    let report = "<entry><id>https://arxiv.org/api/errors#incorrect_id_format_for_abc</id>\
                  <title>Error</title><summary>incorrect id format for abc</summary></entry>";
    for status in [200, 400, 500] {
        let body = feed(1, 0, 1, report);
        let error = refused(&json!({"id_list": "abc"}), || answer(status, body.clone()));
        assert_eq!(error.code, Code::UpstreamError);
        assert!(error.message.contains("incorrect id format for abc"), "{error}");
    }
}

#[test]
fn a_page_of_html_with_status_200_is_an_invalid_answer_with_its_place() {
    let error = refused(&json!({"search_query": "x"}), || answer(200, "<html><p>Busy</p></html>"));
    assert_eq!(error.code, Code::UpstreamInvalid);
    assert_eq!(error.message, "arXiv's answer is no feed: expected an Atom feed but found <html>");
    assert_eq!(error.position.unwrap().offset, 0);
}

#[test]
fn an_empty_page_in_the_middle_is_requested_again_past_the_cache() {
    let requests = Cell::new(0);
    let host = FakeHost::new(|request: &Request| {
        requests.set(requests.get() + 1);
        if requests.get() < 3 { answer(200, feed(45, 20, 10, "")) } else { arxiv(request) }
    });
    let arguments = json!({"search_query": "all:x", "start": 20, "verify_source_url": false});
    let page = call(&arguments, &host).unwrap();
    assert_eq!(page["entries"].as_array().unwrap().len(), 10);
    let refreshed: Vec<bool> = host.requests().iter().map(|request| request.refresh).collect();
    assert_eq!(refreshed, [false, true, true]);
}

#[test]
fn a_page_that_stays_empty_is_an_error_and_never_no_results() {
    let host = FakeHost::new(|_: &Request| answer(200, feed(45, 20, 10, "")));
    let error = call(&json!({"search_query": "all:x", "start": 20}), &host).unwrap_err();
    assert_eq!(error.code, Code::UpstreamInvalid);
    assert_eq!(error.message, "arXiv answered with an empty page at 20 of 45 results");
    assert_eq!(host.requests().len(), 3);
}

#[test]
fn a_start_behind_the_last_result_is_an_empty_page() {
    let host = FakeHost::new(arxiv);
    let page = call(&json!({"search_query": "all:x", "start": 45}), &host).unwrap();
    assert_eq!(page["total_results"], 45);
    assert_eq!(page["start_index"], 45);
    assert_eq!(page["entries"], json!([]));
    assert_eq!(page.get("next_start"), None);
    assert_eq!(host.requests().len(), 1);
}

#[test]
fn ids_that_do_not_exist_are_named() {
    let host = FakeHost::new(arxiv);
    let arguments =
        json!({"id_list": "arXiv:2301.00001, 2301.00007, https://arxiv.org/abs/2301.00002v1"});
    let page = call(&arguments, &host).unwrap();
    assert_eq!(
        host.requests()[0].url,
        "https://export.arxiv.org/api/query?id_list=2301.00001,2301.00007,2301.00002v1&start=0&max_results=10"
    );
    assert_eq!(ids(&page), ["2301.00001v1", "2301.00002v1"]);
    assert_eq!(page["not_found"], json!(["2301.00007"]));
    assert_eq!(page.get("notices"), None);
}

#[test]
fn one_unknown_id_is_an_empty_result_that_names_it() {
    let page = call(&json!({"id_list": "2301.00007"}), &FakeHost::new(arxiv)).unwrap();
    assert_eq!(page["total_results"], 0);
    assert_eq!(page["entries"], json!([]));
    assert_eq!(page["not_found"], json!(["2301.00007"]));
}

#[test]
fn absent_ids_are_named_on_whichever_page() {
    for (start, most) in [(0, 5), (5, 5), (15, 5), (50, 5)] {
        let arguments = json!({
            "id_list": list(20), "start": start, "max_results": most, "verify_source_url": false
        });
        let host = FakeHost::new(arxiv);
        let page = call(&arguments, &host).unwrap();
        assert_eq!(page["not_found"], json!(["2301.00007", "2301.00017"]));
        assert_eq!(page["items_per_page"], ids(&page).len());
        assert_eq!(host.requests().len(), 2, "one for the page, one for what is absent");
    }
}

#[test]
fn absent_ids_that_cannot_be_named_are_counted() {
    let host = FakeHost::new(|request: &Request| match request.url.contains("max_results=20") {
        true => answer(503, ""),
        false => arxiv(request),
    });
    let arguments = json!({"id_list": list(20), "max_results": 5, "verify_source_url": false});
    let page = call(&arguments, &host).unwrap();
    let notice = page["notices"][0].as_str().unwrap();
    assert!(notice.starts_with("arXiv has no entry for 2 of the ids"), "{notice}");
    assert_eq!(page.get("not_found"), None, "which, is not known");
}

#[test]
fn ids_of_a_page_that_lacks_entries_are_not_called_absent() {
    let most = "max_results=20";
    let host = FakeHost::new(|request: &Request| match request.url.contains(most) {
        true => answer(200, feed(18, 0, 20, "")),
        false => arxiv(request),
    });
    let arguments = json!({"id_list": list(20), "max_results": 5, "verify_source_url": false});
    let page = call(&arguments, &host).unwrap();
    assert_eq!(page.get("not_found"), None);
    assert_eq!(
        page["notices"],
        json!([
            "arXiv has no entry for 2 of the ids; which, is not known: it returned 0 of 18 entries"
        ])
    );
    assert_eq!(host.discards(), host.requests()[1..]);

    let host = FakeHost::new(|request: &Request| match request.url.contains("2301.00199") {
        true => answer(200, feed(100, 0, 200, "")),
        false => arxiv(request),
    });
    let arguments = json!({"id_list": list(400), "verify_source_url": false});
    assert_eq!(call(&arguments, &host).unwrap().get("not_found"), None);
}

#[test]
fn a_page_without_totals_is_whole_when_it_is_not_full() {
    let body = "<feed xmlns=\"http://www.w3.org/2005/Atom\">".to_owned()
        + &entry("2301.00001")
        + "</feed>";
    let host = FakeHost::new(|_: &Request| answer(200, body.clone()));
    let absent = |arguments| call(&arguments, &host).unwrap().get("not_found").cloned();
    let mut arguments = json!({"id_list": "2301.00001,2301.00007", "verify_source_url": false});
    assert_eq!(absent(arguments.clone()), Some(json!(["2301.00007"])));
    arguments["max_results"] = 1.into();
    assert_eq!(absent(arguments), None);
}

#[test]
fn ids_behind_the_page_and_ids_a_query_filters_out_are_not_called_missing() {
    let host = FakeHost::new(arxiv);
    let page = call(&json!({"id_list": list(7), "max_results": 5}), &host).unwrap();
    assert_eq!(page["not_found"], json!([]));
    assert_eq!(page.get("notices"), None);
    let arguments = json!({"id_list": "2301.00007", "search_query": "all:x"});
    let page = call(&arguments, &FakeHost::new(arxiv)).unwrap();
    assert_eq!((page.get("not_found"), page.get("notices")), (None, None));
}

#[test]
fn a_version_without_metadata_is_reported() {
    let body = feed(1, 0, 10, "<entry><id>http://arxiv.org/abs/2301.00001v9</id></entry>");
    let host = FakeHost::new(|_: &Request| answer(200, body.clone()));
    let arguments = json!({"id_list": "2301.00001v9", "verify_source_url": false});
    let page = call(&arguments, &host).unwrap();
    assert_eq!(
        page["notices"],
        json!(["arXiv returned no metadata for 2301.00001v9; there may be no such version"])
    );
    assert_eq!(page["not_found"], json!(["2301.00001v9"]), "as lookup says");
}

/// The answer of an arXiv without a limit on URLs.
fn model(count: usize, start: usize, most: usize) -> Vec<String> {
    list(count)
        .split(',')
        .filter(|id| !id.ends_with('7'))
        .skip(start)
        .take(most)
        .map(|id| format!("{id}v1"))
        .collect()
}

#[test]
fn a_long_list_is_requested_in_groups_and_paged_as_one() {
    for (start, most) in [(0, 10), (0, 2000), (170, 20), (795, 100), (900, 5), (5000, 10)] {
        let host = FakeHost::new(arxiv);
        let arguments = json!({
            "id_list": list(1000), "start": start, "max_results": most, "verify_source_url": false
        });
        let page = call(&arguments, &host).unwrap();
        assert_eq!(host.batches().len(), 1, "all groups go in one batch");
        assert_eq!(host.requests().len(), 6);
        assert_eq!(page["total_results"], 900);
        assert_eq!(page["start_index"], start);
        assert_eq!(page["items_per_page"], ids(&page).len());
        assert_eq!(ids(&page), model(1000, start, most));
        let next =
            (start + ids(&page).len() < 900 && start < 900).then(|| start + ids(&page).len());
        assert_eq!(page.get("next_start").and_then(Value::as_u64), next.map(|next| next as u64));
    }
}

#[test]
fn a_long_list_names_all_that_is_missing() {
    let arguments = json!({"id_list": list(400), "verify_source_url": false});
    let page = call(&arguments, &FakeHost::new(arxiv)).unwrap();
    let absent = page["not_found"].as_array().unwrap();
    assert_eq!(absent.len(), 40);
    assert_eq!((&absent[0], &absent[39]), (&json!("2301.00007"), &json!("2301.00397")));
    assert_eq!(page.get("notices"), None);
}

#[test]
fn a_long_list_is_sorted_as_one() {
    for (by, field) in [("submittedDate", "published"), ("lastUpdatedDate", "updated")] {
        for order in ["ascending", "descending"] {
            let arguments = json!({
                "id_list": list(500), "max_results": 2000, "sortBy": by, "sortOrder": order,
                "verify_source_url": false
            });
            let page = call(&arguments, &FakeHost::new(arxiv)).unwrap();
            let entries = page["entries"].as_array().unwrap();
            let dates: Vec<&str> =
                entries.iter().map(|entry| entry[field].as_str().unwrap()).collect();
            let mut sorted = dates.clone();
            sorted.sort_unstable();
            if order == "descending" {
                sorted.reverse();
            }
            assert_eq!(dates.len(), 450);
            assert_eq!(dates, sorted, "{by} {order}");
        }
    }
}

#[test]
fn one_group_that_fails_fails_the_call() {
    let host = FakeHost::new(|request: &Request| {
        if request.url.contains("2301.00399") {
            return failure(FailureKind::RateLimited { seconds: 9.0 }, "later");
        }
        arxiv(request)
    });
    let error = call(&json!({"id_list": list(400)}), &host).unwrap_err();
    assert_eq!((error.code, error.retry_after_seconds), (Code::RateLimited, Some(9.0)));
}

#[test]
fn two_thousand_results_stay_in_one_page() {
    let mut entries = String::new();
    for number in 0..2000 {
        write!(entries, "{}", entry(&format!("2302.{number:05}"))).unwrap();
    }
    let body = feed(2000, 0, 2000, &entries);
    let host = FakeHost::new(|request: &Request| match request.method {
        Method::Get => answer(200, body.clone()),
        _ => answer(200, ""),
    });
    let page = call(&json!({"search_query": "all:x", "max_results": 2000}), &host).unwrap();
    assert_eq!(page["entries"].as_array().unwrap().len(), 2000);
    assert_eq!(host.batches()[1].len(), 2000);
    assert_eq!(page["entries"][1999]["source_url"], "https://arxiv.org/e-print/2302.01999v1");
}

#[test]
fn unknown_tools_and_formats_are_argument_errors() {
    let host = FakeHost::new(arxiv);
    assert_eq!(Arxiv::call("nope", "{}", &host).unwrap_err().code, Code::InvalidArguments);
    assert_eq!(Arxiv::parse("nope", "").unwrap_err().code, Code::InvalidArguments);
}

#[test]
fn a_list_of_absent_ids_that_cannot_be_read_is_discarded() {
    let host = FakeHost::new(|request: &Request| match request.url.contains("max_results=20") {
        true => answer(200, "<html>sign in</html>"),
        false => arxiv(request),
    });
    let arguments = json!({"id_list": list(20), "max_results": 5, "verify_source_url": false});
    call(&arguments, &host).unwrap();
    assert_eq!(host.discards(), host.requests()[1..]);
}
