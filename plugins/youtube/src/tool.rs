//! The tool `transcript`: the page of a video, then its transcript.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::document::Document;
use carrel_pdk::{Code, Error, Header, Host, Request, arguments, discard};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::timedtext::{self, Transcript};
use crate::watch::{self, Track, Video};
use crate::{SOURCE, document, tracks};

/// Tracks that are tried.
const MOST: usize = 3;

/// The arguments of `transcript`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// The 11 characters that identify a video.
    #[schemars(length(equal = 11))]
    video: String,
    /// Preferred language, such as en.
    #[serde(default)]
    language: Option<String>,
}

/// A video and what is said in it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Spoken {
    /// Description and transcript.
    document: Document,
    /// Language of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    /// Whether it was made by speech recognition.
    #[serde(skip_serializing_if = "Option::is_none")]
    generated: Option<bool>,
    /// Languages in which there are transcripts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    languages: Vec<String>,
}

/// Runs the tool.
///
/// # Errors
///
/// Those of [`watch::video`]; `upstream_invalid` if there is a transcript and the answers are empty or
/// cannot be read: that is not a video without a transcript.
pub(crate) fn transcript(arguments_text: &str, host: &dyn Host) -> Result<String, Error> {
    let requested: Wanted = arguments(arguments_text)?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if requested.video.len() != 11 || !requested.video.bytes().all(plain) {
        let message = "video: expected 11 letters, digits, hyphens and underscores";
        return Err(Error::new(Code::InvalidArguments, message));
    }
    let page = format!("https://www.youtube.com/watch?v={}&hl=en", requested.video);
    let request = with_headers(Request::get(page), "text/html");
    let response = host.fetch(request)?;
    let video: Video = answer::read(SOURCE, &response, Asked::ForOne, watch::video)?;
    let ordered = tracks::ordered(&video.tracks, requested.language.as_deref());
    let mut languages: Vec<String> = Vec::new();
    for language in ordered.iter().filter_map(|track| track.language.clone()) {
        if !languages.contains(&language) {
            languages.push(language);
        }
    }
    if ordered.is_empty() {
        let document = document::document(&video, None, None, false);
        return Ok(crate::json(&Spoken { document, language: None, generated: None, languages }));
    }
    let mut last = None;
    for track in ordered.into_iter().take(MOST) {
        match read(track, host) {
            Ok(found) => {
                let language = track.language.clone();
                let document =
                    document::document(&video, Some(&found), language.as_deref(), track.generated);
                let generated = Some(track.generated);
                return Ok(crate::json(&Spoken { document, language, generated, languages }));
            }
            Err(error) if error.code == Code::UpstreamInvalid => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| Error::new(Code::UpstreamInvalid, "no transcript was read")))
}

/// Requests a transcript in JSON, then as it comes.
fn read(track: &Track, host: &dyn Host) -> Result<Transcript, Error> {
    let mut received = "";
    for url in [format!("{}&fmt=json3", without_format(&track.url)), track.url.clone()] {
        let request = with_headers(Request::get(url), "*/*");
        let response = host.fetch(request.clone())?;
        if response.is_success() && response.body.trim().is_empty() {
            discard(host, &request);
            received = "an empty answer with status 200";
            continue;
        }
        match answer::read(SOURCE, &response, Asked::ForOne, timedtext::transcript) {
            Ok(found) => return Ok(found),
            Err(error) if error.code == Code::UpstreamInvalid => {
                discard(host, &request);
                received = "an answer without words";
            }
            Err(error) => return Err(error),
        }
    }
    let message = format!(
        "{SOURCE} lists a transcript and sent {received} in its place; that is not a transcript, and it says \
         nothing about the video"
    );
    Err(Error::new(Code::UpstreamInvalid, message))
}

fn without_format(url: &str) -> String {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let params: Vec<&str> = query.split('&').filter(|param| !param.starts_with("fmt=")).collect();
    format!("{path}?{}", params.join("&"))
}

fn with_headers(mut request: Request, accept: &str) -> Request {
    let header =
        |name: &str, value: &str| Header { name: name.to_owned(), value: value.to_owned() };
    request.headers = vec![header("accept", accept), header("accept-language", "en")];
    request
}
