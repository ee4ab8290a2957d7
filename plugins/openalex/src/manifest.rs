//! What the plugin says of itself.

use carrel_pdk::manifest::{Attach, Format, HostRule, Pace, Secret};
use carrel_pdk::record::page::{OneWork, Page};
use carrel_pdk::{Manifest, schema};
use serde_json::Value;

const HOST: &str = "api.openalex.org";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "openalex",
        env!("CARGO_PKG_VERSION"),
        "Reads works of OpenAlex, with open copies, citations and retractions, into bibliographic records.",
    );
    manifest.title = Some("OpenAlex".to_owned());
    manifest.hosts = vec![HostRule {
        paths: vec!["/works".to_owned()],
        // OpenAlex allows a hundred a second; what it counts is the budget of the day.
        pace: Some(Pace { interval_ms: 100, burst: Some(5), upstream: Some(HOST.to_owned()) }),
        concurrency: Some(3),
        cache_seconds: Some(24 * 3600),
        ..HostRule::new(HOST, &["GET"])
    }];
    manifest.secrets = vec![Secret {
        name: "api_key".to_owned(),
        description: Some(
            "A free API key of your account at openalex.org: without one the daily budget is small."
                .to_owned(),
        ),
        hosts: vec![HOST.to_owned()],
        attach: Attach::Query("api_key".to_owned()),
        pace: None,
    }];
    manifest.formats = vec![
        format("work", "A work of the API.", works::<OneWork<'_>>()),
        format("works", "A list of works of the API.", works::<Page<'_>>()),
    ];
    manifest
}

/// The schema of a result that holds works, without what OpenAlex does not say of them.
fn works<T: schemars::JsonSchema>() -> Value {
    let mut schema = schema::output::<T>();
    let never = ["s2", "isbn", "subtitle", "editors", "family", "given", "article_number", "links"];
    schema::leave_out(&mut schema, &never);
    schema::leave_out(&mut schema, &["licenses", "updates", "relations"]);
    schema
}

fn format(name: &str, description: &str, output: Value) -> Format {
    Format {
        media_types: vec!["application/json".to_owned()],
        ..Format::text(name, description, output)
    }
}
