//! The roles `search` and `full_text`: used by tools that query several sources.

use carrel_pdk::lookup::Kind;
use carrel_pdk::record::Work;
use carrel_pdk::roles::{Copy, Form, Found, FullText, Search, copies_to_json};
use carrel_pdk::{Code, Error, Host};

use super::invalid;
use crate::formats::{efetch, esearch};
use crate::record;
use crate::request::Query;
use crate::response;

/// The most works in one answer.
pub(crate) const MOST: u32 = 100;
/// The number of results that PubMed returns at most, over all pages.
const REACH: u64 = 9_999;

/// Searches by words, which PubMed maps to its terms, and fetches the records.
pub(crate) fn search(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let requested = Search::read(arguments)?;
    let start: u32 = match &requested.cursor {
        Some(cursor) => cursor.parse().map_err(|_| invalid(format!("cursor: {cursor:?}")))?,
        None => 0,
    };
    let limit = requested.limit.min(MOST);
    let mut query = Query::new("esearch")
        .with("db", "pubmed")
        .with("term", words(&requested)?)
        .with("retmax", limit.to_string())
        .with("retstart", start.to_string())
        .with("sort", "relevance");
    if requested.year_from.is_some() || requested.year_to.is_some() {
        query = query
            .with("datetype", "pdat")
            .with("mindate", requested.year_from.unwrap_or(1700).to_string())
            .with("maxdate", requested.year_to.unwrap_or(3000).to_string());
    }
    let found = response::ask(host, &query, |body| {
        let found = esearch::parse(body)?;
        if found.pmids.is_empty() && u64::from(start) < found.count.min(REACH) {
            let message = format!("NCBI answered with no results of {}", found.count);
            return Err(Error::new(Code::UpstreamInvalid, message));
        }
        Ok(found.into_owned())
    })?;
    if found.pmids.is_empty() {
        return Ok(Found { total: Some(found.count), ..Found::default() }.to_json());
    }
    let records =
        Query::new("efetch").with("db", "pubmed").with("retmode", "xml").ids(&found.pmids);
    let end = u64::from(start) + found.pmids.len() as u64;
    response::ask(host, &records, |body| {
        let works: Vec<Work<'_>> =
            efetch::parse(body)?.articles.into_iter().map(record::work).collect();
        let page = Found {
            total: Some(found.count),
            works: ordered(works, &found.pmids),
            next_cursor: (end < found.count.min(REACH)).then(|| end.to_string().into()),
        };
        Ok(page.to_json())
    })
}

/// The words as a term, without brackets, which would name fields, and quotes, which would turn off
/// PubMed's term mapping.
fn words(requested: &Search) -> Result<String, Error> {
    let clean = requested.query.replace(['[', ']', '"', '(', ')'], " ");
    let words: Vec<&str> = clean.split_whitespace().collect();
    if words.is_empty() {
        return Err(invalid("query: expected words"));
    }
    let mut term = words.join(" ");
    if requested.open_access {
        term = format!("({term}) AND free full text[sb]");
    }
    Ok(term)
}

/// The works in the order of the search; EFetch returns another order.
fn ordered<'d>(mut works: Vec<Work<'d>>, pmids: &[impl AsRef<str>]) -> Vec<Work<'d>> {
    let rank = |work: &Work<'_>| {
        let pmid = work.ids.pmid.as_deref();
        pmids.iter().position(|found| Some(found.as_ref()) == pmid).unwrap_or(usize::MAX)
    };
    works.sort_by_cached_key(rank);
    works
}

/// The URL of an article's JATS in PubMed Central. Articles outside its open-access subset have no
/// body; that is known only from the document.
pub(crate) fn full_text(arguments: &str, _host: &dyn Host) -> Result<String, Error> {
    let input = FullText::read(arguments)?;
    let number = input.id.id.strip_prefix("PMC").filter(|_| input.id.kind == Kind::Pmcid);
    let Some(number) = number.filter(|id| id.bytes().all(|digit| digit.is_ascii_digit())) else {
        return Err(invalid("id: expected a pmcid"));
    };
    let query = Query::new("efetch").with("db", "pmc").with("id", number).with("retmode", "xml");
    let copy = Copy {
        landing_url: Some(format!("https://pmc.ncbi.nlm.nih.gov/articles/{}/", input.id.id).into()),
        ..Copy::new(query.url(), Form::Jats)
    };
    Ok(copies_to_json(&[copy]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use carrel_pdk::testing::{FakeHost, answer};

    const FOUND: &str = "<eSearchResult><Count>30</Count><RetMax>2</RetMax><RetStart>0</RetStart>\
        <IdList><Id>8</Id><Id>7</Id></IdList></eSearchResult>";
    const RECORDS: &str = "<PubmedArticleSet>\
        <PubmedArticle><MedlineCitation><PMID>7</PMID><Article><ArticleTitle>Seven</ArticleTitle>\
        </Article></MedlineCitation></PubmedArticle>\
        <PubmedArticle><MedlineCitation><PMID>8</PMID><Article><ArticleTitle>Eight</ArticleTitle>\
        </Article></MedlineCitation></PubmedArticle></PubmedArticleSet>";

    #[test]
    fn works_come_in_the_order_of_the_search() {
        let host = FakeHost::new(|request| {
            answer(200, if request.url.contains("esearch") { FOUND } else { RECORDS })
        });
        let arguments = r#"{"query": "walled [desk]", "limit": 2, "year_from": 1990,
            "open_access": true}"#;
        let result: serde_json::Value =
            serde_json::from_str(&search(arguments, &host).unwrap()).unwrap();
        assert_eq!(result["works"][0]["title"], "Eight");
        assert_eq!((&result["total"], &result["next_cursor"]), (&30.into(), &"2".into()));
        let url = &host.requests()[0].url;
        assert!(
            url.contains("term=%28walled%20desk%29%20AND%20free%20full%20text%5Bsb%5D"),
            "{url}"
        );
        assert!(url.contains("datetype=pdat&mindate=1990&maxdate=3000"), "{url}");
    }

    #[test]
    fn a_pmcid_has_jats() {
        let host = FakeHost::new(|_| answer(200, ""));
        let result = full_text(r#"{"id": {"type": "pmcid", "id": "PMC12"}}"#, &host).unwrap();
        assert!(result.contains("efetch.fcgi?db=pmc&id=12&retmode=xml"), "{result}");
        assert!(full_text(r#"{"id": {"type": "pmid", "id": "12"}}"#, &host).is_err());
    }
}
