//! Reserved tools and retries, against a fake NCBI.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use std::cell::Cell;

use carrel_eutils::Eutils;
use carrel_pdk::testing::{FakeHost, Outcome, answer, failure};
use carrel_pdk::{Code, Error, FailureKind, Method, Plugin, Request, percent};
use serde_json::{Value, json};

/// The value of a parameter, in the URL or the body.
fn parameter(request: &Request, name: &str) -> Option<String> {
    let text = match request.method {
        Method::Post => request.body.as_str(),
        _ => request.url.split_once('?')?.1,
    };
    let pair = text.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")))?;
    Some(percent::decode(pair).into_owned())
}

fn article(pmid: &str) -> String {
    format!(
        "<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><ArticleTitle>Paper {pmid}.\
         </ArticleTitle><ELocationID EIdType='doi'>10.5555/P.{pmid}</ELocationID></Article>\
         </MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType='pmc'>PMC{pmid}0</ArticleId>\
         </ArticleIdList></PubmedData></PubmedArticle>"
    )
}

/// An NCBI that has articles 1 to 5, of which PMC's converter knows the even ones.
fn ncbi(request: &Request) -> Outcome {
    let body = if request.url.contains("idconv") {
        let ids = parameter(request, "ids").unwrap();
        let records: Vec<Value> = ids
            .split(',')
            .map(|id| {
                let pmid: String = match id.strip_prefix("PMC") {
                    Some(number) => number.trim_end_matches('0').to_owned(),
                    None => id.rsplit('.').next().unwrap().to_owned(),
                };
                if ["2", "4"].contains(&pmid.as_str()) {
                    json!({"requested-id": id, "pmid": pmid, "pmcid": format!("PMC{pmid}0")})
                } else {
                    json!({"requested-id": id, "status": "error", "errmsg": "not in PMC"})
                }
            })
            .collect();
        json!({"status": "ok", "records": records}).to_string()
    } else if request.url.contains("esearch") {
        let term = parameter(request, "term").unwrap();
        let ids: String = (1..=5)
            .filter(|number| term.to_lowercase().contains(&format!("10.5555/p.{number}\"")))
            .map(|number| format!("<Id>{number}</Id>"))
            .collect();
        format!("<eSearchResult><Count>1</Count><IdList>{ids}</IdList></eSearchResult>")
    } else if request.url.contains("einfo") {
        "<eInfoResult><DbInfo><DbName>pubmed</DbName><Count>39</Count><LastUpdate>2025/11/27 06:33\
         </LastUpdate></DbInfo></eInfoResult>"
            .to_owned()
    } else {
        let ids = parameter(request, "id").unwrap();
        let found: String =
            ids.split(',').filter(|id| ("1"..="5").contains(id)).map(article).collect();
        format!("<PubmedArticleSet>{found}</PubmedArticleSet>")
    };
    answer(200, body)
}

fn call<F: Fn(&Request) -> Outcome>(
    tool: &str,
    arguments: &Value,
    host: &FakeHost<F>,
) -> Result<Value, Error> {
    let json = Eutils::call(tool, &arguments.to_string(), host)?;
    Ok(serde_json::from_str(&json).unwrap())
}

fn ids(ids: &[(&str, &str)]) -> Value {
    let ids: Vec<Value> = ids.iter().map(|(kind, id)| json!({"type": kind, "id": id})).collect();
    json!({ "ids": ids })
}

#[test]
fn identifiers_of_every_kind_become_records_in_one_fetch() {
    let host = FakeHost::new(ncbi);
    let arguments = ids(&[
        ("pmid", "1"),
        ("pmid", "9"),
        ("doi", "10.5555/p.2"),
        ("doi", "10.5555/p.3"),
        ("doi", "10.5555/none"),
        ("pmcid", "PMC40"),
    ]);
    let found = call("lookup", &arguments, &host).unwrap();
    let works: Vec<(&str, &str)> = found["works"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            (item["id"]["id"].as_str().unwrap(), item["work"]["ids"]["pmid"].as_str().unwrap())
        })
        .collect();
    assert_eq!(works, [("1", "1"), ("10.5555/p.2", "2"), ("10.5555/p.3", "3"), ("PMC40", "4")]);
    let missing: Vec<&str> = found["not_found"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id["id"].as_str().unwrap())
        .collect();
    assert_eq!(missing, ["9", "10.5555/none"]);
    assert!(found.get("failed").is_none());
    let fetches = host.requests().iter().filter(|request| request.url.contains("efetch")).count();
    assert_eq!(fetches, 1);
}

#[test]
fn an_unresolved_id_is_failed_and_not_missing() {
    let host = FakeHost::new(|request: &Request| {
        if request.url.contains("efetch") {
            return ncbi(request);
        }
        failure(FailureKind::Unreachable { status: 503 }, "no answer")
    });
    let arguments = ids(&[("pmid", "1"), ("doi", "10.5555/p.2")]);
    let found = call("lookup", &arguments, &host).unwrap();
    assert_eq!(found["works"].as_array().unwrap().len(), 1);
    assert_eq!(found["failed"][0]["id"]["id"], "10.5555/p.2");
    assert_eq!(found["failed"][0]["code"], "upstream_unavailable");

    let host = FakeHost::new(|_: &Request| {
        failure(FailureKind::RateLimited { seconds: 7.0 }, "wait a little")
    });
    let found = call("lookup", &ids(&[("pmid", "1")]), &host).unwrap();
    assert_eq!(found["failed"][0]["code"], "rate_limited");
    assert_eq!(found["failed"][0]["retry_after_seconds"], 7.0);
}

#[test]
fn a_doi_with_a_comma_goes_to_pubmed_and_not_into_a_list() {
    let host = FakeHost::new(ncbi);
    call("lookup", &ids(&[("doi", "10.5555/a,b")]), &host).unwrap();
    assert!(host.requests().iter().all(|request| !request.url.contains("idconv")));
}

#[test]
fn too_many_identifiers_are_refused() {
    let many: Vec<(&str, &str)> = vec![("pmid", "1"); 101];
    let error = call("lookup", &ids(&many), &FakeHost::new(ncbi)).unwrap_err();
    assert_eq!(error.code, Code::InvalidArguments);
}

#[test]
fn resources_describe_the_plugin_and_the_size_of_pubmed() {
    let host = FakeHost::new(ncbi);
    let arguments = |uri: &str, secrets: &[&str]| json!({"uri": uri, "secrets": secrets});
    let info = call("resource", &arguments("pubmed-connect://info", &["api_key"]), &host).unwrap();
    assert_eq!(info["ncbi_compliance"]["api_usage_status"], "NCBI API key in use");
    assert_eq!(info["contact_email"], "not set");
    assert_eq!(
        info["ncbi_compliance"]["tool_identifier"],
        concat!("carrel/", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(info["operational_status"]["ncbi_status"], "Nominal");
    let stats = call("resource", &arguments("pubmed-connect://stats/pubmed", &[]), &host).unwrap();
    assert_eq!(
        (&stats["total_record_count"], &stats["database_name"]),
        (&json!(39), &json!("pubmed"))
    );
    let down = FakeHost::new(|_: &Request| {
        failure(FailureKind::Unreachable { status: 0 }, "no connection")
    });
    let info = call("resource", &arguments("pubmed-connect://info", &[]), &down).unwrap();
    assert_eq!(info["operational_status"]["ncbi_status"], "no connection");
    let error = call("resource", &arguments("pubmed-connect://other", &[]), &host).unwrap_err();
    assert_eq!(error.code, Code::InvalidArguments);
}

#[test]
fn a_backend_that_failed_is_requested_again_past_the_cache() {
    let turn = Cell::new(0);
    let host = FakeHost::new(|request: &Request| {
        turn.set(turn.get() + 1);
        assert_eq!(request.refresh, turn.get() > 1);
        match turn.get() {
            1 => answer(
                200,
                "<eSearchResult><ERROR>Search Backend failed: x</ERROR></eSearchResult>",
            ),
            2 => answer(200, "<eSearchResult><Count>7</Count><IdList/></eSearchResult>"),
            _ => answer(
                200,
                "<eSearchResult><Count>1</Count><IdList><Id>1</Id></IdList></eSearchResult>",
            ),
        }
    });
    let found = call("search", &json!({"query_term": "oak"}), &host).unwrap();
    assert_eq!(found["pmids"], json!(["1"]));
    assert_eq!(host.requests().len(), 3);
}

#[test]
fn a_report_that_will_not_change_is_not_requested_again() {
    let host = FakeHost::new(|_: &Request| {
        answer(200, "<eSearchResult><ERROR>Invalid db name specified: x</ERROR></eSearchResult>")
    });
    let error = call("search", &json!({"query_term": "oak"}), &host).unwrap_err();
    assert_eq!(error.code, Code::UpstreamError);
    assert_eq!(host.requests().len(), 1);
}

#[test]
fn a_part_that_cannot_be_read_is_discarded_and_the_rest_kept() {
    let host = FakeHost::new(|request: &Request| {
        let bad = request.url.contains("esummary");
        let found = "<eSearchResult><Count>1</Count><IdList><Id>1</Id></IdList></eSearchResult>";
        answer(200, if bad { "<html>busy</html>" } else { found })
    });
    let found =
        call("search", &json!({"query_term": "oak", "fetch_brief_summaries": 1}), &host).unwrap();
    assert_eq!(found["notices"].as_array().unwrap().len(), 1, "{found}");
    let discards = host.discards();
    assert!(!discards.is_empty());
    assert!(discards.iter().all(|request| request.url.contains("esummary")), "{discards:?}");
    assert!(discards.iter().all(|request| host.requests().contains(&request.clone())));
}

#[test]
fn an_answer_that_says_there_is_no_such_article_is_not_discarded() {
    let host = FakeHost::new(|_: &Request| answer(200, "<PubmedArticleSet></PubmedArticleSet>"));
    let arguments = json!({"source_pmid": "1", "relationship_type": "citation_formats"});
    assert_eq!(call("related", &arguments, &host).unwrap_err().code, Code::NotFound);
    assert_eq!(host.discards(), []);
}
