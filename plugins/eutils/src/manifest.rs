//! Declares the plugin's manifest.

use carrel_pdk::manifest::{
    Annotations, Attach, Format, FullText, HostRule, Limits, Lookup, Pace, Resource, Roles, Search,
    Secret, Tool,
};
use carrel_pdk::{Manifest, schema};
use schemars::JsonSchema;
use serde_json::Value;

use crate::formats::{
    article, ecitmatch, einfo, elink, epost, esearch, espell, esummary, idconv, medline,
};
use crate::record;
use crate::tools::{
    citation_match, convert_ids, fetch, info, lookup, mesh, related, resource, roles, search, spell,
};

const EUTILS: &str = "eutils.ncbi.nlm.nih.gov";
const PMC: &str = "pmc.ncbi.nlm.nih.gov";
/// The rate-limit bucket that all requests to NCBI share.
const UPSTREAM: &str = "ncbi";

const SEARCH: &str = "\
WHEN TO USE: Find biomedical articles in PubMed by topic, author, journal, MeSH term or date.
INPUTS: query_term in PubMed's syntax.
OUTPUTS: pmids, total_found, brief_summaries, next_offset, query_translation, notices about terms.
COSTS: One request, two with summaries.
SIDE EFFECTS: None.
LIMITS: The first 9,999 results of a search.";

const FETCH: &str = "\
WHEN TO USE: Get articles by PMID: abstract, authors, journal, MeSH, grants, retractions.
INPUTS: pmids; detail_level.
OUTPUTS: articles, or documents for full_xml and medline_text; not_found_pmids. comments_corrections \
says what was corrected or retracted.
COSTS: One request.
SIDE EFFECTS: None.
LIMITS: 200 PMIDs a call.";

const RELATED: &str = "\
WHEN TO USE: From one PMID, find similar articles, articles citing it or cited by it, or format its \
citation.
INPUTS: source_pmid, relationship_type.
OUTPUTS: related_articles (pmid, title, authors, score, link_url) and total_found, or citations.
COSTS: Two requests, one for citations.
SIDE EFFECTS: None.
LIMITS: Citing and cited articles as far as PubMed Central knows them.";

const CONVERT: &str = "\
WHEN TO USE: Turn PMIDs, PMCIDs and DOIs into each other.
INPUTS: ids.
OUTPUTS: records (requested_id, pmid, pmcid, doi), not_found, invalid, notices.
COSTS: One request for each kind, two more outside PubMed Central.
SIDE EFFECTS: None.
LIMITS: 100 ids a call; articles that PubMed has.";

const MATCH: &str = "\
WHEN TO USE: Find the PMIDs of references known by journal, year, volume, page and author.
INPUTS: citations.
OUTPUTS: matches with status matched, not_found or ambiguous, pmid, candidates, reason.
COSTS: One request.
SIDE EFFECTS: None.
LIMITS: 50 citations a call; no matching by title, use search for that.";

const SPELL: &str = "\
WHEN TO USE: Check the spelling of a query, above all when a search found nothing.
INPUTS: term.
OUTPUTS: has_suggestion, corrected_term, replaced.
COSTS: One request.
SIDE EFFECTS: None.
LIMITS: Single words, English.";

const MESH: &str = "\
WHEN TO USE: Find the MeSH descriptor for a concept, to search PubMed with.
INPUTS: term.
OUTPUTS: terms (ui, name, scope_note, entry_terms, tree_numbers, search_term), total_found.
COSTS: Two requests.
SIDE EFFECTS: None.
LIMITS: 50 terms a call.";

const INFO: &str = "\
WHEN TO USE: Learn what can be searched: PubMed's fields, links, size and last update.
INPUTS: db.
OUTPUTS: db_name, description, count, last_update, fields, links; or databases.
COSTS: One request, kept for a day.
SIDE EFFECTS: None.
LIMITS: None.";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "eutils",
        env!("CARGO_PKG_VERSION"),
        "Searches PubMed and reads what NCBI's E-utilities answer into structured articles and links.",
    );
    manifest.title = Some("PubMed".to_owned());
    manifest.namespace = Some("pubmed".to_owned());
    manifest.hosts = hosts();
    manifest.secrets = secrets();
    manifest.limits = Some(Limits { wall_seconds: Some(90.0), ..Limits::default() });
    manifest.tools = tools();
    manifest.lookup =
        Some(Lookup { identifiers: vec!["pmid", "pmcid", "doi"], batch: Some(lookup::BATCH) });
    manifest.assigns = vec!["pmid"];
    manifest.roles = Some(Roles {
        search: Some(Search { max: roles::MOST, filters: vec!["year", "open_access"] }),
        full_text: Some(FullText { identifiers: vec!["pmcid"] }),
        ..Roles::default()
    });
    manifest.resources = resources();
    manifest.formats = formats();
    manifest
}

fn tools() -> Vec<Tool> {
    let mut fetched = schema::output::<fetch::FetchResult<'_>>();
    // Members that the tool never returns; the formats return all.
    if let Some(article) = fetched.pointer_mut("/properties/articles/items/properties") {
        keep_core(article);
    }
    vec![
        tool::<search::SearchArguments>(
            "search",
            "Search PubMed",
            SEARCH,
            schema::output::<search::SearchResult>(),
        ),
        tool::<fetch::FetchArguments>("fetch", "Get articles from PubMed", FETCH, fetched),
        tool::<related::RelatedArguments>(
            "related",
            "Related articles and citations",
            RELATED,
            schema::output::<related::RelatedResult>(),
        ),
        tool::<convert_ids::ConvertArguments>(
            "convert_ids",
            "Convert PMID, PMCID and DOI",
            CONVERT,
            schema::output::<convert_ids::ConvertResult>(),
        ),
        tool::<citation_match::MatchArguments>(
            "citation_match",
            "Match citations in PubMed",
            MATCH,
            schema::output::<citation_match::MatchResult>(),
        ),
        tool::<spell::SpellArguments>(
            "spell",
            "Check a query's spelling",
            SPELL,
            schema::output::<spell::SpellResult>(),
        ),
        tool::<mesh::MeshArguments>(
            "mesh",
            "Look up MeSH terms",
            MESH,
            schema::output::<mesh::MeshResult>(),
        ),
        tool::<info::InfoArguments>(
            "info",
            "What PubMed offers",
            INFO,
            schema::output::<einfo::Info<'_>>(),
        ),
    ]
}

fn tool<A: JsonSchema>(name: &str, title: &str, description: &str, output: Value) -> Tool {
    Tool {
        name: name.to_owned(),
        title: Some(title.to_owned()),
        description: description.to_owned(),
        input_schema: schema::input::<A>(),
        output_schema: output,
        annotations: Annotations::LOOKUP,
    }
}

/// Members of an article that the tool `fetch` returns, see `reduced` there.
const CORE: [&str; 20] = [
    "pmid",
    "is_retracted",
    "is_of_concern",
    "title",
    "vernacular_title",
    "abstract_text",
    "authors",
    "authors_complete",
    "journal_info",
    "book_info",
    "issued",
    "electronic_date",
    "publication_types",
    "keywords",
    "mesh_terms",
    "grant_list",
    "doi",
    "pmcid",
    "languages",
    "comments_corrections",
];

fn keep_core(properties: &mut Value) {
    if let Some(members) = properties.as_object_mut() {
        members.retain(|name, _| CORE.contains(&name.as_str()));
    }
}

fn resources() -> Vec<Resource> {
    vec![
        Resource {
            uri: resource::INFO.to_owned(),
            name: "info".to_owned(),
            title: Some("PubMed plugin".to_owned()),
            description: "What the plugin is, how it keeps NCBI's rules, and whether NCBI answers."
                .to_owned(),
            output_schema: schema::output::<resource::ServerInfo>(),
        },
        Resource {
            uri: resource::STATS.to_owned(),
            name: "stats".to_owned(),
            title: Some("PubMed statistics".to_owned()),
            description: "Size, last update, search fields and links of PubMed.".to_owned(),
            output_schema: schema::output::<resource::Stats>(),
        },
    ]
}

fn formats() -> Vec<Format> {
    let format = |name: &str, description: &str, media_type: &str, output_schema| Format {
        name: name.to_owned(),
        description: description.to_owned(),
        media_types: vec![media_type.to_owned()],
        output_schema,
        ..Format::default()
    };
    let (xml, text) = ("text/xml", "text/plain");
    vec![
        format(
            "efetch",
            "Articles and book chapters of PubMed: PubmedArticleSet, or one record of it.",
            xml,
            schema::output::<article::Articles<'_>>(),
        ),
        format(
            "works",
            "The same documents as bibliographic records.",
            xml,
            schema::output::<record::Works<'_>>(),
        ),
        format("esearch", "An answer of ESearch.", xml, schema::output::<esearch::Found<'_>>()),
        format(
            "esummary",
            "An answer of ESummary, version 1 or 2.0.",
            xml,
            schema::output::<esummary::Summaries<'_>>(),
        ),
        format("elink", "An answer of ELink.", xml, schema::output::<elink::Links<'_>>()),
        format("einfo", "An answer of EInfo.", xml, schema::output::<einfo::Info<'_>>()),
        format("espell", "An answer of ESpell.", xml, schema::output::<espell::Spelling<'_>>()),
        format("epost", "An answer of EPost.", xml, schema::output::<epost::Posted<'_>>()),
        format(
            "ecitmatch",
            "An answer of ECitMatch, lines with bars.",
            text,
            schema::output::<ecitmatch::Matches<'_>>(),
        ),
        format(
            "medline",
            "Records in MEDLINE's tagged text.",
            text,
            schema::output::<medline::Records<'_>>(),
        ),
        format(
            "idconv",
            "An answer of PMC's converter of identifiers.",
            "application/json",
            schema::output::<idconv::Converted<'_>>(),
        ),
    ]
}

/// NCBI's terms: three requests a second without a key, ten with one, over all utilities. Records
/// change once a day; search results and history sessions change sooner.
fn hosts() -> Vec<HostRule> {
    let pace = Some(Pace { interval_ms: 334, burst: None, upstream: Some(UPSTREAM.to_owned()) });
    let day = 24 * 3600;
    let path = |name: &str| format!("/entrez/eutils/{name}.fcgi");
    let records = HostRule {
        paths: vec![path("efetch"), path("esummary"), path("einfo")],
        pace: pace.clone(),
        cache_seconds: Some(day),
        ..HostRule::new(EUTILS, &["GET", "POST"])
    };
    let searches = HostRule {
        paths: vec!["/entrez/eutils".to_owned()],
        pace: pace.clone(),
        cache_seconds: Some(1800),
        ..HostRule::new(EUTILS, &["GET", "POST"])
    };
    let converter = HostRule {
        paths: vec!["/tools/idconv/api/v1/articles".to_owned()],
        pace,
        cache_seconds: Some(day),
        ..HostRule::new(PMC, &["GET"])
    };
    vec![records, searches, converter]
}

fn secrets() -> Vec<Secret> {
    vec![
        Secret {
            name: "api_key".to_owned(),
            description: Some(
                "NCBI API key for ten requests a second; from the settings of an NCBI account."
                    .to_owned(),
            ),
            required: false,
            hosts: vec![EUTILS.to_owned()],
            attach: Attach::Query("api_key".to_owned()),
            pace: Some(Pace { interval_ms: 100, burst: None, upstream: None }),
        },
        Secret {
            name: "contact".to_owned(),
            description: Some("Address NCBI writes to before it blocks anyone.".to_owned()),
            required: false,
            hosts: vec![EUTILS.to_owned(), PMC.to_owned()],
            attach: Attach::Query("email".to_owned()),
            pace: None,
        },
        Secret {
            name: "software".to_owned(),
            description: Some("Name and version that NCBI knows this software by.".to_owned()),
            required: false,
            hosts: vec![EUTILS.to_owned(), PMC.to_owned()],
            attach: Attach::Query("tool".to_owned()),
            pace: None,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_have_their_six_sections_and_are_short() {
        for tool in manifest().tools {
            let labels =
                ["WHEN TO USE:", "INPUTS:", "OUTPUTS:", "COSTS:", "SIDE EFFECTS:", "LIMITS:"];
            let lines: Vec<&str> = tool.description.lines().collect();
            assert_eq!(lines.len(), labels.len(), "{}", tool.name);
            for (line, label) in lines.iter().zip(labels) {
                assert!(line.starts_with(label), "{}: {line}", tool.name);
            }
            assert!(tool.description.len() < 700, "{}: {}", tool.name, tool.description.len());
        }
    }

    #[test]
    fn schemas_are_strict_and_have_no_null() {
        fn walk(path: &str, schema: &Value) {
            if let Some(members) = schema.as_object() {
                assert_ne!(members.get("type"), Some(&Value::from("null")), "{path}");
                assert!(!members.get("type").is_some_and(Value::is_array), "{path}");
                if members.get("type") == Some(&Value::from("object"))
                    && members.contains_key("properties")
                {
                    assert_eq!(members["additionalProperties"], false, "{path}");
                }
                for (name, member) in members {
                    walk(&format!("{path}/{name}"), member);
                }
            } else if let Some(items) = schema.as_array() {
                items.iter().for_each(|item| walk(path, item));
            }
        }
        let manifest = manifest();
        for tool in &manifest.tools {
            walk(&tool.name, &tool.input_schema);
            walk(&tool.name, &tool.output_schema);
        }
        for format in &manifest.formats {
            walk(&format.name, &format.output_schema);
        }
    }
}
