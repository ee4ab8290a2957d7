//! Declares the plugin's manifest.

use carrel_pdk::manifest::{Format, HostRule, Lookup, Pace, Roles, Search};
use carrel_pdk::record::page::{OneWork, Page};
use carrel_pdk::{Manifest, schema};
use serde_json::Value;

use crate::tools::{lookup, search};

const HOST: &str = "api.datacite.org";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "datacite",
        env!("CARGO_PKG_VERSION"),
        "Searches DataCite and reads its DOIs, of data, software and texts, into bibliographic records.",
    );
    manifest.title = Some("DataCite".to_owned());
    manifest.hosts = vec![HostRule {
        paths: vec!["/dois".to_owned()],
        // DataCite allows 3,000 requests in five minutes from one address.
        pace: Some(Pace { interval_ms: 100, burst: Some(5), upstream: Some(HOST.to_owned()) }),
        concurrency: Some(3),
        cache_seconds: Some(24 * 3600),
        ..HostRule::new(HOST, &["GET"])
    }];
    manifest.lookup = Some(Lookup { identifiers: vec!["doi"], batch: Some(lookup::BATCH) });
    manifest.roles = Some(Roles {
        search: Some(Search { max: search::MAX, filters: vec!["year"] }),
        ..Roles::default()
    });
    manifest.formats = vec![
        format("doi", "One DOI, with or without the envelope of JSON:API.", works::<OneWork<'_>>()),
        format("dois", "A list of DOIs.", works::<Page<'_>>()),
    ];
    manifest
}

/// The schema of a result that holds works, without the members that DataCite never has.
fn works<T: schemars::JsonSchema>() -> Value {
    let mut schema = schema::output::<T>();
    schema::leave_out(
        &mut schema,
        &[
            "openalex",
            "s2",
            "open_copies",
            "is_oa",
            "oa_status",
            "article_number",
            "updates",
            "updated_by",
        ],
    );
    schema
}

fn format(name: &str, description: &str, output: Value) -> Format {
    Format {
        name: name.to_owned(),
        description: description.to_owned(),
        media_types: vec!["application/json".to_owned()],
        output_schema: output,
        ..Format::default()
    }
}
