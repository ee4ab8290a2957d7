//! Declares the plugin's manifest.

use carrel_pdk::manifest::{
    Annotations, Format, FullText, HostRule, Limits, Lookup, Pace, Roles, Search, Tool,
};
use carrel_pdk::{Manifest, schema};

use crate::formats::entry::Page;
use crate::record::Works;
use crate::tools::{arguments::QueryArguments, roles};

/// The tool's description, which models read.
const QUERY: &str = "\
WHEN TO USE: Find arXiv e-prints by topic, author, title or category, or get their metadata by id.
INPUTS: search_query, id_list or both: then the articles of id_list that match.
OUTPUTS: entries: id, title, summary (the abstract), authors, dates, categories, dois, links; \
total_results; next_start when there is more; not_found: ids that do not exist; notices.
COSTS: One request in 3 s, more for hundreds of ids; a quick HEAD per entry for verify_source_url.
SIDE EFFECTS: None.
LIMITS: 2000 results and 2000 ids a call.";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "arxiv",
        env!("CARGO_PKG_VERSION"),
        "Searches arXiv and reads the Atom feeds of its query API into structured entries.",
    );
    manifest.title = Some("arXiv".to_owned());
    manifest.hosts = hosts();
    // Enough for a page of 2,000 entries with a HEAD for each, or twelve requests for as many ids,
    // at arXiv's pace. What does not fit into the time is left out, with a notice.
    manifest.limits =
        Some(Limits { wall_seconds: Some(120.0), fetches: Some(2100), ..Limits::default() });
    manifest.tools = vec![Tool {
        name: "query".to_owned(),
        title: Some("Search arXiv".to_owned()),
        description: QUERY.to_owned(),
        input_schema: schema::input::<QueryArguments>(),
        output_schema: schema::output::<Page<'_>>(),
        annotations: Annotations::LOOKUP,
    }];
    // As many ids as a URL can hold, so that one request suffices.
    manifest.lookup = Some(Lookup { identifiers: vec!["arxiv"], batch: Some(100) });
    manifest.assigns = vec!["arxiv"];
    manifest.roles = Some(Roles {
        // Every e-print is free to read, so there is nothing to filter.
        search: Some(Search { max: roles::MOST, filters: vec!["year", "open_access"] }),
        full_text: Some(FullText { identifiers: vec!["arxiv"] }),
        ..Roles::default()
    });
    let format = |name: &str, description: &str, output_schema| Format {
        name: name.to_owned(),
        description: description.to_owned(),
        media_types: vec!["application/atom+xml".to_owned()],
        output_schema,
        ..Format::default()
    };
    manifest.formats = vec![
        format(
            "feed",
            "An Atom feed of arXiv's query API, as entries in arXiv's words.",
            schema::output::<Page<'_>>(),
        ),
        format(
            "works",
            "An Atom feed of arXiv's query API, as bibliographic records.",
            schema::output::<Works<'_>>(),
        ),
    ];
    manifest
}

/// arXiv's terms: one request to the API every three seconds, one connection. The site is checked
/// by HEAD only; its robots rules allow five a second. Bundles are never withdrawn, so answers
/// about them are cached for a week.
fn hosts() -> Vec<HostRule> {
    let api = HostRule {
        paths: ["/api/query", "/html", "/e-print", "/src", "/pdf"].map(str::to_owned).to_vec(),
        pace: Some(Pace {
            interval_ms: 3000,
            burst: None,
            upstream: Some("export.arxiv.org".to_owned()),
        }),
        concurrency: Some(1),
        cache_seconds: Some(3600),
        ..HostRule::new("export.arxiv.org", &["GET"])
    };
    let site = HostRule {
        // An e-print's address redirects to /src.
        paths: vec!["/e-print".to_owned(), "/src".to_owned()],
        pace: Some(Pace {
            interval_ms: 200,
            burst: Some(5),
            upstream: Some("arxiv.org".to_owned()),
        }),
        concurrency: Some(5),
        cache_seconds: Some(7 * 24 * 3600),
        ..HostRule::new("arxiv.org", &["HEAD"])
    };
    vec![api, site]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_is_short_enough_to_be_read() {
        assert!(QUERY.len() < 900, "{}", QUERY.len());
    }

    #[test]
    fn unknown_arguments_are_refused_and_bounds_are_stated() {
        let manifest = serde_json::to_value(manifest()).unwrap();
        let input = &manifest["tools"][0]["input_schema"];
        assert_eq!(input["type"], "object");
        assert_eq!(input["additionalProperties"], false);
        let properties = &input["properties"];
        assert_eq!(properties["max_results"]["minimum"], 1);
        assert_eq!(properties["max_results"]["maximum"], 2000);
        assert_eq!(properties["max_results"]["default"], 10);
        assert_eq!(properties["start"]["minimum"], 0);
        assert_eq!(
            properties["sortBy"]["enum"],
            serde_json::json!(["relevance", "lastUpdatedDate", "submittedDate"])
        );
        assert_eq!(properties["search_query"]["type"], "string");
        assert_eq!(properties["verify_source_url"]["default"], true);
    }

    #[test]
    fn addresses_are_marked_as_such() {
        let manifest = serde_json::to_value(manifest()).unwrap();
        let entry = &manifest["tools"][0]["output_schema"]["properties"]["entries"]["items"];
        for field in ["abstract_url", "pdf_url", "source_url"] {
            assert_eq!(entry["properties"][field]["format"], "uri", "{field}");
        }
        assert_eq!(entry["properties"]["dois"]["items"]["properties"]["url"]["format"], "uri");
    }
}
