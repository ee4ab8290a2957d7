//! Declares the plugin's manifest.

use carrel_pdk::Manifest;
use carrel_pdk::manifest::{HostRule, Pace};
use carrel_websearch::provider;

use crate::answer::SERVICE;
use crate::request::{ACCEPTS, HOST};

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let version = env!("CARGO_PKG_VERSION");
    let mut manifest =
        provider::manifest("searxng", version, &SERVICE, &ACCEPTS, "application/json");
    manifest.hosts = vec![HostRule {
        paths: vec!["/search".to_owned()],
        pace: Some(Pace { interval_ms: 500, burst: Some(5), upstream: None }),
        concurrency: Some(4),
        ..HostRule::new(HOST, &["GET"])
    }];
    manifest
}
