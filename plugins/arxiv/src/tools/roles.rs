//! The roles `search` and `full_text`: used by tools that query several sources.

use carrel_pdk::id::ArxivId;
use carrel_pdk::record::{OpenCopy, Work};
use carrel_pdk::roles::{Copy, Form, Found, FullText, Search, copies_to_json};
use carrel_pdk::{Code, Error, Host};

use crate::record;
use crate::request::{self, Plan};
use crate::response;
use crate::tools::arguments::QueryArguments;
use crate::tools::query::ask;

/// The most works in one answer.
pub(crate) const MOST: u32 = 100;

/// The host for papers; arXiv asks programs to use it instead of the host for people.
const PAPERS: &str = "https://export.arxiv.org";

/// Searches for records that contain all words.
///
/// # Errors
///
/// As the tool `query`.
pub fn search(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let requested = Search::read(arguments)?;
    let start = match &requested.cursor {
        Some(cursor) => cursor.parse().map_err(|_| invalid(format!("cursor: {cursor:?}")))?,
        None => 0,
    };
    let Some(query) = query(&requested) else {
        return Err(invalid("query: expected words".to_owned()));
    };
    let arguments = QueryArguments {
        search_query: Some(query),
        start,
        max_results: requested.limit.min(MOST),
        ..QueryArguments::for_ids()
    };
    let (Plan::One(request), _) = request::plan(&arguments)? else {
        return Err(invalid("query: expected words without ids".to_owned()));
    };
    let response = ask(host, request)?;
    let page = response::page(&response)?;
    let end = u64::from(start) + page.entries.len() as u64;
    let more = page.total_results.is_some_and(|total| end < total) && !page.entries.is_empty();
    let found = Found {
        total: page.total_results,
        works: page.entries.into_iter().map(|entry| open(record::work(entry))).collect(),
        next_cursor: more.then(|| end.to_string().into()),
    };
    Ok(found.to_json())
}

/// The query in arXiv's syntax; None when no word is left. Characters of the syntax separate words.
fn query(requested: &Search) -> Option<String> {
    let is_letter = |letter: char| letter.is_alphanumeric() || "-'.".contains(letter);
    let words: Vec<String> = requested
        .query
        .split(|letter| !is_letter(letter))
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()))
        .filter(|word| !word.is_empty() && !["AND", "OR", "ANDNOT"].contains(word))
        .map(|word| format!("all:{word}"))
        .collect();
    if words.is_empty() {
        return None;
    }
    let mut query = words.join(" AND ");
    if requested.year_from.is_some() || requested.year_to.is_some() {
        let (from, to) = (requested.year_from.unwrap_or(1991), requested.year_to.unwrap_or(9999));
        query.push_str(&format!(" AND submittedDate:[{from:04}01010000 TO {to:04}12312359]"));
    }
    Some(query)
}

/// The record with its PDF, which is free to read.
fn open(mut work: Work<'_>) -> Work<'_> {
    let pdf =
        work.links.iter().find(|link| link.content_type.as_deref() == Some("application/pdf"));
    if let Some(pdf) = pdf {
        work.open_copies = vec![OpenCopy {
            url: pdf.url.clone(),
            kind: "pdf".into(),
            host_type: Some("repository".into()),
            version: Some("submittedVersion".into()),
            landing_url: work.url.clone(),
            ..OpenCopy::default()
        }];
    }
    work.is_oa = Some(true);
    work
}

/// Returns the addresses of an e-print's full text. Whether an HTML page or a source exists is not
/// checked.
///
/// # Errors
///
/// `invalid_arguments` when it is not an arXiv identifier.
pub fn full_text(arguments: &str) -> Result<String, Error> {
    let requested = FullText::read(arguments)?;
    let id = ArxivId::parse(&requested.id.id).map_err(|error| invalid(error.to_string()))?;
    let copy = |folder: &str, form: Form| Copy {
        version: Some("submittedVersion".into()),
        landing_url: Some(format!("https://arxiv.org/abs/{id}").into()),
        ..Copy::new(format!("{PAPERS}/{folder}/{id}"), form)
    };
    Ok(copies_to_json(&[
        copy("html", Form::Html),
        copy("e-print", Form::Tex),
        copy("pdf", Form::Pdf),
    ]))
}

fn invalid(message: String) -> Error {
    Error::new(Code::InvalidArguments, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carrel_pdk::testing::{FakeHost, answer};

    const FEED: &str = r#"<feed xmlns="http://www.w3.org/2005/Atom"
        xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
        <opensearch:totalResults>3</opensearch:totalResults>
        <opensearch:startIndex>1</opensearch:startIndex>
        <entry><id>http://arxiv.org/abs/2301.00001v2</id><title>Desks</title>
        <summary>About.</summary>
        <link title="pdf" href="http://arxiv.org/pdf/2301.00001v2" type="application/pdf"/></entry>
        </feed>"#;

    #[test]
    fn words_become_a_query_and_entries_open_works() {
        let host = FakeHost::new(|_| answer(200, FEED));
        let arguments = r#"{"query": "walled (desk) OR: AND reader's", "limit": 500,
            "year_from": 2020, "cursor": "1"}"#;
        let result = search(arguments, &host).unwrap();
        let url = &host.requests()[0].url;
        assert!(
            url.contains(
                "search_query=all:walled%20AND%20all:desk%20AND%20all:reader%27s%20AND%20submittedDate:"
            ),
            "{url}"
        );
        assert!(url.contains("%5B202001010000%20TO%20999912312359%5D"), "{url}");
        assert!(url.contains("&start=1&max_results=100"), "{url}");
        let result: serde_json::Value = serde_json::from_str(&result).unwrap();
        assert_eq!((&result["total"], &result["next_cursor"]), (&3.into(), &"2".into()));
        assert_eq!(result["works"][0]["is_oa"], true);
        assert_eq!(result["works"][0]["open_copies"][0]["kind"], "pdf");
    }

    #[test]
    fn a_query_without_words_is_refused() {
        let host = FakeHost::new(|_| answer(200, FEED));
        let error = search(r#"{"query": "( AND )", "limit": 5}"#, &host).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments);
        assert!(host.requests().is_empty());
    }

    #[test]
    fn an_e_print_has_three_forms() {
        let result = full_text(r#"{"id": {"type": "arxiv", "id": "hep-ex/0307015"}}"#).unwrap();
        let result: serde_json::Value = serde_json::from_str(&result).unwrap();
        let forms: Vec<_> =
            result["copies"].as_array().unwrap().iter().map(|copy| copy["url"].as_str()).collect();
        assert_eq!(
            forms,
            [
                Some("https://export.arxiv.org/html/hep-ex/0307015"),
                Some("https://export.arxiv.org/e-print/hep-ex/0307015"),
                Some("https://export.arxiv.org/pdf/hep-ex/0307015"),
            ]
        );
    }
}
