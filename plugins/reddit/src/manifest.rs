//! Declares the plugin's manifest.

use carrel_pdk::document::thread::Thread;
use carrel_pdk::manifest::{Annotations, Format, HostRule, Pace, Tool};
use carrel_pdk::{Manifest, schema};

use crate::Wanted;

const HOST: &str = "www.reddit.com";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "reddit",
        env!("CARGO_PKG_VERSION"),
        "Reads posts of Reddit with their comments.",
    );
    manifest.title = Some("Reddit".to_owned());
    manifest.hosts = vec![HostRule {
        paths: vec!["/comments".to_owned()],
        // Programs without an account may send ten requests a minute.
        pace: Some(Pace { interval_ms: 6000, burst: Some(3), upstream: None }),
        concurrency: Some(1),
        cache_seconds: Some(600),
        ..HostRule::new(HOST, &["GET"])
    }];
    manifest.tools = vec![Tool {
        name: "post".to_owned(),
        title: Some("Read a post of Reddit".to_owned()),
        description: "Returns a post of Reddit with its comments, as a document.".to_owned(),
        input_schema: schema::input::<Wanted>(),
        output_schema: schema::output::<Thread>(),
        annotations: Annotations::LOOKUP,
    }];
    manifest.formats = vec![Format {
        media_types: vec!["application/json".to_owned()],
        ..Format::text("post", "A post and its comments.", schema::output::<Thread>())
    }];
    manifest
}
