//! Declares the plugin's manifest.

use carrel_pdk::manifest::{Format, HostRule, Lookup, Pace, Roles, Search};
use carrel_pdk::record::page::Page;
use carrel_pdk::{Manifest, schema};
use serde_json::Value;

use crate::tools::{lookup, search};

const HOST: &str = "doaj.org";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "doaj",
        env!("CARGO_PKG_VERSION"),
        "Searches the Directory of Open Access Journals and reads its articles into bibliographic records.",
    );
    manifest.title = Some("DOAJ".to_owned());
    manifest.hosts = vec![HostRule {
        paths: vec!["/api/v4/search/articles".to_owned()],
        // DOAJ allows two requests a second, with bursts of five.
        pace: Some(Pace { interval_ms: 500, burst: Some(5), upstream: Some(HOST.to_owned()) }),
        concurrency: Some(2),
        cache_seconds: Some(24 * 3600),
        ..HostRule::new(HOST, &["GET"])
    }];
    let lookup = || Lookup { identifiers: vec!["doi"], batch: Some(lookup::BATCH) };
    manifest.lookup = Some(lookup());
    manifest.roles = Some(Roles {
        search: Some(Search { max: search::MAX, filters: vec!["year", "open_access"] }),
        open_copies: Some(lookup()),
        ..Roles::default()
    });
    manifest.formats = vec![Format {
        name: "articles".to_owned(),
        description: "Articles of a search, or one article.".to_owned(),
        media_types: vec!["application/json".to_owned()],
        output_schema: works(),
        ..Format::default()
    }];
    manifest
}

/// The schema of a result that holds works, without the members that DOAJ never has.
fn works() -> Value {
    let mut schema = schema::output::<Page<'_>>();
    schema::leave_out(
        &mut schema,
        &[
            "arxiv",
            "pmid",
            "pmcid",
            "isbn",
            "openalex",
            "s2",
            "subtitle",
            "editors",
            "article_number",
            "licenses",
            "funding",
            "references",
            "references_count",
            "cited_by_count",
            "updates",
            "updated_by",
            "relations",
        ],
    );
    schema
}
