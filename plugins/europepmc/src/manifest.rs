//! Declares the plugin's manifest.

use carrel_pdk::manifest::{Format, FullText, HostRule, LinkedWorks, Lookup, Pace, Roles, Search};
use carrel_pdk::record::page::Page;
use carrel_pdk::{Manifest, schema};
use serde_json::Value;

use crate::tools::{linked, lookup, search};

const HOST: &str = "www.ebi.ac.uk";

/// Kinds of identifier that a search finds.
const IDENTIFIERS: [&str; 3] = ["doi", "pmid", "pmcid"];

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "europepmc",
        env!("CARGO_PKG_VERSION"),
        "Searches Europe PMC and reads its articles, preprints and patents into bibliographic records.",
    );
    manifest.title = Some("Europe PMC".to_owned());
    manifest.hosts = vec![HostRule {
        paths: vec!["/europepmc/webservices/rest".to_owned()],
        // Europe PMC states no limit; its own clients send at most ten requests a second.
        pace: Some(Pace { interval_ms: 100, burst: Some(5), upstream: Some(HOST.to_owned()) }),
        concurrency: Some(3),
        cache_seconds: Some(24 * 3600),
        ..HostRule::new(HOST, &["GET"])
    }];
    let lookup = || Lookup { identifiers: IDENTIFIERS.to_vec(), batch: Some(lookup::BATCH) };
    let linked = || LinkedWorks { identifiers: vec!["pmid", "pmcid", "doi"], max: linked::MAX };
    manifest.lookup = Some(lookup());
    manifest.roles = Some(Roles {
        search: Some(Search { max: search::MAX, filters: vec!["year", "open_access"] }),
        open_copies: Some(lookup()),
        full_text: Some(FullText { identifiers: vec!["pmcid", "pmid", "doi"] }),
        references: Some(linked()),
        citations: Some(linked()),
    });
    manifest.formats = vec![
        format("search", "Results of a search, core or lite, or one article."),
        format("citations", "Articles that cite one."),
        format("references", "Articles that one cites."),
    ];
    manifest
}

/// The schema of a result that holds works, without the members that Europe PMC never has.
fn works() -> Value {
    let mut schema = schema::output::<Page<'_>>();
    schema::leave_out(&mut schema, &["arxiv", "openalex", "s2", "oa_status", "article_number"]);
    schema
}

fn format(name: &str, description: &str) -> Format {
    Format {
        name: name.to_owned(),
        description: description.to_owned(),
        media_types: vec!["application/json".to_owned()],
        output_schema: works(),
        ..Format::default()
    }
}
