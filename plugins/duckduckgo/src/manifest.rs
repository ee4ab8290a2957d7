//! Declares the plugin's manifest.

use carrel_pdk::Manifest;
use carrel_pdk::manifest::{HostRule, Pace};
use carrel_websearch::provider;

use crate::answer::SERVICE;
use crate::request::ACCEPTS;

const HOST: &str = "html.duckduckgo.com";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let version = env!("CARGO_PKG_VERSION");
    let mut manifest = provider::manifest("duckduckgo", version, &SERVICE, &ACCEPTS, "text/html");
    manifest.hosts = vec![HostRule {
        paths: vec!["/html".to_owned()],
        // The site is for people, and answers quicker clients with a challenge.
        pace: Some(Pace { interval_ms: 3000, burst: None, upstream: None }),
        concurrency: Some(1),
        ..HostRule::new(HOST, &["GET"])
    }];
    manifest
}
