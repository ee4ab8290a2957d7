//! Declares the plugin's manifest.

use carrel_pdk::Manifest;
use carrel_pdk::manifest::{Attach, HostRule, Pace};
use carrel_websearch::provider;

use crate::answer::SERVICE;
use crate::request::ACCEPTS;

const HOST: &str = "api.exa.ai";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let version = env!("CARGO_PKG_VERSION");
    let mut manifest = provider::manifest("exa", version, &SERVICE, &ACCEPTS, "application/json");
    manifest.hosts = vec![HostRule {
        paths: vec!["/search".to_owned()],
        // Five requests a second.
        pace: Some(Pace { interval_ms: 200, burst: Some(5), upstream: None }),
        concurrency: Some(4),
        ..HostRule::new(HOST, &["POST"])
    }];
    let attach = Attach::Header("x-api-key".to_owned());
    manifest.secrets = vec![provider::api_key(&SERVICE, &[HOST], attach)];
    manifest
}
