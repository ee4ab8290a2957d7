//! The roles `search`, `open_copies` and `references`: used by tools that query several sources.

use carrel_pdk::id::Doi;
use carrel_pdk::lookup::{Answer, Kind};
use carrel_pdk::record::{Agent, Ids, Link as Form, OpenCopy, Reference, Work};
use carrel_pdk::roles::{Found, Link, Linked, Links, Search};
use carrel_pdk::{Error, Host};

use crate::formats::works;
use crate::request;
use crate::response::{self, Asked};
use crate::tools::arguments::{MOST_OFFSET, MOST_ROWS, WorksArguments, invalid};
use crate::tools::{lookup, works::explained};

/// The most references in one answer.
pub(crate) const MOST_REFERENCES: u32 = 1000;

/// Searches by words anywhere in a record.
///
/// # Errors
///
/// As the tool `works`.
pub(crate) fn search(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let requested = Search::read(arguments)?;
    let offset = offset(requested.cursor.as_deref())?;
    let arguments = WorksArguments {
        query: Some(requested.query),
        from_pub_date: requested.year_from.map(|year| format!("{year:04}")),
        until_pub_date: requested.year_to.map(|year| format!("{year:04}")),
        rows: requested.limit.min(MOST_ROWS),
        offset,
        ..WorksArguments::default()
    };
    let response = response::ask_one(host, request::works(&arguments)?)?;
    let mut page = response::read(&response, Asked::ForMatches, works::works)?;
    page.works.iter_mut().for_each(|work| {
        work.references = Vec::new();
        add_open_copies(work);
    });
    let end = offset.saturating_add(u32::try_from(page.works.len()).unwrap_or(u32::MAX));
    let more = page.total_results.is_some_and(|total| u64::from(end) < total)
        && end <= MOST_OFFSET
        && !page.works.is_empty();
    let found = Found {
        total: page.total_results,
        works: page.works,
        next_cursor: more.then(|| end.to_string().into()),
    };
    Ok(found.to_json())
}

/// Finds copies that are free to read, by DOI.
///
/// # Errors
///
/// As the reserved tool `lookup`.
pub(crate) fn open_copies(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    lookup::run_with(arguments, host, |answer: &mut Answer<'_>| {
        for (_, work) in &mut answer.works {
            work.references = Vec::new();
            add_open_copies(work);
        }
    })
}

/// Lists what a work cites, as its publisher deposited it.
///
/// # Errors
///
/// As the tool `work`; `invalid_arguments` for identifiers that are not DOIs.
pub(crate) fn references(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let requested = Links::read(arguments)?;
    let doi = match requested.id.kind {
        Kind::Doi => Doi::parse(&requested.id.id).map_err(|error| invalid(error.to_string()))?,
        kind => return Err(invalid(format!("id: expected a doi but found a {}", kind.as_str()))),
    };
    let start = offset(requested.cursor.as_deref())? as usize;
    let response = response::ask_one(host, request::work(&doi))?;
    let work = response::read(&response, Asked::ForWork, works::work)
        .map_err(|error| explained(error, &doi, host))?
        .work;
    let total = work.references.len();
    let limit = requested.limit.min(MOST_REFERENCES) as usize;
    let end = start.saturating_add(limit).min(total);
    let links = work.references.into_iter().skip(start).take(limit);
    let linked = Linked {
        total: Some(total as u64),
        links: links.map(|reference| Link { work: cited(reference), ..Link::default() }).collect(),
        next_cursor: (end < total).then(|| end.to_string().into()),
    };
    Ok(linked.to_json())
}

fn offset(cursor: Option<&str>) -> Result<u32, Error> {
    cursor.map_or(Ok(0), |cursor| {
        let offset = cursor.parse().ok().filter(|&offset| offset <= MOST_OFFSET);
        offset.ok_or_else(|| invalid(format!("cursor: {cursor:?} is none of this role")))
    })
}

/// The record of a work that is known only from a reference.
fn cited(reference: Reference<'_>) -> Work<'_> {
    let year = reference.year.filter(|year| year.len() >= 4 && year.is_char_boundary(4));
    let issued = year.map(|year| year[..4].to_owned());
    Work {
        ids: Ids { doi: reference.doi, ..Ids::default() },
        kind: "document".into(),
        title: reference.title.or(reference.unstructured),
        authors: reference
            .author
            .map(|name| Agent { literal: Some(name), ..Agent::default() })
            .into_iter()
            .collect(),
        container_title: reference.container_title,
        issued: issued.filter(|year| year.bytes().all(|b| b.is_ascii_digit())).map(Into::into),
        source: "crossref".into(),
        ..Work::default()
    }
}

/// Adds the publisher's own copies of a work under a Creative Commons licence. Crossref's other
/// links are for text mining or may be behind a paywall.
fn add_open_copies(work: &mut Work<'_>) {
    let is_open = |url: &str| url.contains("creativecommons.org/");
    let Some(licence) = work.licenses.iter().find(|licence| is_open(&licence.url)) else {
        return;
    };
    work.is_oa = Some(true);
    let licence = licence.url.clone();
    let version = |form: &Form<'_>| match form.version.as_deref() {
        Some("vor") => Some("publishedVersion"),
        Some("am") => Some("acceptedVersion"),
        _ => None,
    };
    work.open_copies = work
        .links
        .iter()
        .filter(|form| form.application.as_deref().is_none_or(|purpose| purpose == "unspecified"))
        .filter_map(|form| {
            let kind = match form.content_type.as_deref()? {
                "application/pdf" => "pdf",
                "text/html" => "html",
                "application/xml" | "text/xml" => "xml",
                _ => return None,
            };
            Some(OpenCopy {
                url: form.url.clone(),
                kind: kind.into(),
                host_type: Some("publisher".into()),
                version: version(form).map(Into::into),
                license: Some(licence.clone()),
                landing_url: work.url.clone(),
            })
        })
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use carrel_pdk::Code;
    use carrel_pdk::testing::{FakeHost, answer};
    use serde_json::{Value, json};

    fn item() -> Value {
        json!({
            "DOI": "10.5555/desk", "type": "journal-article", "title": ["Desks"],
            "license": [{"URL": "https://creativecommons.org/licenses/by/4.0/"}],
            "link": [
                {"URL": "https://example.org/a.pdf", "content-type": "application/pdf",
                    "content-version": "vor", "intended-application": "unspecified"},
                {"URL": "https://example.org/mine.xml", "content-type": "text/xml",
                    "intended-application": "text-mining"},
            ],
            "reference": [
                {"key": "1", "DOI": "10.5555/lamp", "year": "1999a"},
                {"key": "2", "unstructured": "A. Writer, On lamps."},
                {"key": "3", "article-title": "Chairs", "author": "Sitter"},
            ],
        })
    }

    fn parsed(text: Result<String, Error>) -> Value {
        serde_json::from_str(&text.unwrap()).unwrap()
    }

    #[test]
    fn a_search_keeps_to_years_and_marks_what_is_open() {
        let page = json!({"status": "ok", "message-type": "work-list", "message": {
            "total-results": 90, "items-per-page": 1, "items": [item()]
        }});
        let host = FakeHost::new(move |_| answer(200, page.to_string()));
        let arguments = r#"{"query": "desks", "limit": 500, "year_from": 1999, "cursor": "20"}"#;
        let found = parsed(search(arguments, &host));
        let url = &host.requests()[0].url;
        assert!(url.contains("query=desks&filter=from-pub-date:1999&rows=100&offset=20"), "{url}");
        assert_eq!((&found["total"], &found["next_cursor"]), (&json!(90), &json!("21")));
        let work = &found["works"][0];
        assert_eq!(work["is_oa"], true);
        assert_eq!(work["open_copies"].as_array().unwrap().len(), 1);
        assert_eq!(work["open_copies"][0]["version"], "publishedVersion");
        assert!(work.get("references").is_none());
    }

    #[test]
    fn references_come_in_pages() {
        let work = json!({"status": "ok", "message-type": "work", "message": item()});
        let host = FakeHost::new(move |_| answer(200, work.to_string()));
        let ask = |cursor: &str| {
            let arguments =
                format!(r#"{{"id": {{"type": "doi", "id": "10.5555/desk"}}, "limit": 2{cursor}}}"#);
            parsed(references(&arguments, &host))
        };
        let first = ask("");
        assert_eq!((&first["total"], &first["next_cursor"]), (&json!(3), &json!("2")));
        assert_eq!(first["links"][0]["work"]["ids"]["doi"], "10.5555/lamp");
        assert_eq!(first["links"][0]["work"]["issued"], "1999");
        assert_eq!(first["links"][1]["work"]["title"], "A. Writer, On lamps.");
        let last = ask(r#", "cursor": "2""#);
        assert_eq!(last["links"][0]["work"]["authors"][0]["literal"], "Sitter");
        assert!(last.get("next_cursor").is_none());
    }

    #[test]
    fn a_work_without_an_open_licence_has_no_open_copies() {
        let mut closed = item();
        closed["license"] = json!([{"URL": "https://example.org/terms"}]);
        let work = json!({"status": "ok", "message-type": "work", "message": closed});
        let host = FakeHost::new(move |_| answer(200, work.to_string()));
        let arguments = r#"{"ids": [{"type": "doi", "id": "10.5555/desk"}]}"#;
        let found = parsed(open_copies(arguments, &host));
        assert!(found["works"][0]["work"].get("is_oa").is_none());
        assert!(found["works"][0]["work"].get("open_copies").is_none());
    }

    #[test]
    fn other_identifiers_and_cursors_are_refused() {
        let host = FakeHost::new(|_| answer(200, "{}"));
        let pmid = r#"{"id": {"type": "pmid", "id": "1"}, "limit": 2}"#;
        assert_eq!(references(pmid, &host).unwrap_err().code, Code::InvalidArguments);
        let cursor = r#"{"query": "desks", "limit": 2, "cursor": "x"}"#;
        assert_eq!(search(cursor, &host).unwrap_err().code, Code::InvalidArguments);
        assert!(host.requests().is_empty());
    }
}
