//! Tests of the document's JSON and its renderings.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const CONTRACT: &str = include_str!("../../../../contract/v1/document.schema.json");

fn text() -> impl Strategy<Value = String> {
    // Every character with a meaning in Markdown, before, inside and after words.
    let piece = prop_oneof![
        4 => "[a-zé1-9]{1,5}",
        1 => "[-#+=>*_~`|<\\]\\[!&;:.()$\\\\^{}/ ]{1,3}",
        1 => Just("<script>".to_owned()),
        1 => Just("](x)".to_owned()),
        1 => Just("&amp;".to_owned()),
        1 => Just("\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn block() -> impl Strategy<Value = Block> {
    let leaf = (0..Kind::ALL.len(), text(), prop::option::of(text()), prop::option::of(text()))
        .prop_map(|(kind, text, label, caption)| {
            let kind = Kind::ALL[kind];
            let mut block = Block { label, ..Block::new(kind, text.clone()) };
            if matches!(kind, Kind::Table | Kind::Figure) {
                block.caption = caption;
                if kind == Kind::Table {
                    block.rows =
                        vec![vec![text.clone(), "x".to_owned()], vec![text, String::new()]];
                    block.header_rows = 1;
                    block.spans = vec![Span { row: 1, column: 0, rows: 1, columns: 2 }];
                }
            }
            block
        });
    leaf.prop_recursive(3, 12, 3, |inner| {
        (prop::collection::vec(inner, 1..3), any::<bool>(), text()).prop_map(
            |(blocks, list, text)| {
                if !list {
                    return Block { blocks, caption: Some(text), ..Block::empty(Kind::Quote) };
                }
                let item = Item { text: Some(text), blocks, ..Item::default() };
                Block { items: vec![item.clone(), item], ordered: true, ..Block::empty(Kind::List) }
            },
        )
    })
}

fn document() -> impl Strategy<Value = Document> {
    (prop::collection::vec(block(), 0..4), text(), prop::option::of(text())).prop_map(
        |(blocks, heading, title)| {
            let section =
                Section { heading: Some(heading), level: 1, blocks, ..Section::default() };
            let reference = Reference {
                label: Some("1".to_owned()),
                text: "Author A. A title".to_owned(),
                doi: Some("10.5555/1".to_owned()),
                ..Reference::default()
            };
            let mut document = Document {
                title,
                sections: vec![section],
                references: vec![reference],
                ..Document::default()
            };
            document.finish();
            document
        },
    )
}

/// The words of every text in a document, as the JSON has them.
fn words_of(value: &Value, out: &mut Vec<String>) {
    const TEXTS: [&str; 8] =
        ["text", "caption", "label", "title", "heading", "rows", "items", "blocks"];
    match value {
        Value::String(text) => out.extend(words(text)),
        Value::Array(items) => items.iter().for_each(|item| words_of(item, out)),
        Value::Object(members) => {
            for (key, value) in members {
                if TEXTS.contains(&key.as_str()) || value.is_array() {
                    words_of(value, out);
                }
            }
        }
        _ => {}
    }
}

fn words(text: &str) -> Vec<String> {
    let split = text.split(|character: char| !character.is_alphanumeric());
    split.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

proptest! {
    #[test]
    fn both_writers_of_json_agree(document in document()) {
        prop_assert_eq!(document.to_json(64), serde_json::to_string(&document).unwrap());
    }

    #[test]
    fn no_rendering_loses_a_word(document in document()) {
        let mut expected = Vec::new();
        words_of(&serde_json::to_value(&document).unwrap()["sections"], &mut expected);
        for rendered in [document.to_markdown(), document.to_text()] {
            let found: std::collections::HashSet<String> = words(&rendered).into_iter().collect();
            for word in &expected {
                prop_assert!(found.contains(word), "{} is not in\n{}", word, rendered);
            }
        }
    }

    #[test]
    fn a_text_s_escapes_taken_back_are_the_text(text in "[a-z\n*_#<>\\[\\]|`~&;!(){}.+=1-9 -]{0,40}") {
        let escaped = escape::paragraph(&text);
        let mut plain = String::new();
        let mut characters = escaped.replace("\\\n", "\n").chars().collect::<Vec<_>>().into_iter().peekable();
        while let Some(character) = characters.next() {
            let escapes = character == '\\' && characters.peek().is_some_and(char::is_ascii_punctuation);
            plain.push(if escapes { characters.next().unwrap() } else { character });
        }
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        prop_assert_eq!(plain, lines.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn no_tag_and_no_link_is_in_what_was_text(text in text()) {
        let escaped = escape::paragraph(&text);
        let mut before = ' ';
        let mut escapes = false;
        for character in escaped.chars() {
            if !escapes && before == '<' {
                prop_assert!(!character.is_ascii_alphabetic() && character != '/', "{}", escaped);
            }
            prop_assert!(escapes || before != ']' || character != '(', "{}", escaped);
            before = if escapes { ' ' } else { character };
            escapes = character == '\\' && !escapes;
        }
    }
}

/// Compares names and requiredness of members with the contract's, definition by definition.
fn compare(path: &str, ours: &Value, contract: &Value, roots: (&Value, &Value), depth: u32) {
    fn resolve<'v>(schema: &'v Value, root: &'v Value) -> &'v Value {
        let target = schema["$ref"].as_str().and_then(|uri| root.pointer(uri.strip_prefix('#')?));
        target.unwrap_or(schema)
    }
    if depth == 0 {
        return;
    }
    let (ours, contract) = (resolve(ours, roots.0), resolve(contract, roots.1));
    let sorted = |schema: &Value| {
        let mut names: Vec<String> = match &schema["properties"] {
            Value::Object(members) => members.keys().cloned().collect(),
            _ => Vec::new(),
        };
        names.sort();
        names
    };
    assert_eq!(sorted(ours), sorted(contract), "{path}");
    let required = |schema: &Value| {
        let mut names: Vec<String> =
            serde_json::from_value(schema["required"].clone()).unwrap_or_default();
        names.sort();
        names
    };
    assert_eq!(required(ours), required(contract), "{path}");
    for name in sorted(ours) {
        let (member, expected) = (&ours["properties"][&name], &contract["properties"][&name]);
        compare(&format!("{path}/{name}"), member, expected, roots, depth - 1);
    }
    if ours["items"].is_object() {
        compare(&format!("{path}[]"), &ours["items"], &contract["items"], roots, depth - 1);
    }
}

#[test]
fn the_document_has_the_members_that_the_contract_gives_it() {
    let contract: Value = serde_json::from_str(CONTRACT).unwrap();
    let ours = crate::schema::output::<Document>();
    compare("", &ours, &contract, (&ours, &contract), 12);
    let listed = |pointer: &str| contract.pointer(pointer).unwrap().clone();
    assert_eq!(listed("/$defs/block/properties/kind/enum"), serde_json::json!(Kind::ALL));
}

fn paragraph(text: &str) -> Block {
    Block::new(Kind::Paragraph, text)
}

fn rendered(blocks: Vec<Block>) -> String {
    let section = Section { level: 1, blocks, ..Section::default() };
    Document { sections: vec![section], ..Document::default() }.to_markdown()
}

#[test]
fn what_looks_like_markup_is_escaped() {
    for (text, expected) in [
        ("# 1", "\\# 1"),
        ("1. May", "1\\. May"),
        ("2) b", "2\\) b"),
        ("- x", "\\- x"),
        ("a * b_c _d_", "a \\* b_c \\_d\\_"),
        ("<b> & &lt; [x](y)", "\\<b> & \\&lt; \\[x\\](y)"),
        ("$5 and $6", "\\$5 and \\$6"),
        ("so $x_1 < y$ holds", "so $x_1 < y$ holds"),
        ("so $x_1<y$ holds", "so $x_1\\lt y$ holds"),
        ("one\n- two", "one\\\n\\- two"),
    ] {
        assert_eq!(rendered(vec![paragraph(text)]), format!("{expected}\n"));
    }
}

#[test]
fn lists_nest() {
    let inner = Block {
        items: vec![Item { text: Some("b".to_owned()), ..Item::default() }],
        ..Block::empty(Kind::List)
    };
    let outer = Block {
        ordered: true,
        items: vec![
            Item { text: Some("a".to_owned()), blocks: vec![inner], ..Item::default() },
            Item { label: Some("(ii)".to_owned()), text: Some("c".to_owned()), ..Item::default() },
        ],
        ..Block::empty(Kind::List)
    };
    assert_eq!(rendered(vec![outer]), "1. a\n\n   - b\n\n2. (ii) c\n");
}

fn cells(rows: &[&[&str]]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect()
}

#[test]
fn a_table_is_a_pipe_table_with_its_caption_above_and_its_notes_below() {
    let table = Block {
        label: Some("Table 1".to_owned()),
        caption: Some("Doses".to_owned()),
        rows: cells(&[&["a|b", "c"], &["1\n2", ""]]),
        header_rows: 1,
        blocks: vec![Block { label: Some("*".to_owned()), ..Block::new(Kind::Footnote, "Note") }],
        ..Block::empty(Kind::Table)
    };
    assert_eq!(
        rendered(vec![table]),
        "**Table 1.** Doses\n\n| a\\|b | c |\n| --- | --- |\n| 1<br>2 | |\n\n\\* Note\n"
    );
}

#[test]
fn cells_that_span_fall_back_to_one_header_and_repeated_rows() {
    let span = |row, column, rows, columns| Span { row, column, rows, columns };
    let table = Block {
        rows: cells(&[
            &["Age", "Group", ""],
            &["", "A", "B"],
            &["old", "1", "2"],
            &["", "3", "4"],
            &["All", "", ""],
        ]),
        header_rows: 2,
        spans: vec![span(0, 0, 2, 1), span(0, 1, 1, 2), span(2, 0, 2, 1), span(4, 0, 1, 3)],
        ..Block::empty(Kind::Table)
    };
    assert_eq!(
        rendered(vec![table]),
        "| Age | Group / A | Group / B |\n| --- | --- | --- |\n| old | 1 | 2 |\n| old | 3 | 4 |\n| All | | |\n"
    );
}

#[test]
fn code_quotes_equations_and_figures_have_their_forms() {
    let equation = Block {
        tex: Some("a\n\n<b".to_owned()),
        label: Some("(1)".to_owned()),
        ..Block::empty(Kind::Equation)
    };
    let figure = Block {
        label: Some("Figure 2".to_owned()),
        caption: Some("A title\nMore".to_owned()),
        ..Block::empty(Kind::Figure)
    };
    let quote = Block {
        caption: Some("Box".to_owned()),
        blocks: vec![paragraph("one"), paragraph("two")],
        ..Block::empty(Kind::Quote)
    };
    assert_eq!(
        rendered(vec![Block::new(Kind::Code, "x = `` 1\n"), quote, equation, figure]),
        "```\nx = `` 1\n```\n\n> Box\n>\n> one\n>\n> two\n\n$$\na\n\\lt b\n$$ (1)\n\n\
         **Figure 2.** A title\\\nMore\n"
    );
}

#[test]
fn references_come_below_their_own_heading_or_one_at_the_end() {
    let mut document = Document {
        references: vec![Reference {
            label: Some("1.".to_owned()),
            text: "Author. Title".to_owned(),
            doi: Some("10.5555/1".to_owned()),
            ..Reference::default()
        }],
        ..Document::default()
    };
    assert_eq!(document.to_markdown(), "## References\n\n- \\[1\\] Author. Title doi:10.5555/1\n");
    document.sections = ["references", "notes"]
        .map(|kind| Section {
            heading: Some(kind.to_owned()),
            level: 1,
            kind: Some(kind.to_owned()),
            ..Section::default()
        })
        .to_vec();
    assert_eq!(
        document.to_markdown(),
        "## references\n\n- \\[1\\] Author. Title doi:10.5555/1\n\n## notes\n"
    );
}

#[test]
fn an_abstract_in_parts_is_one_text_with_its_headings() {
    let part = |heading: Option<&str>, text: &str| Section {
        heading: heading.map(str::to_owned),
        level: 1,
        blocks: vec![paragraph(text)],
        ..Section::default()
    };
    let sections = vec![part(Some("Abstract"), "First."), part(Some("Methods"), "Then.")];
    let mut document = Document {
        abstracts: vec![Abstract { sections, ..Abstract::default() }],
        ..Document::default()
    };
    document.finish();
    assert_eq!(document.summary.as_deref(), Some("First.\n\nMethods: Then."));
    assert_eq!(document.quality_reason, Some(Reason::MetadataOnly));
}

#[test]
fn warnings_are_counted_beyond_their_number() {
    let mut document = Document::default();
    for number in 0..MAX_WARNINGS * 2 {
        document.warn("problem", format!("number {number}"), None);
    }
    assert_eq!(document.warnings.len(), MAX_WARNINGS);
    let last = document.warnings.last().unwrap();
    assert_eq!((last.code.as_str(), last.message.as_str()), ("more_warnings", "101 more"));
}
