//! The reserved tool `resource`: a description of the plugin with NCBI's status, and the size and
//! fields of PubMed.

use carrel_pdk::{Error, Host, resource};
use schemars::JsonSchema;
use serde::Serialize;

use super::invalid;
use crate::formats::{dates, einfo};
use crate::request::Query;
use crate::response;

/// The address of the first document.
pub(crate) const INFO: &str = "pubmed-connect://info";
/// The address of the second document.
pub(crate) const STATS: &str = "pubmed-connect://stats/pubmed";
/// The newest MCP revision that the host of this version supports.
const MCP_REVISION: &str = "2026-07-28";
/// The name and version sent to NCBI unless the operator sets others.
const SOFTWARE: &str = concat!("carrel/", env!("CARGO_PKG_VERSION"));
/// Where the tools are described, in the source distribution.
const DOCUMENTATION: &str = "./docs/how-to/search-pubmed.md";

/// What this plugin is, and how it keeps NCBI's rules.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ServerInfo {
    /// Name of the plugin.
    pub(crate) server_name: &'static str,
    /// Its version.
    pub(crate) server_version: &'static str,
    /// What it does.
    pub(crate) description: &'static str,
    /// Whether NCBI is told an address to write to. Which one, only the host knows.
    pub(crate) contact_email: &'static str,
    /// The newest revision of MCP that the server speaks.
    pub(crate) mcp_spec_version: &'static str,
    /// How NCBI's rules are kept.
    pub(crate) ncbi_compliance: Compliance,
    /// The utilities in use.
    pub(crate) supported_eutilities: Vec<&'static str>,
    /// Whether NCBI answers.
    pub(crate) operational_status: Operation,
    /// Where the tools are described.
    pub(crate) documentation_url: &'static str,
}

/// How NCBI's rules are kept.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Compliance {
    /// Whether a key is in use.
    pub(crate) api_usage_status: &'static str,
    /// The name and version NCBI sees.
    pub(crate) tool_identifier: String,
    /// NCBI's rules.
    #[schemars(extend("format" = "uri"))]
    pub(crate) ncbi_usage_policy_url: &'static str,
    /// The pace that holds.
    pub(crate) current_rate_limit_adherence: &'static str,
}

/// Whether NCBI answers.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Operation {
    /// When NCBI gave the answer that the status is read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub(crate) last_ncbi_connectivity_check: Option<String>,
    /// Nominal, or what went wrong.
    pub(crate) ncbi_status: String,
    /// Requests to NCBI that wait for their turn or for an answer, as far as the host says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) internal_queue_length: Option<u64>,
    /// When PubMed was last updated, in NCBI's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pubmed_last_update: Option<String>,
}

/// The size and the fields of PubMed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Stats {
    /// Name of the database.
    pub(crate) database_name: String,
    /// The name a person reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) menu_name: Option<String>,
    /// What it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// Records in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_record_count: Option<u64>,
    /// When it was last updated, in NCBI's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_update: Option<String>,
    /// Fields to search in.
    pub(crate) available_search_fields: Vec<SearchField>,
    /// Links to other databases.
    pub(crate) available_link_names: Vec<LinkName>,
    /// The request, without key and address.
    pub(crate) e_info_url: String,
}

/// A field to search in.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SearchField {
    /// Its tag, such as AUTH.
    pub(crate) name: String,
    /// Its name, such as Author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) full_name: Option<String>,
    /// What it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// Whether it holds dates.
    pub(crate) is_date: bool,
    /// Whether it holds numbers.
    pub(crate) is_numerical: bool,
    /// Terms in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) term_count: Option<u64>,
}

/// A kind of link.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct LinkName {
    /// Its name.
    pub(crate) name: String,
    /// What it links to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// The database it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) db_to: Option<String>,
}

/// Runs the tool.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let requested = resource::asked(arguments)?;
    let query = Query::new("einfo").with("db", "pubmed");
    match requested.uri.as_str() {
        INFO => {
            let request = query.request();
            let outcome = host.fetch(request.clone()).map_err(Error::from).and_then(|first| {
                response::settle(host, &request, first, |response| {
                    let last_update = einfo::parse(&response.body)?.last_update;
                    let checked = response.header("date").and_then(dates::from_http);
                    Ok((last_update.map(|text| text.into_owned()), checked))
                })
            });
            let (ncbi_status, (pubmed_last_update, last_ncbi_connectivity_check)) = match outcome {
                Ok(known) => ("Nominal".to_owned(), known),
                Err(error) => (error.message, (None, None)),
            };
            let operational_status = Operation {
                last_ncbi_connectivity_check,
                ncbi_status,
                internal_queue_length: setting(host, "carrel:waiting"),
                pubmed_last_update,
            };
            let (usage, pace) = if requested.has("api_key") {
                ("NCBI API key in use", "at most 10 requests a second, kept by the host")
            } else {
                ("no NCBI API key", "at most 3 requests a second, kept by the host")
            };
            Ok(crate::to_json(&ServerInfo {
                server_name: "carrel-eutils",
                server_version: env!("CARGO_PKG_VERSION"),
                description: "PubMed through NCBI's E-utilities.",
                contact_email: if requested.has("contact") { "set" } else { "not set" },
                mcp_spec_version: MCP_REVISION,
                ncbi_compliance: Compliance {
                    api_usage_status: usage,
                    tool_identifier: setting(host, "software")
                        .unwrap_or_else(|| SOFTWARE.to_owned()),
                    ncbi_usage_policy_url: "https://www.ncbi.nlm.nih.gov/books/NBK25497/",
                    current_rate_limit_adherence: pace,
                },
                supported_eutilities: vec![
                    "ESearch",
                    "EFetch",
                    "ESummary",
                    "ELink",
                    "EInfo",
                    "ESpell",
                    "ECitMatch",
                ],
                operational_status,
                documentation_url: DOCUMENTATION,
            }))
        }
        STATS => response::ask(host, &query, |body| {
            let info = einfo::parse(body)?;
            Ok(crate::to_json(&stats(info, query.url())))
        }),
        other => Err(invalid(format!("this plugin has no resource {other:?}"))),
    }
}

/// A setting, as far as it is set and of its type.
fn setting<T: serde::de::DeserializeOwned>(host: &dyn Host, key: &str) -> Option<T> {
    serde_json::from_str(&host.setting(key)?).ok()
}

fn stats(info: einfo::Info<'_>, e_info_url: String) -> Stats {
    let own = |text: Option<crate::formats::article::Text<'_>>| text.map(|text| text.into_owned());
    Stats {
        database_name: own(info.db_name).unwrap_or_else(|| "pubmed".to_owned()),
        menu_name: own(info.menu_name),
        description: own(info.description),
        total_record_count: info.count,
        last_update: own(info.last_update),
        available_search_fields: info
            .fields
            .unwrap_or_default()
            .into_iter()
            .filter_map(|field| {
                Some(SearchField {
                    name: own(field.name)?,
                    full_name: own(field.full_name),
                    description: own(field.description),
                    is_date: field.is_date,
                    is_numerical: field.is_numerical,
                    term_count: field.term_count,
                })
            })
            .collect(),
        available_link_names: info
            .links
            .unwrap_or_default()
            .into_iter()
            .filter_map(|link| {
                Some(LinkName {
                    name: own(link.name)?,
                    description: own(link.description),
                    db_to: own(link.db_to),
                })
            })
            .collect(),
        e_info_url,
    }
}
