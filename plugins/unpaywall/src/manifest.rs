//! Declares the plugin's manifest.

use carrel_pdk::manifest::{Attach, Format, HostRule, Lookup, Pace, Roles, Secret};
use carrel_pdk::{Manifest, schema};
use serde_json::Value;

use crate::formats::records::{Record, Records};

const HOST: &str = "api.unpaywall.org";
/// DOIs that one call takes; each is a request.
const BATCH: u32 = 20;

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "unpaywall",
        env!("CARGO_PKG_VERSION"),
        "Finds copies of works that anyone may read, by DOI.",
    );
    manifest.title = Some("Unpaywall".to_owned());
    manifest.hosts = vec![HostRule {
        paths: vec!["/v2".to_owned()],
        // 100,000 requests a day are one in 0.86 s, on average.
        pace: Some(Pace { interval_ms: 200, burst: Some(5), upstream: Some(HOST.to_owned()) }),
        concurrency: Some(3),
        cache_seconds: Some(24 * 3600),
        ..HostRule::new(HOST, &["GET"])
    }];
    manifest.secrets = vec![Secret {
        name: "contact".to_owned(),
        description: Some(
            "The operator's e-mail address, which Unpaywall requires with every request."
                .to_owned(),
        ),
        required: true,
        hosts: vec![HOST.to_owned()],
        attach: Attach::Query("email".to_owned()),
        pace: None,
    }];
    manifest.roles = Some(Roles {
        open_copies: Some(Lookup { identifiers: vec!["doi"], batch: Some(BATCH) }),
        ..Roles::default()
    });
    manifest.formats = vec![
        format("record", "A record of the API: a work and its open copies.", works::<Record<'_>>()),
        format("search", "The results of a search by title.", works::<Records<'_>>()),
    ];
    manifest
}

/// The schema of a result that holds works, without the members that Unpaywall never has.
fn works<T: schemars::JsonSchema>() -> Value {
    let mut schema = schema::output::<T>();
    let never = ["pmid", "pmcid", "openalex", "s2", "isbn", "subtitle", "abstract", "editors"];
    schema::leave_out(&mut schema, &never);
    let never = ["volume", "issue", "pages", "article_number", "language", "subjects", "links"];
    schema::leave_out(&mut schema, &never);
    let never = ["licenses", "funding", "references", "references_count", "cited_by_count"];
    schema::leave_out(&mut schema, &never);
    schema::leave_out(&mut schema, &["updates", "updated_by", "relations"]);
    schema
}

fn format(name: &str, description: &str, output: Value) -> Format {
    Format {
        media_types: vec!["application/json".to_owned()],
        ..Format::text(name, description, output)
    }
}
