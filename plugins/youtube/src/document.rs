//! A video and its transcript as a document.

use carrel_pdk::document::{Block, Document, Kind, Metadatum, Person, Quality, Reason, Section};

use crate::timedtext::{Cue, Transcript};
use crate::watch::Video;

/// Milliseconds of one paragraph, and of one section of a long video.
const PARAGRAPH: u64 = 30_000;
const SECTION: u64 = 600_000;

/// Makes the document of a video; without a transcript it has the description only.
pub(crate) fn document(
    video: &Video,
    transcript: Option<&Transcript>,
    language: Option<&str>,
    generated: bool,
) -> Document {
    let mut document = Document {
        kind: Some("video".to_owned()),
        title: video.title.clone(),
        language: language.map(str::to_owned),
        ..Document::default()
    };
    let channel = video.channel.clone();
    document.authors = channel
        .map(|name| Person { literal: Some(name), ..Person::default() })
        .into_iter()
        .collect();
    let facts = [
        ("site_name", Some("YouTube".to_owned())),
        ("published", video.published.clone()),
        ("length_seconds", video.seconds.map(|seconds| seconds.to_string())),
        ("views", video.views.map(|views| views.to_string())),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            let (name, from) = (name.to_owned(), format!("youtube {name}"));
            document.metadata.push(Metadatum { name, value, from, ..Metadatum::default() });
        }
    }
    if let Some(description) = &video.description {
        let paragraphs = description.split("\n\n").map(|text| text.trim_matches('\n'));
        let blocks = paragraphs
            .filter(|text| !text.is_empty())
            .map(|text| Block::new(Kind::Paragraph, text))
            .collect();
        let heading = Some("Description".to_owned());
        document.sections.push(Section { level: 1, heading, blocks, ..Section::default() });
    }
    match transcript {
        Some(transcript) => {
            document.sections.extend(sections(&transcript.cues));
            if generated {
                let message = "the transcript was made by speech recognition";
                document.warn("recognised_speech", message, None);
            }
            if transcript.truncated {
                document.warn("truncated", "the transcript is longer than is read", None);
                (document.quality, document.quality_reason) =
                    (Quality::Partial, Some(Reason::Truncated));
            }
        }
        None => {
            let message = "the video has no transcript; this is its description";
            document.warn("no_transcript", message, None);
            (document.quality, document.quality_reason) =
                (Quality::Partial, Some(Reason::MetadataOnly));
        }
    }
    document.finish();
    document
}

/// The cues in paragraphs of half a minute; in sections of ten minutes if there are several.
fn sections(cues: &[Cue]) -> Vec<Section> {
    let is_long = cues.last().is_some_and(|last| last.start >= SECTION);
    let mut sections: Vec<Section> =
        vec![Section { level: 1, heading: Some("Transcript".to_owned()), ..Section::default() }];
    let mut current = None;
    let mut paragraph: Option<(u64, String)> = None;
    let flush = |sections: &mut Vec<Section>, paragraph: &mut Option<(u64, String)>| {
        if let (Some((start, text)), Some(last)) = (paragraph.take(), sections.last_mut()) {
            last.blocks.push(Block::new(Kind::Paragraph, format!("[{}] {text}", clock(start))));
        }
    };
    for cue in cues {
        let begins = paragraph
            .as_ref()
            .is_none_or(|(start, _)| cue.start < *start || cue.start - start >= PARAGRAPH);
        if begins {
            flush(&mut sections, &mut paragraph);
            let part = cue.start / SECTION;
            if is_long && current != Some(part) {
                current = Some(part);
                let from = clock(part * SECTION);
                let heading = format!("{from}–{}", clock((part + 1) * SECTION));
                sections.push(Section { level: 2, heading: Some(heading), ..Section::default() });
            }
            paragraph = Some((cue.start, cue.text.clone()));
        } else if let Some((_, text)) = &mut paragraph {
            text.push(' ');
            text.push_str(&cue.text);
        }
    }
    flush(&mut sections, &mut paragraph);
    sections
}

/// `m:ss`, or `h:mm:ss`.
fn clock(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_transcript_has_sections_and_times() {
        let cue = |start: u64| Cue { start: start * 1000, text: format!("at {start}") };
        let cues: Vec<Cue> = [0, 10, 31, 599, 601, 3700].map(cue).into();
        let video = Video { title: Some("Desks".to_owned()), ..Video::default() };
        let transcript = Transcript { cues, truncated: false };
        let text = document(&video, Some(&transcript), Some("en"), false).to_text();
        assert_eq!(
            text,
            "Desks\n\nTranscript\n\n0:00–10:00\n\n[0:00] at 0 at 10\n\n[0:31] at 31\n\n[9:59] at 599 at 601\n\n\
             1:00:00–1:10:00\n\n[1:01:40] at 3700\n"
        );
    }

    #[test]
    fn a_video_without_a_transcript_is_partial() {
        let video = Video { description: Some("One\ntwo\n\nthree".to_owned()), ..Video::default() };
        let document = document(&video, None, None, false);
        assert_eq!(document.quality_reason, Some(Reason::MetadataOnly));
        assert_eq!(document.warnings[0].code, "no_transcript");
        assert_eq!(document.sections[0].blocks.len(), 2);
    }
}
