//! Declares the plugin's manifest.

use carrel_pdk::manifest::{
    Attach, Format, HostRule, LinkedWorks, Lookup, Pace, Roles, Search, Secret,
};
use carrel_pdk::{Manifest, schema};
use serde_json::Value;

use crate::formats::{
    links::Links,
    papers::{OneWork, Papers},
};

use crate::request::{MOST_LINKS, MOST_MATCHES};
use crate::tools::lookup::BATCH;

/// Kinds of identifier that name a paper, the surest first.
const IDENTIFIERS: [&str; 5] = ["s2", "doi", "arxiv", "pmid", "pmcid"];
const HOST: &str = "api.semanticscholar.org";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "semanticscholar",
        env!("CARGO_PKG_VERSION"),
        "Reads papers of Semantic Scholar, with their citations and references, into bibliographic records.",
    );
    manifest.title = Some("Semantic Scholar".to_owned());
    let pace = || Pace { interval_ms: 1000, burst: None, upstream: Some(HOST.to_owned()) };
    manifest.hosts = vec![HostRule {
        paths: vec!["/graph/v1/paper".to_owned()],
        // A key allows one request a second; without a key, all clients share one limit.
        pace: Some(pace()),
        concurrency: Some(1),
        cache_seconds: Some(24 * 3600),
        ..HostRule::new(HOST, &["GET", "POST"])
    }];
    manifest.secrets = vec![Secret {
        name: "api_key".to_owned(),
        description: Some(
            "A free API key of semanticscholar.org: without one most requests are answered with 429."
                .to_owned(),
        ),
        required: true,
        hosts: vec![HOST.to_owned()],
        attach: Attach::Header("x-api-key".to_owned()),
        pace: None,
    }];
    let identifiers = || IDENTIFIERS.to_vec();
    let links = || Some(LinkedWorks { identifiers: identifiers(), max: MOST_LINKS });
    manifest.lookup = Some(Lookup { identifiers: identifiers(), batch: Some(BATCH) });
    manifest.assigns = vec!["s2"];
    manifest.roles = Some(Roles {
        search: Some(Search { max: MOST_MATCHES, filters: vec!["year", "open_access"] }),
        open_copies: Some(Lookup { identifiers: identifiers(), batch: Some(BATCH) }),
        references: links(),
        citations: links(),
        ..Roles::default()
    });
    manifest.formats = vec![
        format("paper", "A paper of the Graph API.", works::<OneWork<'_>>()),
        format(
            "papers",
            "Papers of a search, a bulk search, a match, a batch or recommendations.",
            works::<Papers<'_>>(),
        ),
        format("citations", "The papers that cite one.", works::<Links<'_>>()),
        format("references", "The papers that one cites.", works::<Links<'_>>()),
    ];
    manifest
}

/// The schema of a result that holds works, without the members that Semantic Scholar never has.
fn works<T: schemars::JsonSchema>() -> Value {
    let mut schema = schema::output::<T>();
    let never =
        ["openalex", "isbn", "subtitle", "editors", "family", "given", "publisher", "issue"];
    schema::leave_out(&mut schema, &never);
    let never = ["article_number", "language", "links", "licenses", "funding", "updates"];
    schema::leave_out(&mut schema, &never);
    schema::leave_out(&mut schema, &["updated_by", "relations", "landing_url", "unstructured"]);
    schema
}

fn format(name: &str, description: &str, output: Value) -> Format {
    Format {
        media_types: vec!["application/json".to_owned()],
        ..Format::text(name, description, output)
    }
}
