//! A plugin's description of itself, as `contract/v1/manifest.schema.json` fixes it.

use serde::Serialize;
use serde_json::Value;

/// The contract version this kit speaks.
pub const CONTRACT: &str = "1.1";
/// The contract version of a plugin that uses nothing newer: older hosts accept it too.
const FIRST: &str = "1.0";

/// What `describe` returns.
#[derive(Debug, Clone, Serialize)]
pub struct Manifest {
    /// The oldest contract version that the plugin needs; [`to_json`](Self::to_json) raises it where
    /// a format needs a newer one.
    #[serde(skip_serializing)]
    pub contract: &'static str,
    /// The plugin's name, snake_case; its tools are listed as `<name>_<tool>`.
    pub name: String,
    /// Prefix of the tools' names where it is not the plugin's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The plugin's own version.
    pub version: String,
    /// The name a person reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// One or two sentences on what the plugin reads.
    pub description: String,
    /// SPDX expression.
    pub licence: String,
    /// Where people and issues are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// The only hosts that the plugin may fetch from.
    pub hosts: Vec<HostRule>,
    /// Asks for every host with a public name, besides those in `hosts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_web: Option<PublicWeb>,
    /// Secrets that the host adds to requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<Secret>,
    /// Limits that the plugin requests where the defaults do not suffice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// The tools.
    pub tools: Vec<Tool>,
    /// Identifiers that the reserved tool `lookup` resolves to records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookup: Option<Lookup>,
    /// Kinds of identifier that the source itself assigns, every one of them: `arxiv`, `pmid`,
    /// `openalex`, `s2`. An identifier that the source does not know then does not exist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assigns: Vec<&'static str>,
    /// The plugin's roles for tools that query several sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Roles>,
    /// Documents about the source that clients read by URI.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Resource>,
    /// What `parse` and `parse_bytes` read.
    pub formats: Vec<Format>,
}

impl Manifest {
    /// A manifest without hosts, tools and formats, under Apache-2.0; set the fields to add them.
    pub fn new(name: &str, version: &str, description: &str) -> Self {
        Self {
            contract: FIRST,
            name: name.to_owned(),
            namespace: None,
            version: version.to_owned(),
            title: None,
            description: description.to_owned(),
            licence: "Apache-2.0".to_owned(),
            homepage: None,
            hosts: Vec::new(),
            public_web: None,
            secrets: Vec::new(),
            limits: None,
            tools: Vec::new(),
            lookup: None,
            assigns: Vec::new(),
            roles: None,
            resources: Vec::new(),
            formats: Vec::new(),
        }
    }

    /// The contract version that the plugin needs: 1.1 where a format is bytes, a role is declared, a
    /// secret is required, the source assigns identifiers, or the public web is asked for.
    pub fn contract(&self) -> &'static str {
        let needs_later = self.roles.is_some()
            || self.public_web.is_some()
            || !self.assigns.is_empty()
            || self.formats.iter().any(|format| format.bytes)
            || self.secrets.iter().any(|secret| secret.required);
        if needs_later { CONTRACT } else { self.contract }
    }

    /// The manifest as the contract's JSON text.
    pub fn to_json(&self) -> String {
        // Written here: a copy of the manifest with another version would be 12 KB of code in every
        // component.
        let rest = serde_json::to_string(self).unwrap_or_default();
        let rest = rest.strip_prefix('{').unwrap_or_default();
        format!("{{\"contract\":\"{}\",{rest}", self.contract())
    }
}

/// A host that the plugin may fetch from, with its rate limit and cache time.
#[derive(Debug, Clone, Serialize)]
pub struct HostRule {
    /// A DNS name, or `*.name` for exactly one more label.
    pub host: String,
    /// The methods used: `GET`, `HEAD`, `POST`.
    pub methods: Vec<&'static str>,
    /// Path prefixes, matched on whole segments; every path when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The rate limit by the upstream's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// The most concurrent requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Seconds for which a response is fresh in the host's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_seconds: Option<u32>,
}

impl HostRule {
    /// A rule for `host` with `methods`, without pace and cache.
    pub fn new(host: &str, methods: &[&'static str]) -> Self {
        Self {
            host: host.to_owned(),
            methods: methods.to_vec(),
            paths: Vec::new(),
            pace: None,
            concurrency: None,
            cache_seconds: None,
        }
    }
}

/// The public web: every host with a public name. Only an operator grants it, and only to a plugin
/// without secrets; the host limits the pace of each host and honours its `robots.txt`.
///
/// ```
/// use carrel_pdk::Manifest;
/// use carrel_pdk::manifest::PublicWeb;
///
/// let mut manifest = Manifest::new("pages", "0.1.0", "Reads pages.");
/// manifest.public_web = Some(PublicWeb::new(&["GET"]));
/// assert_eq!(manifest.contract(), "1.1");
/// ```
#[derive(Debug, Clone, Serialize)]
pub struct PublicWeb {
    /// The methods used: `GET`, `HEAD`.
    pub methods: Vec<&'static str>,
    /// Seconds for which a response is fresh in the host's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_seconds: Option<u32>,
}

impl PublicWeb {
    /// Asks for `methods`, without cache.
    pub fn new(methods: &[&'static str]) -> Self {
        Self { methods: methods.to_vec(), cache_seconds: None }
    }
}

/// A token bucket.
#[derive(Debug, Clone, Serialize)]
pub struct Pace {
    /// Milliseconds between two requests, on average.
    pub interval_ms: u32,
    /// The burst: requests without a pause after idle time; 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// Name of the bucket; the host's name when absent. Hosts of this plugin with the same name
    /// share it; a plugin cannot slow down other plugins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
}

/// A secret that the host adds to requests; the plugin never sees it.
#[derive(Debug, Clone, Serialize)]
pub struct Secret {
    /// The name under which the operator provides it.
    pub name: String,
    /// Its purpose and where to get one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the source refuses requests without it, always or as a rule: while it is not set, the
    /// host does not ask the plugin for `lookup` and roles, and says what to set.
    #[serde(skip_serializing_if = "is_false")]
    pub required: bool,
    /// The declared hosts to which it is sent.
    pub hosts: Vec<String>,
    /// The part of the request that carries it.
    pub attach: Attach,
    /// The pace that applies when it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
}

/// The place of a secret in a request.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Attach {
    /// A query parameter of this name.
    Query(String),
    /// A header of this name.
    Header(String),
    /// A header whose value begins with a scheme.
    #[serde(untagged)]
    Scheme {
        /// The name of the header.
        header: String,
        /// The word before the value, separated by a space.
        scheme: String,
    },
}

impl Attach {
    /// The header `Authorization: Bearer VALUE`.
    ///
    /// ```
    /// use carrel_pdk::manifest::{Attach, Secret};
    ///
    /// let secret = Secret {
    ///     name: "lists_token".to_owned(),
    ///     description: Some("A token of your account at lists.example.org.".to_owned()),
    ///     required: false,
    ///     hosts: vec!["api.example.org".to_owned()],
    ///     attach: Attach::bearer(),
    ///     pace: None,
    /// };
    /// assert_eq!(
    ///     serde_json::json!(secret)["attach"],
    ///     serde_json::json!({"header": "Authorization", "scheme": "Bearer"})
    /// );
    /// ```
    pub fn bearer() -> Self {
        Self::Scheme { header: "Authorization".to_owned(), scheme: "Bearer".to_owned() }
    }
}

/// Limits of one call, as requested; the operator's grant decides.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Limits {
    /// Seconds of processor time in the guest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<f64>,
    /// Bytes of linear memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Seconds from the call's start to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_seconds: Option<f64>,
    /// Bytes of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// Requests in one call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetches: Option<u32>,
    /// Bytes of one response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_bytes: Option<u64>,
    /// Bytes of all responses of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched_bytes: Option<u64>,
}

/// A tool.
#[derive(Debug, Clone, Serialize)]
pub struct Tool {
    /// snake_case, unique in the plugin.
    pub name: String,
    /// The name a person reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, when to use it and when not; a model reads it.
    pub description: String,
    /// JSON Schema of the arguments, see [`schema::input`](crate::schema::input).
    pub input_schema: Value,
    /// JSON Schema of the result, see [`schema::output`](crate::schema::output).
    pub output_schema: Value,
    /// Hints for clients.
    pub annotations: Annotations,
}

/// Hints about a tool.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Annotations {
    /// Does not change anything.
    pub read_only: bool,
    /// May delete or overwrite.
    pub destructive: bool,
    /// Calling twice is calling once.
    pub idempotent: bool,
    /// Reaches the network.
    pub open_world: bool,
}

impl Annotations {
    /// Reads from the network and changes nothing.
    pub const LOOKUP: Self =
        Self { read_only: true, destructive: false, idempotent: true, open_world: true };
}

/// What the reserved tool `lookup` takes; its arguments and result are `contract/v1/lookup.schema.json`,
/// for which [`lookup`](crate::lookup) has the types.
#[derive(Debug, Clone, Serialize)]
pub struct Lookup {
    /// Kinds of identifier: `doi`, `arxiv`, `pmid`, `pmcid`, `openalex`, `s2`, `isbn`.
    pub identifiers: Vec<&'static str>,
    /// Identifiers that one call takes; 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
}

/// The plugin's roles for tools that query several sources. For each role the host calls the
/// reserved tool `role:NAME`, for which [`roles`](crate::roles) has the types.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Roles {
    /// Searches works by words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// Knows copies that are free to read; arguments and result are those of `lookup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_copies: Option<Lookup>,
    /// Has full texts at the plugin's own hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_text: Option<FullText>,
    /// Knows what a work cites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<LinkedWorks>,
    /// Knows what cites a work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citations: Option<LinkedWorks>,
}

/// The role `search`.
#[derive(Debug, Clone, Serialize)]
pub struct Search {
    /// Works that one call returns at most.
    pub max: u32,
    /// Filters that it applies: `year`, `open_access`.
    pub filters: Vec<&'static str>,
}

/// The role `full_text`.
#[derive(Debug, Clone, Serialize)]
pub struct FullText {
    /// Kinds of identifier, the preferred one first.
    pub identifiers: Vec<&'static str>,
}

/// The roles `references` and `citations`.
#[derive(Debug, Clone, Serialize)]
pub struct LinkedWorks {
    /// Kinds of identifier, the preferred one first.
    pub identifiers: Vec<&'static str>,
    /// Works that one call returns at most.
    pub max: u32,
}

/// A document about the source that clients read by URI. The host calls the reserved tool `resource`
/// for it, whose arguments [`resource::asked`](crate::resource::asked) reads.
#[derive(Debug, Clone, Serialize)]
pub struct Resource {
    /// What clients ask for, with a scheme of the plugin's own.
    pub uri: String,
    /// snake_case, unique in the plugin.
    pub name: String,
    /// The name a person reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it holds.
    pub description: String,
    /// JSON Schema of the document.
    pub output_schema: Value,
}

/// A document format.
///
/// ```
/// use carrel_pdk::manifest::Format;
/// use serde_json::json;
///
/// let format = Format {
///     media_types: vec!["application/pdf".to_owned()],
///     ..Format::bytes("pdf", "A PDF file.", json!({"type": "object"}))
/// };
/// assert_eq!(json!(format)["bytes"], json!(true));
/// ```
#[derive(Debug, Clone, Default, Serialize)]
pub struct Format {
    /// snake_case, unique in the plugin.
    pub name: String,
    /// Which document it is.
    pub description: String,
    /// Whether the document goes to [`Plugin::parse_bytes`](crate::Plugin::parse_bytes) as bytes, and
    /// not to [`Plugin::parse`](crate::Plugin::parse) as text.
    #[serde(skip_serializing_if = "is_false")]
    pub bytes: bool,
    /// Media types it is served as.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media_types: Vec<String>,
    /// JSON Schema of what `parse` returns.
    pub output_schema: Value,
}

impl Format {
    /// A format of text, without media types.
    pub fn text(name: &str, description: &str, output_schema: Value) -> Self {
        let (name, description) = (name.to_owned(), description.to_owned());
        Self { name, description, bytes: false, media_types: Vec::new(), output_schema }
    }

    /// A format of bytes, without media types. The plugin is exported by `plugin!(…, bytes)`.
    pub fn bytes(name: &str, description: &str, output_schema: Value) -> Self {
        Self { bytes: true, ..Self::text(name, description, output_schema) }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest(formats: Vec<Format>) -> Value {
        let manifest = Manifest { formats, ..Manifest::new("reader", "0.1.0", "Reads.") };
        serde_json::from_str(&manifest.to_json()).unwrap()
    }

    #[test]
    fn a_required_secret_and_assigned_identifiers_need_contract_1_1() {
        let secret = |required| Secret {
            name: "key".to_owned(),
            description: None,
            required,
            hosts: vec!["api.example.org".to_owned()],
            attach: Attach::bearer(),
            pace: None,
        };
        let of =
            |manifest: &Manifest| -> Value { serde_json::from_str(&manifest.to_json()).unwrap() };
        let mut manifest = Manifest::new("lists", "0.1.0", "Finds works.");
        manifest.secrets = vec![secret(false)];
        assert_eq!(of(&manifest)["contract"], "1.0");
        assert_eq!(of(&manifest)["secrets"][0].get("required"), None);
        manifest.secrets = vec![secret(true)];
        assert_eq!(of(&manifest)["contract"], "1.1");
        assert_eq!(of(&manifest)["secrets"][0]["required"], true);
        let mut manifest = Manifest::new("lists", "0.1.0", "Finds works.");
        manifest.assigns = vec!["arxiv"];
        assert_eq!(of(&manifest)["contract"], "1.1");
        assert_eq!(of(&manifest)["assigns"], json!(["arxiv"]));
    }

    #[test]
    fn a_format_of_bytes_needs_contract_1_1() {
        let schema = json!({"type": "object"});
        let text = Format::text("page", "A page.", schema.clone());
        let written = manifest(vec![text.clone()]);
        assert_eq!(written["contract"], "1.0");
        assert_eq!(written["formats"][0].get("bytes"), None);
        let written = manifest(vec![text, Format::bytes("pdf", "A file.", schema)]);
        assert_eq!(written["contract"], "1.1");
        assert_eq!(written["formats"][1]["bytes"], true);
    }
}
