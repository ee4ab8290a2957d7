//! Arguments → requests. Pure.

use carrel_pdk::id::Doi;
use carrel_pdk::{Error, Request, percent};

use crate::tools::arguments::{WorksArguments, invalid};

/// The endpoint for works.
const WORKS: &str = "https://api.crossref.org/works";

/// The members about retractions and corrections; `DOI` shows whether a work retracts itself.
const FATE: [&str; 3] = ["DOI", "update-to", "updated-by"];

/// The longest URL, in bytes; common servers refuse longer ones.
const LONGEST_URL: usize = 8000;

/// The request for one work. The whole DOI is encoded as one path segment, so a slash, question
/// mark or bracket in it has no meaning in the URL.
pub fn work(doi: &Doi) -> Request {
    Request::get(format!("{WORKS}/{}", doi.segment()))
}

/// The request for the agency that a DOI is registered with.
pub fn agency(doi: &Doi) -> Request {
    Request::get(format!("{WORKS}/{}/agency", doi.segment()))
}

/// The request for the notices about a work; `None` when its DOI cannot be written in a filter.
pub fn notices(doi: &Doi) -> Option<Request> {
    let filter = filter("updates", doi.as_str()).ok()?;
    Some(Request::get(format!("{WORKS}?filter={}&rows=100", percent::query(&filter))))
}

/// The request for several works at once; all DOIs must be writable in a filter.
pub fn batch(dois: &[&Doi]) -> Request {
    let filters: Vec<String> = dois.iter().map(|doi| format!("doi:{}", doi.as_str())).collect();
    let filter = percent::query(&filters.join(","));
    Request::get(format!("{WORKS}?filter={filter}&rows={}", dois.len()))
}

/// Whether a DOI can be written in a filter.
pub fn fits_filter(doi: &Doi) -> bool {
    filter("doi", doi.as_str()).is_ok()
}

/// The request for candidates for a printed reference.
pub fn citation(citation: &str, rows: u32) -> Request {
    Request::get(format!("{WORKS}?query.bibliographic={}&rows={rows}", percent::query(citation)))
}

/// The request of a search.
///
/// # Errors
///
/// `invalid_arguments` when a filter cannot be written or the request does not fit into a URL.
pub fn works(arguments: &WorksArguments) -> Result<Request, Error> {
    let mut parameters = Vec::new();
    for (name, text) in [
        ("query", &arguments.query),
        ("query.title", &arguments.query_title),
        ("query.author", &arguments.query_author),
        ("query.container-title", &arguments.query_container_title),
        ("query.bibliographic", &arguments.query_bibliographic),
    ] {
        if let Some(text) = text {
            parameters.push((name, text.clone()));
        }
    }
    let filters = filters(arguments)?;
    if !filters.is_empty() {
        parameters.push(("filter", filters.join(",")));
    }
    if let Some(sort) = arguments.sort {
        parameters.push(("sort", sort.as_str().to_owned()));
    }
    if let Some(order) = arguments.order {
        parameters.push(("order", order.as_str().to_owned()));
    }
    parameters.push(("rows", arguments.rows.to_string()));
    if arguments.offset > 0 {
        parameters.push(("offset", arguments.offset.to_string()));
    }
    if let Some(cursor) = &arguments.cursor {
        parameters.push(("cursor", cursor.clone()));
    }
    if !arguments.select.is_empty() {
        names("select", &arguments.select, is_name)?;
        let mut select = arguments.select.clone();
        // Without these members a retracted work would look like any other.
        for name in FATE {
            if !select.iter().any(|known| known == name) {
                select.push(name.to_owned());
            }
        }
        parameters.push(("select", select.join(",")));
    }
    if !arguments.facets.is_empty() {
        parameters.push(("facet", facets(&arguments.facets)?));
    }
    let parameters: Vec<String> = parameters
        .into_iter()
        .map(|(name, value)| format!("{name}={}", percent::query(&value)))
        .collect();
    let url = format!("{WORKS}?{}", parameters.join("&"));
    if url.len() > LONGEST_URL {
        return Err(invalid(format!(
            "expected a search that fits into a URL of {LONGEST_URL} bytes but it makes {}",
            url.len()
        )));
    }
    let request = Request::get(url);
    // A cursor expires within minutes, so a cached page could hold an expired one.
    Ok(if arguments.cursor.is_some() { request.refreshed() } else { request })
}

fn filters(arguments: &WorksArguments) -> Result<Vec<String>, Error> {
    let mut filters = Vec::new();
    for (name, date) in
        [("from-pub-date", &arguments.from_pub_date), ("until-pub-date", &arguments.until_pub_date)]
    {
        if let Some(date) = date {
            if !is_date(date) {
                return Err(invalid(format!(
                    "{}: expected a day as YYYY, YYYY-MM or YYYY-MM-DD but found {date:?}",
                    name.replace('-', "_")
                )));
            }
            filters.push(filter(name, date)?);
        }
    }
    let doi_of =
        |text: &str| Doi::parse(text).map_or_else(|_| text.to_owned(), |doi| doi.to_string());
    for (name, text) in [
        ("type", arguments.kind.clone()),
        ("issn", arguments.issn.clone()),
        ("isbn", arguments.isbn.clone()),
        ("orcid", arguments.orcid.clone()),
        ("funder", arguments.funder.as_deref().map(doi_of)),
        ("prefix", arguments.prefix.clone()),
        ("member", arguments.member.map(|member| member.to_string())),
        ("license.url", arguments.license_url.clone()),
        ("update-type", arguments.update_type.clone()),
    ] {
        if let Some(text) = text {
            filters.push(filter(name, &text)?);
        }
    }
    for (name, flag) in [
        ("is-update", arguments.is_update),
        ("has-abstract", arguments.has_abstract),
        ("has-full-text", arguments.has_full_text),
        ("has-references", arguments.has_references),
    ] {
        if let Some(flag) = flag {
            filters.push(format!("{name}:{flag}"));
        }
    }
    Ok(filters)
}

/// One filter. The value may contain colons, as only the first colon separates. A comma ends a
/// filter even when encoded; the API has no escape for it.
fn filter(name: &str, value: &str) -> Result<String, Error> {
    if value.contains(',') {
        return Err(invalid(format!(
            "{}: Crossref cannot filter by a value with a comma in it: {:?}",
            name.replace(['-', '.'], "_"),
            carrel_pdk::text::excerpt(value)
        )));
    }
    Ok(format!("{name}:{value}"))
}

/// Refuses a text that cannot be one of Crossref's names.
fn names(argument: &str, names: &[String], fits: fn(&str) -> bool) -> Result<(), Error> {
    if let Some(name) = names.iter().find(|name| !fits(name)) {
        let name = carrel_pdk::text::excerpt(name);
        return Err(invalid(format!("{argument}: expected Crossref's names but found {name:?}")));
    }
    Ok(())
}

/// The facets, each with how many values to list.
fn facets(requested: &[String]) -> Result<String, Error> {
    let fits = |facet: &str| {
        let (name, count) = facet.split_once(':').unwrap_or((facet, "*"));
        let is_number = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
        is_name(name) && (count == "*" || is_number)
    };
    names("facets", requested, fits)?;
    let counted: Vec<String> = requested
        .iter()
        .map(|facet| if facet.contains(':') { facet.clone() } else { format!("{facet}:10") })
        .collect();
    Ok(counted.join(","))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
}

/// A day, month or year of the calendar: digits in groups of four, two and two.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths = [4, 2, 2];
    (1..=3).contains(&parts.len())
        && parts.iter().zip(lengths).all(|(part, length)| {
            part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit())
        })
        && on_calendar(&parts)
}

fn on_calendar(parts: &[&str]) -> bool {
    let part = |at: usize| parts.get(at).and_then(|part| part.parse::<u16>().ok());
    let leap = |year: u16| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let days = match (part(0).unwrap_or(0), part(1).unwrap_or(1)) {
        (_, 1 | 3 | 5 | 7 | 8 | 10 | 12) => 31,
        (_, 4 | 6 | 9 | 11) => 30,
        (year, 2) => 28 + u16::from(leap(year)),
        _ => return false,
    };
    (1..=days).contains(&part(2).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(json: &str) -> String {
        works(&WorksArguments::parse(json).unwrap()).unwrap().url
    }

    fn refused(json: &str) -> String {
        works(&WorksArguments::parse(json).unwrap()).unwrap_err().message
    }

    #[test]
    fn every_argument_has_its_parameter() {
        assert_eq!(
            url(r#"{"query": "sea & shore", "query_title": "tides", "query_author": "Öz",
                "query_container_title": "c", "query_bibliographic": "b",
                "from_pub_date": "2020", "until_pub_date": "2021-02-03", "type": "journal-article",
                "issn": "1234-5678", "isbn": "9780000000000", "orcid": "0000-0001-2345-6789",
                "funder": "https://doi.org/10.13039/100000001", "prefix": "10.5555", "member": 78,
                "license_url": "https://creativecommons.org/licenses/by/4.0/",
                "update_type": "retraction", "is_update": true, "has_abstract": false,
                "has_full_text": true, "has_references": true, "sort": "is-referenced-by-count",
                "order": "asc", "rows": 5, "offset": 10, "select": ["DOI", "title"],
                "facets": ["type-name", "published:20", "issn:*"]}"#),
            "https://api.crossref.org/works?query=sea%20%26%20shore&query.title=tides\
             &query.author=%C3%96z&query.container-title=c&query.bibliographic=b\
             &filter=from-pub-date:2020,until-pub-date:2021-02-03,type:journal-article,\
             issn:1234-5678,isbn:9780000000000,orcid:0000-0001-2345-6789,\
             funder:10.13039/100000001,prefix:10.5555,member:78,\
             license.url:https://creativecommons.org/licenses/by/4.0/,update-type:retraction,\
             is-update:true,has-abstract:false,has-full-text:true,has-references:true\
             &sort=is-referenced-by-count&order=asc&rows=5&offset=10&select=DOI,title,update-to,updated-by\
             &facet=type-name:10,published:20,issn:*"
                .replace(":*", ":%2A")
        );
        assert_eq!(url("{}"), "https://api.crossref.org/works?rows=20");
    }

    #[test]
    fn a_cursor_is_requested_past_the_cache() {
        let arguments = WorksArguments::parse(r#"{"cursor": "AoJ+/=="}"#).unwrap();
        let request = works(&arguments).unwrap();
        assert!(request.refresh);
        assert!(request.url.ends_with("&cursor=AoJ%2B/%3D%3D"), "{}", request.url);
        assert!(!works(&WorksArguments::parse("{}").unwrap()).unwrap().refresh);
    }

    #[test]
    fn a_comma_in_a_filter_is_refused_and_named() {
        assert_eq!(
            refused(r#"{"license_url": "https://example.org/a,b"}"#),
            "license_url: Crossref cannot filter by a value with a comma in it: \"https://example.org/a,b\""
        );
        // In a query a comma has no special meaning.
        assert!(url(r#"{"query": "a, b"}"#).contains("query=a,%20b"));
    }

    #[test]
    fn filters_and_lists_cannot_be_smuggled_in() {
        for json in [
            r#"{"type": "book,member:78"}"#,
            r#"{"select": ["DOI,title"]}"#,
            r#"{"select": ["DOI&rows=1"]}"#,
            r#"{"facets": ["issn:x"]}"#,
            r#"{"facets": ["issn:"]}"#,
            r#"{"facets": ["issn:1,license:2"]}"#,
            r#"{"from_pub_date": "last year"}"#,
            r#"{"until_pub_date": "2020-1"}"#,
            r#"{"until_pub_date": "2020-02-30"}"#,
            r#"{"until_pub_date": "2021-02-29"}"#,
            r#"{"until_pub_date": "2020-13"}"#,
            r#"{"until_pub_date": "2020-04-00"}"#,
        ] {
            assert!(!refused(json).is_empty(), "{json}");
        }
    }

    #[test]
    fn a_search_that_no_url_holds_is_refused() {
        let long = "x".repeat(9000);
        assert!(refused(&format!(r#"{{"query": "{long}"}}"#)).contains("fits into a URL"));
    }

    #[test]
    fn any_doi_is_one_segment() {
        for (doi, segment) in [
            ("10.5555/a/b", "10.5555%2Fa%2Fb"),
            ("10.5555/a,b:c(d)", "10.5555%2Fa%2Cb%3Ac%28d%29"),
            ("10.5555/a%b", "10.5555%2Fa%25b"),
            ("10.5555/a<b>;c?d#e", "10.5555%2Fa%3Cb%3E%3Bc%3Fd%23e"),
            ("10.5555/ÄÖ", "10.5555%2F%C3%84%C3%96"),
            ("10.5555/ABC", "10.5555%2FABC"),
            ("10.5555/..", "10.5555%2F.."),
        ] {
            let url = work(&Doi::parse(doi).unwrap()).url;
            assert_eq!(url, format!("https://api.crossref.org/works/{segment}"));
        }
    }

    #[test]
    fn only_a_doi_without_comma_goes_into_a_filter() {
        assert_eq!(notices(&Doi::parse("10.5555/a,b").unwrap()), None);
        assert_eq!(
            notices(&Doi::parse("10.5555/a:b;c").unwrap()).unwrap().url,
            "https://api.crossref.org/works?filter=updates:10.5555/a:b%3Bc&rows=100"
        );
    }
}
