//! Declares the plugin's manifest.

use carrel_pdk::Manifest;
use carrel_pdk::manifest::{Attach, HostRule, Pace};
use carrel_websearch::provider;

use crate::answer::SERVICE;
use crate::request::ACCEPTS;

const HOST: &str = "www.googleapis.com";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let version = env!("CARGO_PKG_VERSION");
    let mut manifest =
        provider::manifest("google", version, &SERVICE, &ACCEPTS, "application/json");
    manifest.hosts = vec![HostRule {
        paths: vec!["/customsearch/v1".to_owned()],
        // 100 requests a minute.
        pace: Some(Pace { interval_ms: 600, burst: Some(10), upstream: None }),
        concurrency: Some(4),
        ..HostRule::new(HOST, &["GET"])
    }];
    let attach = Attach::Query("key".to_owned());
    manifest.secrets = vec![provider::api_key(&SERVICE, &[HOST], attach)];
    manifest
}
