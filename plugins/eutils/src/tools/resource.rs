//! The reserved tool `resource`: what this plugin is and whether NCBI answers, and the size and fields
//! of PubMed.

use carrel_pdk::{Error, Host, resource};
use schemars::JsonSchema;
use serde::Serialize;

use super::invalid;
use crate::ask::{self, Query, TOOL};
use crate::einfo;

/// The address of the first document.
pub(crate) const INFO: &str = "pubmed-connect://info";
/// The address of the second document.
pub(crate) const STATS: &str = "pubmed-connect://stats/pubmed";

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
    /// Whether a contact address is sent along; which one, only the host knows.
    pub(crate) contact_configured: bool,
    /// How NCBI's rules are kept.
    pub(crate) ncbi_compliance: Compliance,
    /// The utilities in use.
    pub(crate) supported_eutilities: Vec<&'static str>,
    /// Whether NCBI answers.
    pub(crate) operational_status: Operation,
}

/// How NCBI's rules are kept.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Compliance {
    /// Whether a key is in use.
    pub(crate) api_usage_status: &'static str,
    /// The name NCBI sees.
    pub(crate) tool_identifier: &'static str,
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
    /// Nominal, or what went wrong.
    pub(crate) ncbi_status: String,
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
    let asked = resource::asked(arguments)?;
    let query = Query::new("einfo").with("db", "pubmed");
    match asked.uri.as_str() {
        INFO => {
            let outcome = ask::ask(host, &query, |body| {
                Ok(einfo::parse(body)?.last_update.map(|text| text.into_owned()))
            });
            let operational_status = match outcome {
                Ok(pubmed_last_update) => {
                    Operation { ncbi_status: "Nominal".to_owned(), pubmed_last_update }
                }
                Err(error) => Operation { ncbi_status: error.message, pubmed_last_update: None },
            };
            let (usage, pace) = if asked.has("api_key") {
                ("NCBI API key in use", "at most 10 requests a second, kept by the host")
            } else {
                ("no NCBI API key", "at most 3 requests a second, kept by the host")
            };
            Ok(crate::to_json(&ServerInfo {
                server_name: "carrel-eutils",
                server_version: env!("CARGO_PKG_VERSION"),
                description: "PubMed through NCBI's E-utilities.",
                contact_configured: asked.has("contact"),
                ncbi_compliance: Compliance {
                    api_usage_status: usage,
                    tool_identifier: TOOL,
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
            }))
        }
        STATS => ask::ask(host, &query, |body| {
            let info = einfo::parse(body)?;
            Ok(crate::to_json(&stats(info, query.url())))
        }),
        other => Err(invalid(format!("this plugin has no resource {other:?}"))),
    }
}

fn stats(info: einfo::Info<'_>, e_info_url: String) -> Stats {
    let own = |text: Option<crate::article::Text<'_>>| text.map(|text| text.into_owned());
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
