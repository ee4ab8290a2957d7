//! {{title}}: what the plugin offers, and how its tools reach the source.

mod works;

use carrel_pdk::manifest::{Annotations, Format, HostRule, Pace, Tool};
use carrel_pdk::{Code, Error, Host, Manifest, Plugin, Request, arguments, percent, schema};
use schemars::JsonSchema;
use serde::Deserialize;

const SEARCH: &str = "https://api.example.org/works";

/// The arguments of `search`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// Words to find in titles.
    #[schemars(length(min = 1))]
    query: String,
}

struct Source;

impl Plugin for Source {
    fn manifest() -> Manifest {
        let mut manifest = Manifest::new("{{name}}", "0.1.0", "Finds works in {{title}}.");
        manifest.title = Some("{{title}}".to_owned());
        // The only host that the plugin may reach, with the rate limit that the host asks for.
        manifest.hosts = vec![HostRule {
            paths: vec!["/works".to_owned()],
            pace: Some(Pace { interval_ms: 1000, burst: None, upstream: None }),
            cache_seconds: Some(600),
            ..HostRule::new("api.example.org", &["GET"])
        }];
        manifest.tools = vec![Tool {
            name: "search".to_owned(),
            title: Some("Search {{title}}".to_owned()),
            description: "Finds works by words in their titles.".to_owned(),
            input_schema: schema::input::<Search>(),
            output_schema: schema::output::<works::Works>(),
            annotations: Annotations::LOOKUP,
        }];
        manifest.formats = vec![Format {
            media_types: vec!["application/json".to_owned()],
            ..Format::text(
                "works",
                "A page of works, as the source's API answers.",
                schema::output::<works::Works>(),
            )
        }];
        manifest
    }

    fn call(tool: &str, arguments_text: &str, host: &dyn Host) -> Result<String, Error> {
        if tool != "search" {
            return Err(Error::unknown_tool(tool));
        }
        let search: Search = arguments(arguments_text)?;
        let url = format!("{SEARCH}?title={}", percent::query(&search.query));
        // The host rate-limits, retries and caches.
        let response = host.fetch(Request::get(&url))?;
        if !response.is_success() {
            let message = format!("{{title}} answered with {}", response.status);
            return Err(Error::new(Code::UpstreamUnavailable, message));
        }
        works::read(&response.body)
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "works" => works::read(document),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(Source);
