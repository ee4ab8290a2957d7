//! Declares the plugin's manifest.

use carrel_pdk::manifest::{
    Annotations, Attach, Format, HostRule, LinkedWorks, Lookup, Pace, Roles, Search, Secret, Tool,
};
use carrel_pdk::record::page::{OneWork, Page};
use carrel_pdk::{Manifest, schema};
use serde_json::Value;

use crate::request::MOST_WORKS;
use crate::tools::{arguments::WorksArguments, works::Matches};

const HOST: &str = "api.openalex.org";

/// Kinds of identifier that name a work in a path, the surest first.
const IDENTIFIERS: [&str; 5] = ["openalex", "doi", "pmid", "pmcid", "arxiv"];
/// The most identifiers in one call. Each is a request of its own, which costs nothing of the
/// budget.
const BATCH: u32 = 20;

/// The tool's description, which models read.
const WORKS: &str = "\
WHEN TO USE: Search all of OpenAlex with its own filters: works by author, institution, journal, topic, \
or citing a work.
INPUTS: search and filter, which hold at once.
OUTPUTS: works (records without references), total_results, next_cursor, notices when the budget is low.
COSTS: One request; 10 credits of a daily budget with words, 1 without.
SIDE EFFECTS: None.
LIMITS: 100 works a call; a free API key has a larger budget.";

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
        // OpenAlex allows a hundred requests a second; the daily budget is the stricter limit.
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
        required: false,
        hosts: vec![HOST.to_owned()],
        attach: Attach::Query("api_key".to_owned()),
        pace: None,
    }];
    let identifiers = || IDENTIFIERS.to_vec();
    let links = || Some(LinkedWorks { identifiers: identifiers(), max: MOST_WORKS });
    manifest.lookup = Some(Lookup { identifiers: identifiers(), batch: Some(BATCH) });
    manifest.assigns = vec!["openalex"];
    manifest.roles = Some(Roles {
        search: Some(Search { max: MOST_WORKS, filters: vec!["year", "open_access"] }),
        open_copies: Some(Lookup { identifiers: identifiers(), batch: Some(BATCH) }),
        references: links(),
        citations: links(),
        ..Roles::default()
    });
    manifest.tools = vec![Tool {
        name: "works".to_owned(),
        title: Some("Search OpenAlex".to_owned()),
        description: WORKS.to_owned(),
        input_schema: schema::input::<WorksArguments>(),
        output_schema: listed(),
        annotations: Annotations::LOOKUP,
    }];
    manifest.formats = vec![
        format("work", "A work of the API.", works::<OneWork<'_>>()),
        format("works", "A list of works of the API.", works::<Page<'_>>()),
    ];
    manifest
}

/// The schema of a result that holds works, without the members that OpenAlex never has.
fn works<T: schemars::JsonSchema>() -> Value {
    let mut schema = schema::output::<T>();
    let never = ["s2", "isbn", "subtitle", "editors", "family", "given", "article_number", "links"];
    schema::leave_out(&mut schema, &never);
    schema::leave_out(&mut schema, &["licenses", "updates", "relations"]);
    schema
}

/// The schema of a list of the API, whose works lack the members that `select` leaves out.
fn listed() -> Value {
    let mut schema = works::<Matches<'_>>();
    schema::leave_out(&mut schema, &["references", "funding"]);
    schema
}

fn format(name: &str, description: &str, output: Value) -> Format {
    Format {
        media_types: vec!["application/json".to_owned()],
        ..Format::text(name, description, output)
    }
}
