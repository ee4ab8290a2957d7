//! Declares the plugin's manifest.

use carrel_pdk::Manifest;
use carrel_pdk::manifest::{Attach, HostRule, Pace};
use carrel_websearch::provider;

use crate::answer::SERVICE;
use crate::request::ACCEPTS;

const HOST: &str = "api.search.brave.com";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let version = env!("CARGO_PKG_VERSION");
    let mut manifest = provider::manifest("brave", version, &SERVICE, &ACCEPTS, "application/json");
    manifest.hosts = vec![HostRule {
        paths: vec!["/res/v1/web/search".to_owned()],
        // The free plan allows one request a second.
        pace: Some(Pace { interval_ms: 1000, burst: None, upstream: None }),
        concurrency: Some(2),
        ..HostRule::new(HOST, &["GET"])
    }];
    let attach = Attach::Header("X-Subscription-Token".to_owned());
    manifest.secrets = vec![provider::api_key(&SERVICE, &[HOST], attach)];
    manifest
}
