//! Declares the plugin's manifest.

use carrel_pdk::document::thread::Thread;
use carrel_pdk::manifest::{Annotations, Format, HostRule, Pace, Tool};
use carrel_pdk::{Manifest, schema};

use crate::Wanted;

const HOST: &str = "hn.algolia.com";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "hackernews",
        env!("CARGO_PKG_VERSION"),
        "Reads threads of Hacker News: a post and its comments, by the API of the site's search.",
    );
    manifest.title = Some("Hacker News".to_owned());
    manifest.hosts = vec![HostRule {
        paths: vec!["/api/v1/items".to_owned()],
        // The API allows 10,000 requests an hour.
        pace: Some(Pace { interval_ms: 400, burst: Some(4), upstream: None }),
        concurrency: Some(2),
        cache_seconds: Some(600),
        ..HostRule::new(HOST, &["GET"])
    }];
    manifest.tools = vec![Tool {
        name: "thread".to_owned(),
        title: Some("Read a thread of Hacker News".to_owned()),
        description: "Returns a post or a comment of Hacker News with all replies, as a document."
            .to_owned(),
        input_schema: schema::input::<Wanted>(),
        output_schema: schema::output::<Thread>(),
        annotations: Annotations::LOOKUP,
    }];
    manifest.formats = vec![Format {
        media_types: vec!["application/json".to_owned()],
        ..Format::text("item", "An item of the API, with its tree.", schema::output::<Thread>())
    }];
    manifest
}
