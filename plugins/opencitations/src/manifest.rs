//! Declares the plugin's manifest.

use carrel_pdk::manifest::{Attach, Format, HostRule, LinkedWorks, Pace, Roles, Secret};
use carrel_pdk::{Manifest, schema};

use crate::formats::links::Links;
use crate::tools::linked;

const HOST: &str = "api.opencitations.net";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "opencitations",
        env!("CARGO_PKG_VERSION"),
        "Reads OpenCitations' links between citing and cited works.",
    );
    manifest.title = Some("OpenCitations".to_owned());
    manifest.hosts = vec![HostRule {
        paths: vec!["/index/v2".to_owned()],
        // OpenCitations allows 180 requests a minute from one address.
        pace: Some(Pace { interval_ms: 350, burst: Some(3), upstream: Some(HOST.to_owned()) }),
        concurrency: Some(2),
        cache_seconds: Some(24 * 3600),
        ..HostRule::new(HOST, &["GET"])
    }];
    manifest.secrets = vec![Secret {
        name: "access_token".to_owned(),
        description: Some("OpenCitations' access token, by which it counts its users.".to_owned()),
        required: false,
        hosts: vec![HOST.to_owned()],
        attach: Attach::Header("authorization".to_owned()),
        pace: None,
    }];
    let linked = || LinkedWorks { identifiers: vec!["doi", "pmid"], max: linked::MAX };
    manifest.roles =
        Some(Roles { references: Some(linked()), citations: Some(linked()), ..Roles::default() });
    manifest.formats = vec![
        format("citations", "Links from the works that cite one."),
        format("references", "Links to the works that one cites."),
    ];
    manifest
}

fn format(name: &str, description: &str) -> Format {
    Format {
        name: name.to_owned(),
        description: description.to_owned(),
        media_types: vec!["application/json".to_owned()],
        output_schema: schema::output::<Links>(),
        ..Format::default()
    }
}
