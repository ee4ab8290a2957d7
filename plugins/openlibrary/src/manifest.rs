//! Declares the plugin's manifest.

use carrel_pdk::manifest::{Format, HostRule, Lookup, Pace};
use carrel_pdk::record::page::Page;
use carrel_pdk::{Manifest, schema};
use serde_json::Value;

use crate::tools::lookup;

const HOST: &str = "openlibrary.org";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "openlibrary",
        env!("CARGO_PKG_VERSION"),
        "Looks up books in Open Library by ISBN and reads them into bibliographic records.",
    );
    manifest.title = Some("Open Library".to_owned());
    manifest.hosts = vec![HostRule {
        paths: vec!["/api/books".to_owned()],
        // Open Library asks for one request a second of clients that it cannot identify.
        pace: Some(Pace { interval_ms: 1000, burst: Some(3), upstream: Some(HOST.to_owned()) }),
        concurrency: Some(2),
        cache_seconds: Some(24 * 3600),
        ..HostRule::new(HOST, &["GET"])
    }];
    manifest.lookup = Some(Lookup { identifiers: vec!["isbn"], batch: Some(lookup::BATCH) });
    manifest.formats = vec![Format {
        name: "books".to_owned(),
        description: "Books by ISBN, matches of a search, an edition or a work.".to_owned(),
        media_types: vec!["application/json".to_owned()],
        output_schema: works(),
        ..Format::default()
    }];
    manifest
}

/// The schema of a result that holds works, without the members that Open Library never has.
fn works() -> Value {
    let mut schema = schema::output::<Page<'_>>();
    schema::leave_out(
        &mut schema,
        &[
            "doi",
            "arxiv",
            "pmid",
            "pmcid",
            "issn",
            "openalex",
            "s2",
            "orcid",
            "affiliations",
            "editors",
            "container_title",
            "volume",
            "issue",
            "pages",
            "article_number",
            "links",
            "open_copies",
            "is_oa",
            "oa_status",
            "licenses",
            "funding",
            "references",
            "references_count",
            "cited_by_count",
            "updates",
            "updated_by",
            "relations",
            "next_cursor",
        ],
    );
    schema
}
