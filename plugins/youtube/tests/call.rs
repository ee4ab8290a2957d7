//! The tool against a fake upstream.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::testing::{FakeHost, Outcome, answer};
use carrel_pdk::{Code, Error, Plugin, Request};
use carrel_youtube::YouTube;
use serde_json::{Value, json};

const VIDEO: &str = r#"{"video": "desks_walls"}"#;

/// The page of a video with these tracks.
fn page(tracks: &Value) -> String {
    let player = json!({"playabilityStatus": {"status": "OK"},
        "videoDetails": {"videoId": "desks_walls", "title": "Desks", "shortDescription": "On desks."},
        "captions": {"playerCaptionsTracklistRenderer": {"captionTracks": tracks}}});
    format!("<html><script>var ytInitialPlayerResponse = {player};</script></html>")
}

fn track(language: &str) -> Value {
    let url = format!("https://www.youtube.com/api/timedtext?v=desks_walls&lang={language}");
    json!({"baseUrl": url, "languageCode": language})
}

fn call<F: Fn(&Request) -> Outcome>(host: &FakeHost<F>) -> Result<Value, Error> {
    Ok(serde_json::from_str(&YouTube::call("transcript", VIDEO, host)?).unwrap())
}

#[test]
fn a_transcript_is_read_with_its_times() {
    let host = FakeHost::new(|request: &Request| {
        let body = if request.url.contains("/watch?") {
            page(&json!([track("fr"), track("en")]))
        } else {
            r#"{"events": [{"tStartMs": 61000, "segs": [{"utf8": "A desk."}]}]}"#.to_owned()
        };
        answer(200, body)
    });
    let result = call(&host).unwrap();
    assert_eq!(result["language"], "en");
    assert_eq!(result["generated"], false);
    assert_eq!(result["languages"], json!(["en", "fr"]));
    let sections = &result["document"]["sections"];
    assert_eq!(sections[1]["blocks"][0]["text"], "[1:01] A desk.");
    let urls: Vec<String> = host.requests().into_iter().map(|request| request.url).collect();
    assert_eq!(urls[0], "https://www.youtube.com/watch?v=desks_walls&hl=en");
    assert_eq!(urls[1], "https://www.youtube.com/api/timedtext?v=desks_walls&lang=en&fmt=json3");
}

#[test]
fn an_empty_200_is_not_a_transcript() {
    let host = FakeHost::new(|request: &Request| {
        answer(
            200,
            if request.url.contains("/watch?") {
                page(&json!([track("en")]))
            } else {
                String::new()
            },
        )
    });
    let error = call(&host).unwrap_err();
    assert_eq!(error.code, Code::UpstreamInvalid);
    assert!(error.message.contains("not a transcript"), "{error}");
    assert_eq!(host.requests().len(), 3);
    assert_eq!(host.discards().len(), 2, "no empty answer is kept");
}

#[test]
fn a_track_that_is_empty_in_json_is_read_as_xml() {
    let host = FakeHost::new(|request: &Request| {
        let body = if request.url.contains("/watch?") {
            page(&json!([track("en")]))
        } else if request.url.contains("fmt=json3") {
            String::new()
        } else {
            "<transcript><text start=\"0\" dur=\"1\">A desk.</text></transcript>".to_owned()
        };
        answer(200, body)
    });
    let result = call(&host).unwrap();
    assert_eq!(result["document"]["sections"][1]["blocks"][0]["text"], "[0:00] A desk.");
}

#[test]
fn a_video_without_tracks_has_its_description() {
    let host = FakeHost::new(|_: &Request| answer(200, page(&json!([]))));
    let result = call(&host).unwrap();
    assert_eq!(result["document"]["quality_reason"], "metadata_only");
    assert_eq!(result["document"]["warnings"][0]["code"], "no_transcript");
}

#[test]
fn tracks_of_other_hosts_are_not_requested() {
    let tracks = json!([{"baseUrl": "https://evil.example/api/timedtext?x"}, {"baseUrl": 7}, {}]);
    let host = FakeHost::new(move |_: &Request| answer(200, page(&tracks)));
    assert_eq!(call(&host).unwrap()["document"]["quality_reason"], "metadata_only");
    assert_eq!(host.requests().len(), 1);
}

#[test]
fn an_identifier_has_eleven_characters() {
    let host = FakeHost::new(|_: &Request| answer(200, ""));
    for video in ["", "short", "desks_walls&", "desks&walls", "desks_walls_"] {
        let arguments = json!({"video": video}).to_string();
        let error = YouTube::call("transcript", &arguments, &host).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments, "{video}");
    }
    assert!(host.requests().is_empty());
}
