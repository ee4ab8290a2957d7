//! Declares the plugin's manifest.

use carrel_pdk::manifest::{
    Annotations, Attach, Format, HostRule, Limits, LinkedWorks, Lookup, Pace, Roles, Search,
    Secret, Tool,
};
use carrel_pdk::{Manifest, schema};
use serde_json::Value;

use crate::formats::page::{OneWork, Page};
use crate::tools::{
    arguments::{CitationArguments, DoiArguments, MOST_ROWS, WorkArguments, WorksArguments},
    citation_match::Candidates,
    lookup::BATCH,
    roles::MOST_REFERENCES,
    updates::Updates,
};

const HOST: &str = "api.crossref.org";

/// The tools' descriptions, which models read.
const WORKS: &str = "\
WHEN TO USE: Find works with DOIs by words, author, journal, funder, dates, type or licence, or count \
them by facets.
INPUTS: Words and filters, which hold at once; without any, all works match.
OUTPUTS: works (records without references), total_results, next_cursor when a cursor was given, \
facets.
COSTS: One request.
SIDE EFFECTS: None.
LIMITS: 100 works a call; past 10,000 only by cursor. No comma in a filter.";

const WORK: &str = "\
WHEN TO USE: Get everything Crossref has on one DOI.
INPUTS: doi.
OUTPUTS: work: titles, authors with ORCID and affiliations, abstract, dates, journal, licences, \
funding, links, references, relations, updates.
COSTS: One request; two when Crossref lacks the DOI.
SIDE EFFECTS: None.
LIMITS: DOIs of Crossref; not_found names the agency of others, such as DataCite.";

const UPDATES: &str = "\
WHEN TO USE: Check whether a work was retracted, corrected or put under concern, before citing it.
INPUTS: doi.
OUTPUTS: is_retracted, is_corrected, is_of_concern; updates (type, notice_doi, date, source); notice_of when the DOI is itself a notice; notices on gaps.
COSTS: Two requests.
SIDE EFFECTS: None.
LIMITS: What publishers and Retraction Watch registered; none on record is no proof of soundness.";

const CITATION_MATCH: &str = "\
WHEN TO USE: Find the DOI of a printed reference.
INPUTS: citation.
OUTPUTS: candidates, best first: doi, score 0.5 to 1, agreed (what agrees, such as title or year), \
title, author, issued. None when nothing agrees; notices say why.
COSTS: One request, two when the text states a DOI.
SIDE EFFECTS: None.
LIMITS: Evidence, not proof: check agreed before using a DOI. One reference a call.";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "crossref",
        env!("CARGO_PKG_VERSION"),
        "Searches Crossref and reads the works of its REST API into bibliographic records.",
    );
    manifest.title = Some("Crossref".to_owned());
    manifest.hosts = vec![HostRule {
        paths: vec!["/works".to_owned()],
        // Below what the public pool has allowed since 2025. The host adjusts the pace to the
        // limits in every response's headers.
        pace: Some(Pace { interval_ms: 100, burst: Some(5), upstream: Some(HOST.to_owned()) }),
        concurrency: Some(3),
        cache_seconds: Some(24 * 3600),
        ..HostRule::new(HOST, &["GET"])
    }];
    manifest.secrets = vec![Secret {
        name: "contact".to_owned(),
        description: Some(
            "The operator's address: with it Crossref serves from its polite pool.".to_owned(),
        ),
        required: false,
        hosts: vec![HOST.to_owned()],
        attach: Attach::Query("mailto".to_owned()),
        pace: None,
    }];
    manifest.limits = Some(Limits { wall_seconds: Some(90.0), ..Limits::default() });
    manifest.lookup = Some(Lookup { identifiers: vec!["doi"], batch: Some(BATCH) });
    manifest.roles = Some(Roles {
        search: Some(Search { max: MOST_ROWS, filters: vec!["year"] }),
        open_copies: Some(Lookup { identifiers: vec!["doi"], batch: Some(BATCH) }),
        references: Some(LinkedWorks { identifiers: vec!["doi"], max: MOST_REFERENCES }),
        ..Roles::default()
    });
    manifest.tools = vec![
        tool(
            "works",
            "Search Crossref",
            WORKS,
            schema::input::<WorksArguments>(),
            works::<Page<'_>>(),
        ),
        tool(
            "work",
            "Get a work by DOI",
            WORK,
            schema::input::<WorkArguments>(),
            works::<OneWork<'_>>(),
        ),
        tool(
            "updates",
            "Check for retractions and corrections",
            UPDATES,
            schema::input::<DoiArguments>(),
            works::<Updates<'_>>(),
        ),
        tool(
            "citation_match",
            "Match a reference",
            CITATION_MATCH,
            schema::input::<CitationArguments>(),
            works::<Candidates<'_>>(),
        ),
    ];
    manifest.formats = vec![
        format(
            "work",
            "A work of the REST API, with or without its envelope.",
            works::<OneWork<'_>>(),
        ),
        format("works", "A list of works of the REST API.", works::<Page<'_>>()),
    ];
    manifest
}

/// The schema of a result that holds works, without the members that Crossref never has.
fn works<T: schemars::JsonSchema>() -> Value {
    let mut schema = schema::output::<T>();
    schema::leave_out(&mut schema, &["openalex", "s2", "open_copies", "is_oa", "oa_status"]);
    schema
}

fn tool(name: &str, title: &str, description: &str, input: Value, output: Value) -> Tool {
    Tool {
        name: name.to_owned(),
        title: Some(title.to_owned()),
        description: description.to_owned(),
        input_schema: input,
        output_schema: output,
        annotations: Annotations::LOOKUP,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_have_their_sections_and_are_short() {
        for tool in manifest().tools {
            let description = &tool.description;
            assert!(description.len() < 700, "{}: {}", tool.name, description.len());
            for section in
                ["WHEN TO USE: ", "INPUTS: ", "OUTPUTS: ", "COSTS: ", "SIDE EFFECTS: ", "LIMITS: "]
            {
                assert!(description.contains(section), "{}: {section}", tool.name);
            }
        }
    }

    #[test]
    fn schemas_are_strict_all_the_way_down() {
        fn check(path: &str, schema: &Value) {
            if schema["properties"].is_object() {
                assert_eq!(schema["additionalProperties"], false, "{path}");
            }
            let kinds = schema["type"].as_array().cloned().unwrap_or_default();
            assert!(!kinds.contains(&"null".into()), "{path} may be null");
            for (name, member) in schema["properties"].as_object().into_iter().flatten() {
                check(&format!("{path}/{name}"), member);
            }
            if schema["items"].is_object() {
                check(&format!("{path}[]"), &schema["items"]);
            }
        }
        for tool in manifest().tools {
            check(&format!("{} in", tool.name), &tool.input_schema);
            check(&format!("{} out", tool.name), &tool.output_schema);
        }
    }

    #[test]
    fn the_contact_address_goes_to_crossref_only() {
        let manifest = serde_json::to_value(manifest()).unwrap();
        assert_eq!(manifest["secrets"][0]["hosts"], serde_json::json!(["api.crossref.org"]));
        assert_eq!(manifest["secrets"][0]["attach"], serde_json::json!({"query": "mailto"}));
        assert_eq!(manifest["hosts"].as_array().unwrap().len(), 1);
    }
}
