//! Declares the plugin's manifest.

use carrel_pdk::manifest::{Annotations, Format, HostRule, Pace, Tool};
use carrel_pdk::{Manifest, schema};

use crate::timedtext::Transcript;
use crate::tool::{Spoken, Wanted};
use crate::watch::Video;

const HOST: &str = "www.youtube.com";

/// The manifest.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = Manifest::new(
        "youtube",
        env!("CARGO_PKG_VERSION"),
        "Reads transcripts of YouTube's videos, with times.",
    );
    manifest.title = Some("YouTube".to_owned());
    manifest.hosts = vec![HostRule {
        paths: vec!["/watch".to_owned(), "/api/timedtext".to_owned()],
        pace: Some(Pace { interval_ms: 1000, burst: Some(3), upstream: None }),
        concurrency: Some(2),
        cache_seconds: Some(600),
        ..HostRule::new(HOST, &["GET"])
    }];
    manifest.tools = vec![Tool {
        name: "transcript".to_owned(),
        title: Some("Read the transcript of a video".to_owned()),
        description: "Returns the transcript of a video of YouTube with times, as a document."
            .to_owned(),
        input_schema: schema::input::<Wanted>(),
        output_schema: schema::output::<Spoken>(),
        annotations: Annotations::LOOKUP,
    }];
    manifest.formats = vec![
        Format {
            media_types: vec!["text/html".to_owned()],
            ..Format::text("watch", "The page of a video.", schema::output::<Video>())
        },
        Format::text(
            "timedtext",
            "A transcript: XML of either version, or JSON.",
            schema::output::<Transcript>(),
        ),
    ];
    manifest
}
