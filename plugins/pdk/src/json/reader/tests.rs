use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::*;

/// Whether a text may contain a lone surrogate escape, which is an error to `serde_json`.
fn has_half(text: &str) -> bool {
    text.to_ascii_lowercase().contains("\\ud")
}

/// Whether two values are equal, except for the last bits of a fraction, which `serde_json` may
/// round.
fn alike(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) if left.is_f64() && right.is_f64() => {
            let bits = |number: &serde_json::Number| number.as_f64().unwrap().to_bits();
            bits(left).abs_diff(bits(right)) <= 8
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(a, b)| alike(a, b))
        }
        (Value::Object(left), Value::Object(right)) => {
            let has = |(key, value)| right.get(key).is_some_and(|right| alike(value, right));
            left.len() == right.len() && left.iter().all(has)
        }
        _ => left == right,
    }
}

/// Fails unless this reader and `serde_json` agree on a text.
fn require_same(text: &str) {
    let (ours, theirs) = (from_str::<Value>(text), serde_json::from_str::<Value>(text));
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => assert!(alike(ours, theirs), "{text:?}: {ours:?}, {theirs:?}"),
        (Err(flaw), Err(error)) => {
            assert!(flaw.offset() <= text.len());
            // It reports the same for an incomplete escape.
            let same = flaw.is_end() == error.is_eof() || flaw.to_string() == "invalid escape";
            assert!(same || has_half(text), "{text:?}: {flaw}, {error}");
        }
        _ if has_half(text) => return,
        _ => panic!("{text:?}: {ours:?}, {theirs:?}"),
    }
    let (ours, theirs) = (from_str::<IgnoredAny>(text), serde_json::from_str::<IgnoredAny>(text));
    assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}: {ours:?}, {theirs:?}");
}

#[test]
fn what_is_json_is_read_as_serde_json_reads_it() {
    for text in [
        "null",
        " true ",
        "\t[\r\n]\n",
        "{}",
        "[[], {}, [{}]]",
        r#"{"a": 1, "a": 2}"#,
        r#"{"long enough to be no short key": "and a value of more than sixteen bytes"}"#,
        r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\udc18""#,
        "\"é日\u{1F418}\u{7f}\"",
        "[0, -0, 1, -1, 0.5, -0.0, 1e3, 1E+3, 1.5e-3]",
        "[18446744073709551615, 18446744073709551616, -9223372036854775808, -9223372036854775809]",
        "[1e308, 4.9e-324, 1e-400, 123456789012345678901234567890]",
    ] {
        assert!(from_str::<Value>(text).is_ok(), "{text:?}");
        require_same(text);
    }
}

#[test]
fn what_is_no_json_is_refused_where_it_stops_being_json() {
    for (text, offset, message) in [
        ("[1, oops]", 4, "expected value"),
        ("[1] x", 4, "trailing characters"),
        ("[1,]", 3, "expected value"),
        ("[1 2]", 3, "expected `,` or `]`"),
        (r#"{"a": 1,}"#, 8, "key must be a string"),
        (r#"{"a": 1 "b"}"#, 8, "expected `,` or `}`"),
        (r#"{"a" 1}"#, 5, "expected `:`"),
        ("{a: 1}", 1, "key must be a string"),
        (r#"["\x"]"#, 3, "invalid escape"),
        (r#"["\u12g4"]"#, 6, "invalid escape"),
        ("[\"a\nb\"]", 3, "control character inside a string"),
        ("[01]", 2, "invalid number"),
        ("[-]", 2, "invalid number"),
        ("[1.]", 3, "invalid number"),
        ("[1e+]", 4, "invalid number"),
        ("[1e999]", 1, "number out of range"),
        ("[tru]", 4, "expected value"),
        ("[nul", 4, "the text ends in the middle"),
        ("[\"a", 3, "the text ends in the middle"),
        ("", 0, "the text ends in the middle"),
    ] {
        let flaw = from_str::<Value>(text).unwrap_err();
        assert_eq!((flaw.offset(), flaw.to_string().as_str()), (offset, message), "{text:?}");
        // A number out of range is an error only where its value is read.
        if message != "number out of range" {
            require_same(text);
        }
    }
}

#[test]
fn half_a_character_is_replaced_and_costs_nothing_else() {
    for (input, expected) in [
        (r#""\ud83d\udc18""#, "\u{1F418}"),
        (r#""\uD83D x""#, "\u{FFFD} x"),
        (r#""\udc18\ud83d""#, "\u{FFFD}\u{FFFD}"),
        (r#""\ud83d\ud83d\udc18""#, "\u{FFFD}\u{1F418}"),
        (r#""\ud83d\u00e9""#, "\u{FFFD}é"),
        (r#""\ud83d\n""#, "\u{FFFD}\n"),
        (r#""\\ud83d""#, "\\ud83d"),
        (r#""\\\ud83d""#, "\\\u{FFFD}"),
    ] {
        assert_eq!(from_str::<String>(input).unwrap(), expected, "{input}");
        assert!(from_str::<IgnoredAny>(input).is_ok());
    }
    for broken in [r#""\ud83d\u12""#, r#""\ud83d\x""#, r#""\ud8"#, r#""\ud83d\udc1"#] {
        assert!(from_str::<String>(broken).is_err(), "{broken}");
        assert!(from_str::<IgnoredAny>(broken).is_err(), "{broken}");
    }
}

#[test]
fn what_is_read_has_a_depth_and_what_is_passed_over_has_none() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for depth in [1, 127, 128, 129, 1000] {
        require_same(&nested(depth));
    }
    let flaw = from_str::<Value>(&nested(200)).unwrap_err();
    assert_eq!(flaw.to_string(), "recursion limit exceeded");
    assert!(from_str::<IgnoredAny>(&nested(1_000_000)).is_ok());
}

#[test]
fn an_error_about_a_value_has_a_place_too() {
    let flaw = from_str::<Vec<u8>>("[1, 2, 300]").unwrap_err();
    assert_eq!(flaw.offset(), 10);
}

#[test]
fn options_and_newtypes_are_read() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Name(String);
    assert_eq!(
        from_str::<Vec<Option<Name>>>(r#"["a", null]"#).unwrap(),
        [Some(Name("a".to_owned())), None]
    );
}

/// A JSON text of any shape, spaced in any way.
fn json() -> impl Strategy<Value = String> {
    let space = || "[ \n\t\r]{0,20}|";
    let number = "-?(0|[1-9][0-9]{0,22})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?";
    let string = r#""([ !#-\[\]-~é日]|\\["\\/bfnrt]|\\u00[0-9a-fA-F]{2}){0,40}""#;
    let leaf = prop_oneof![number, string, Just("true".to_owned()), Just("null".to_owned())];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        let item = (space(), inner, space()).prop_map(|(a, b, c)| format!("{a}{b}{c}"));
        let items = prop::collection::vec(item.clone(), 0..6);
        let members = prop::collection::vec(("\"[a-z]{0,20}\"", item), 0..6);
        prop_oneof![
            items.prop_map(|items| format!("[{}]", items.join(","))),
            members.prop_map(|members| {
                let members: Vec<_> =
                    members.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_as_serde_json_reads_it(text in json()) {
        require_same(&text);
    }

    #[test]
    fn damaged_json_is_judged_as_serde_json_judges_it(
        text in json(),
        piece in prop::sample::select(vec![
            "", "\"", "\\", "{", "}", "[", "]", ",", ":", "-", ".", "e", "0", "1", "\n", "\u{1}", "t",
            "\\u", "\\ud83d", "é",
        ]),
        at in any::<prop::sample::Index>(),
        cut in 0_usize..4,
    ) {
        let boundaries: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let start = at.index(boundaries.len());
        let end = (start + cut).min(boundaries.len() - 1);
        let damaged = format!("{}{piece}{}", &text[..boundaries[start]], &text[boundaries[end]..]);
        require_same(&damaged);
    }

    #[test]
    fn noise_is_judged_as_serde_json_judges_it(text in r#"[\[\]{}",:\\ue0-9.+\-tfn é\n]{0,30}"#) {
        require_same(&text);
    }
}
