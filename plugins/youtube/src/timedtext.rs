//! A transcript → its cues. Pure.
//!
//! ```text
//! JSON   {"events": [{"tStartMs": 1200, "segs": [{"utf8": TEXT}…]}…]}
//! XML 1  <transcript><text start="1.2" dur="3">TEXT</text>…</transcript>
//! XML 3  <timedtext format="3"><body><p t="1200" d="3000"><s>TEXT</s>…</p>…</body></timedtext>
//! ```
//!
//! The texts of XML are escaped twice. An event without text is a line break or a position.

use carrel_pdk::Error;
use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, List, Text, object};
use carrel_pdk::text::{collapse, decode_entities};
use schemars::JsonSchema;
use serde::Serialize;

use crate::SOURCE;

const EXPECTED: &str = "a transcript of YouTube";

/// The most cues and bytes of text that are read.
const MOST: usize = 50_000;
const LONGEST: usize = 4 << 20;

/// A transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Transcript {
    /// Its cues.
    pub cues: Vec<Cue>,
    /// Whether there were more than are read.
    pub truncated: bool,
}

/// What is said from some time on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cue {
    /// Milliseconds from the beginning.
    pub start: u64,
    /// What is said.
    pub text: String,
}

object! {
    /// A transcript in JSON.
    Root {
        "events" => events: Option<List<Event<'d>>>,
    }
}

object! {
    /// An event.
    Event {
        "tStartMs" => start: Count,
        "segs" => segments: List<Segment<'d>>,
    }
}

object! {
    /// A piece of text.
    Segment {
        "utf8" => text: Text<'d>,
    }
}

impl Transcript {
    fn add(&mut self, start: u64, text: &str, remaining: &mut usize) {
        let text = collapse(text);
        if text.is_empty() {
            return;
        }
        if self.cues.len() >= MOST || *remaining < text.len() {
            self.truncated = true;
            return;
        }
        *remaining -= text.len();
        self.cues.push(Cue { start, text: text.into_owned() });
    }
}

/// Reads a transcript.
///
/// # Errors
///
/// `invalid_document` for an empty text, one in another format, and one without words.
pub fn transcript(source: &str) -> Result<Transcript, Error> {
    let text = source.strip_prefix('\u{feff}').unwrap_or(source).trim_start();
    let found = if text.starts_with('{') {
        of_json(source)?
    } else if text.starts_with('<') && (text.contains("<transcript") || text.contains("<timedtext"))
    {
        of_xml(text)
    } else {
        let found = if text.is_empty() { "nothing" } else { "another text" };
        return Err(document::unexpected(EXPECTED, found, source));
    };
    if found.cues.is_empty() {
        return Err(document::unexpected(EXPECTED, "no words", source));
    }
    Ok(found)
}

fn of_json(source: &str) -> Result<Transcript, Error> {
    let root: Root<'_> = document::read(SOURCE, EXPECTED, source)?;
    let (mut found, mut remaining) = (Transcript::default(), LONGEST);
    for event in root.events.unwrap_or_default().0 {
        let text: String =
            event.segments.0.iter().filter_map(|segment| segment.text.0.as_deref()).collect();
        found.add(event.start.0.unwrap_or(0), &text, &mut remaining);
    }
    Ok(found)
}

fn of_xml(text: &str) -> Transcript {
    let (mut found, mut remaining) = (Transcript::default(), LONGEST);
    let mut rest = text;
    while let Some((_, tag)) = rest.split_once('<') {
        let (tag, behind) = tag.split_once('>').unwrap_or((tag, ""));
        rest = behind;
        let name = tag.split([' ', '\t', '\n', '/']).next().unwrap_or_default();
        let (close, start) = match name {
            "text" => ("</text>", attribute(tag, "start").and_then(seconds)),
            "p" => ("</p>", attribute(tag, "t").and_then(|value| value.parse().ok())),
            _ => continue,
        };
        if tag.ends_with('/') {
            continue;
        }
        let (inner, behind) = behind.split_once(close).unwrap_or((behind, ""));
        rest = behind;
        found.add(start.unwrap_or(0), &words(inner), &mut remaining);
    }
    found
}

/// The text without tags, decoded twice.
fn words(xml: &str) -> String {
    let mut out = String::new();
    let mut rest = xml;
    while let Some((before, tag)) = rest.split_once('<') {
        out.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, behind)| behind);
    }
    out.push_str(rest);
    decode_entities(&decode_entities(&out)).into_owned()
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let behind = tag
        .split_ascii_whitespace()
        .find_map(|word| word.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')))?;
    Some(behind.trim_end_matches('/').trim_matches(['"', '\'']))
}

/// Seconds with a fraction as milliseconds.
fn seconds(value: &str) -> Option<u64> {
    let seconds: f64 = value.parse().ok()?;
    (0.0..1e9).contains(&seconds).then_some((seconds * 1000.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cues(source: &str) -> Vec<(u64, String)> {
        let cues = transcript(source).map(|found| found.cues).unwrap_or_default();
        cues.into_iter().map(|cue| (cue.start, cue.text)).collect()
    }

    #[test]
    fn all_three_forms_are_read() {
        let expected = vec![(0, "It's one".to_owned()), (1500, "two".to_owned())];
        for source in [
            r#"{"events": [{"tStartMs": 0, "segs": [{"utf8": "It's "}, {"utf8": "one"}]},
                {"tStartMs": 900, "segs": [{"utf8": "\n"}]}, {"tStartMs": 1200, "wWinId": 1},
                {"tStartMs": "1500", "segs": [{"utf8": "two"}]}]}"#,
            "<?xml version=\"1.0\"?><transcript><text start=\"0\" dur=\"1.5\">It&amp;#39;s one</text>\
             <text start=\"1.5\"/><text start=\"1.5\" dur=\"1\">two</text></transcript>",
            "<timedtext format=\"3\"><head/><body><p t=\"0\" d=\"9\"><s>It's</s><s t=\"300\"> one</s></p>\
             <p t=\"900\" a=\"1\">\n</p><p t=\"1500\" d=\"9\">two</p></body></timedtext>",
        ] {
            assert_eq!(cues(source), expected, "{source}");
        }
    }

    #[test]
    fn an_empty_answer_is_no_transcript() {
        for source in
            ["", " \n", "{}", "{\"events\": []}", "<transcript></transcript>", "<html>", "hello"]
        {
            assert!(transcript(source).is_err(), "{source}");
        }
    }
}
