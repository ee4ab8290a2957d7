//! Declares the plugin's manifest.

use carrel_pdk::Manifest;
use carrel_pdk::manifest::{Attach, HostRule, Pace};
use carrel_websearch::provider;

use crate::answer::SERVICE;
use crate::request::ACCEPTS;

const HOST: &str = "api.tavily.com";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let version = env!("CARGO_PKG_VERSION");
    let mut manifest =
        provider::manifest("tavily", version, &SERVICE, &ACCEPTS, "application/json");
    manifest.hosts = vec![HostRule {
        paths: vec!["/search".to_owned()],
        // 100 requests a minute for a development key.
        pace: Some(Pace { interval_ms: 600, burst: Some(10), upstream: None }),
        concurrency: Some(4),
        ..HostRule::new(HOST, &["POST"])
    }];
    manifest.secrets = vec![provider::api_key(&SERVICE, &[HOST], Attach::bearer())];
    manifest
}
