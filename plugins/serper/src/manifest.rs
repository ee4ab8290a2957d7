//! Declares the plugin's manifest.

use carrel_pdk::Manifest;
use carrel_pdk::manifest::{Attach, HostRule, Pace};
use carrel_websearch::provider;

use crate::answer::SERVICE;
use crate::request::ACCEPTS;

const HOST: &str = "google.serper.dev";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let version = env!("CARGO_PKG_VERSION");
    let mut manifest =
        provider::manifest("serper", version, &SERVICE, &ACCEPTS, "application/json");
    manifest.hosts = vec![HostRule {
        paths: vec!["/search".to_owned()],
        pace: Some(Pace { interval_ms: 50, burst: Some(20), upstream: None }),
        concurrency: Some(4),
        ..HostRule::new(HOST, &["POST"])
    }];
    let attach = Attach::Header("X-API-KEY".to_owned());
    manifest.secrets = vec![provider::api_key(&SERVICE, &[HOST], attach)];
    manifest
}
