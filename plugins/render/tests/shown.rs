//! Compares the rendering of a document's JSON with that of its reader.

#![allow(clippy::unwrap_used, reason = "a failing test says where")]

use carrel_pdk::document::{Block, Document, Kind, Reference, Section};
use carrel_pdk::{Code, Plugin};
use carrel_render::Render;
use serde_json::Value;

fn section(heading: Option<&str>, level: u32, text: &str) -> Section {
    Section {
        heading: heading.map(str::to_owned),
        level,
        blocks: vec![Block::new(Kind::Paragraph, text)],
        ..Section::default()
    }
}

fn document() -> Document {
    Document {
        title: Some("Über *Steine*".to_owned()),
        sections: vec![
            section(None, 1, "Before all."),
            section(Some("Methods"), 1, "We measured. \u{1f600}"),
            Section { label: Some("1.1".to_owned()), ..section(Some("Sites #"), 2, "Two.") },
            section(None, 1, "Again."),
        ],
        references: vec![Reference { text: "A. B.".to_owned(), ..Reference::default() }],
        ..Document::default()
    }
}

fn shown(format: &str, json: &str) -> Value {
    serde_json::from_str(&Render::parse(format, json).unwrap()).unwrap()
}

#[test]
fn the_text_is_what_the_kit_renders() {
    let document = document();
    let json = document.to_json(0);
    assert_eq!(shown("document_markdown", &json)["text"], document.to_markdown());
    assert_eq!(shown("document_text", &json)["text"], document.to_text());
}

#[test]
fn headings_are_where_the_result_says() {
    for (format, mark) in [("document_markdown", "## Methods"), ("document_text", "Methods")] {
        let shown = shown(format, &document().to_json(0));
        let text: Vec<char> = shown["text"].as_str().unwrap().chars().collect();
        let headings: Vec<_> = shown["headings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|heading| {
                let start = usize::try_from(heading["start"].as_u64().unwrap()).unwrap();
                let line: String =
                    text[start..].iter().take_while(|character| **character != '\n').collect();
                (heading["heading"].as_str().unwrap(), heading["level"].as_u64().unwrap(), line)
            })
            .collect();
        assert_eq!(headings.len(), 3);
        assert_eq!((headings[0].0, headings[0].1, headings[0].2.as_str()), ("Methods", 1, mark));
        assert_eq!((headings[1].0, headings[1].1), ("1.1 Sites #", 2));
        assert_eq!((headings[2].0, headings[2].1), ("References", 1));
        let parts: Vec<_> =
            shown["headings"].as_array().unwrap().iter().map(|heading| &heading["part"]).collect();
        assert_eq!(parts, ["body", "body", "references"]);
    }
}

#[test]
fn members_that_are_not_known_are_passed_over() {
    let json = r#"{"identifiers":{},"sections":[],"quality":"none","since_later":[1],"title":"T"}"#;
    assert_eq!(shown("document_markdown", json)["text"], "# T\n");
}

#[test]
fn what_is_no_document_is_an_error() {
    for json in
        ["", "[1]", "{\"title\": 5}", "{\"quality\": \"best\"}", "{\"sections\":[{\"level\":-1}]}"]
    {
        let error = Render::parse("document_text", json).unwrap_err();
        assert_eq!(error.code, Code::InvalidDocument, "{json}");
    }
    assert_eq!(Render::parse("pdf", "{}").unwrap_err().code, Code::InvalidArguments);
}
