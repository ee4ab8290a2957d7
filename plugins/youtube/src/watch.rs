//! The page of a video → what the video is and where its transcripts are. Pure.
//!
//! A script of the page assigns an object to `ytInitialPlayerResponse`:
//!
//! ```text
//! {"playabilityStatus": {"status", "reason"}, "videoDetails": {…}, "microformat": {…},
//!  "captions": {"playerCaptionsTracklistRenderer": {"captionTracks": [
//!      {"baseUrl", "languageCode", "kind": "asr", "name": {"simpleText"} | {"runs": [{"text"}]}}…]}}}
//! ```
//!
//! `captions` is missing where a video has none.

use carrel_pdk::json::lenient::{Count, List, Text, object};
use carrel_pdk::json::{document, from_str};
use carrel_pdk::{Code, Error};
use schemars::JsonSchema;
use serde::Serialize;

use crate::SOURCE;

const EXPECTED: &str = "the page of a video of YouTube";
const NAME: &str = "ytInitialPlayerResponse";

/// A video.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Video {
    /// Its identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Its description, with its lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its length in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Date of publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// How often it was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub views: Option<u64>,
    /// Its transcripts.
    pub tracks: Vec<Track>,
}

/// A transcript that can be requested.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Track {
    /// Its address.
    pub url: String,
    /// Its language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it was made by speech recognition.
    pub generated: bool,
}

object! {
    /// The object of the script.
    Player {
        "playabilityStatus" => playability: Playability<'d>,
        "videoDetails" => details: Details<'d>,
        "microformat" => microformat: Microformat<'d>,
        "captions" => captions: Captions<'d>,
    }
}

object! {
    /// Whether the video is shown.
    Playability {
        "status" => status: Text<'d>,
        "reason" => reason: Text<'d>,
        "messages" => messages: List<Text<'d>>,
    }
}

object! {
    /// What the video is.
    Details {
        "videoId" => id: Text<'d>,
        "title" => title: Text<'d>,
        "author" => author: Text<'d>,
        "shortDescription" => description: Text<'d>,
        "lengthSeconds" => length: Count,
        "viewCount" => views: Count,
    }
}

object! {
    /// What search engines are told.
    Microformat {
        "playerMicroformatRenderer" => renderer: Renderer<'d>,
    }
}

object! {
    /// Its members.
    Renderer {
        "publishDate" => published: Text<'d>,
        "uploadDate" => uploaded: Text<'d>,
    }
}

object! {
    /// Transcripts.
    Captions {
        "playerCaptionsTracklistRenderer" => list: Tracklist<'d>,
    }
}

object! {
    /// The list of transcripts.
    Tracklist {
        "captionTracks" => tracks: List<CaptionTrack<'d>>,
    }
}

object! {
    /// A transcript.
    CaptionTrack {
        "baseUrl" => url: Text<'d>,
        "languageCode" => language: Text<'d>,
        "kind" => kind: Text<'d>,
        "name" => name: Name<'d>,
    }
}

object! {
    /// A name in one piece or in several.
    Name {
        "simpleText" => simple: Text<'d>,
        "runs" => runs: List<Run<'d>>,
    }
}

object! {
    /// A piece of a name.
    Run {
        "text" => text: Text<'d>,
    }
}

/// Reads the page of a video.
///
/// # Errors
///
/// `not_found` if there is no such video, `upstream_error` if the page says that it is not shown;
/// `invalid_document` for another page.
pub fn video(page: &str) -> Result<Video, Error> {
    let Some(object) = assigned(page) else {
        if page.contains("consent.youtube.com") || page.contains("consent.google.com") {
            let message = format!("{SOURCE} shows a question about cookies in place of the video");
            return Err(Error::new(Code::UpstreamError, message));
        }
        return Err(document::unexpected(EXPECTED, "a page without a player", page));
    };
    let player: Player<'_> = from_str(object).map_err(|flaw| {
        let offset = object.as_ptr() as usize - page.as_ptr() as usize + flaw.offset();
        Error::invalid_document(flaw.to_string(), offset as u64, NAME)
    })?;
    let details = player.details;
    let status = player.playability.status.0.as_deref().unwrap_or("OK").to_owned();
    if details.id.0.is_none() || status != "OK" {
        let mut reasons: Vec<String> = Vec::new();
        let state = player.playability;
        for text in std::iter::once(&state.reason).chain(&state.messages.0).filter_map(plain) {
            if !reasons.contains(&text) {
                reasons.push(text);
            }
        }
        let reason =
            if reasons.is_empty() { "no reason is given".to_owned() } else { reasons.join("; ") };
        return match status.as_str() {
            "OK" => Err(document::unexpected(EXPECTED, "a player without a video", page)),
            "ERROR" => {
                let message = format!("{SOURCE} has no such video: {reason}");
                Err(Error::new(Code::NotFound, message))
            }
            _ => {
                let message = format!("{SOURCE} does not show the video to programs: {reason}");
                Err(Error::new(Code::UpstreamError, message))
            }
        };
    }
    let dates = player.microformat.renderer;
    let date = |text: &Text<'_>| text.0.as_deref().and_then(carrel_pdk::document::thread::day);
    Ok(Video {
        id: plain(&details.id),
        title: plain(&details.title),
        channel: plain(&details.author),
        description: lines(details.description.0.as_deref().unwrap_or_default()),
        seconds: details.length.0,
        published: date(&dates.published).or_else(|| date(&dates.uploaded)),
        views: details.views.0,
        tracks: player.captions.list.tracks.0.iter().filter_map(track).collect(),
    })
}

fn track(track: &CaptionTrack<'_>) -> Option<Track> {
    let url = track.url.0.as_deref()?.trim();
    // The address may lack scheme and host.
    let url = match url.strip_prefix('/') {
        Some(path) => format!("https://www.youtube.com/{path}"),
        None => url.to_owned(),
    };
    if !url.starts_with("https://www.youtube.com/api/timedtext?") {
        return None;
    }
    let runs: String = track.name.runs.0.iter().filter_map(|run| run.text.0.as_deref()).collect();
    let name = plain(&track.name.simple)
        .or_else(|| carrel_pdk::text::present(&runs).map(std::borrow::Cow::into_owned));
    let generated = track.kind.0.as_deref() == Some("asr");
    Some(Track { url, language: plain(&track.language), name, generated })
}

/// The object that the page's script assigns.
fn assigned(page: &str) -> Option<&str> {
    let mut rest = page;
    while let Some((_, behind)) = rest.split_once(NAME) {
        rest = behind;
        // `var NAME = {`, `window["NAME"] = {`, `NAME={`
        let value = behind.trim_start_matches(['"', '\'', ']', ' ', '\n', '\t']);
        if let Some(value) = value.strip_prefix('=').map(str::trim_start)
            && value.starts_with('{')
        {
            return Some(&value[..object_length(value)]);
        }
    }
    None
}

/// The length of the object with which a text begins; of a cut one, that of the text.
fn object_length(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

fn plain(text: &Text<'_>) -> Option<String> {
    carrel_pdk::text::present(text.0.as_deref()?).map(std::borrow::Cow::into_owned)
}

/// A text with its lines, each collapsed; blank lines divide paragraphs.
fn lines(text: &str) -> Option<String> {
    let lines: Vec<_> = text.lines().map(carrel_pdk::text::collapse).collect();
    let text = lines.join("\n").trim_matches('\n').to_owned();
    (!text.is_empty()).then_some(text)
}
