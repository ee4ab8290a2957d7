use super::*;

/// Values of every kind.
const KINDS: [&str; 9] =
    ["null", "true", "7", "-7", "7.5", r#""seven""#, "[]", "[{}, null]", r#"{"a": [1]}"#];

object! {
    /// One of each.
    Sample {
        "text" => text: Text<'d>,
        "list" => list: List<Text<'d>>,
        "count" => count: Count,
        "members" => members: Members<'d, List<Count>>,
        "object" => object: Inner<'d>,
    }
}

object! {
    /// Inside.
    Inner {
        "a" => a: Text<'d>,
    }
}

fn read(json: &str) -> Sample<'_> {
    crate::json::from_str(json).unwrap()
}

#[test]
fn any_kind_of_value_is_read_anywhere() {
    for key in ["text", "list", "count", "members", "object", "other"] {
        for kind in KINDS {
            let json = format!(r#"{{"{key}": {kind}, "text": "after"}}"#);
            assert_eq!(read(&json).text.0.as_deref(), Some("after"), "{json}");
        }
    }
    for kind in KINDS {
        read(kind);
    }
}

#[test]
fn strings_are_borrowed_unless_escaped() {
    assert!(matches!(read(r#"{"text": "a"}"#).text.0, Some(Cow::Borrowed("a"))));
    assert_eq!(read(r#"{"text": "a\/\u00e9"}"#).text.0.as_deref(), Some("a/é"));
    assert_eq!(read(r#"{"te\u0078t": "a"}"#).text.0.as_deref(), Some("a"));
}

#[test]
fn a_single_value_is_a_list_and_a_list_is_its_first_value() {
    assert_eq!(read(r#"{"list": "a\/b"}"#).list.0.len(), 1);
    assert_eq!(read(r#"{"list": {"a": 1}}"#).list.0.len(), 1);
    assert_eq!(read(r#"{"text": [null, " ", "b", "c"]}"#).text.0.as_deref(), Some("b"));
}

#[test]
fn whole_numbers_are_read_from_strings_and_floats() {
    for (json, count) in [
        ("7", Some(7)),
        ("7.0", Some(7)),
        (r#""7""#, Some(7)),
        (r#""+7""#, None),
        (r#""""#, None),
        ("-1", None),
        ("7.5", None),
        ("1e300", None),
    ] {
        assert_eq!(read(&format!(r#"{{"count": {json}}}"#)).count.0, count, "{json}");
    }
}

#[test]
fn of_a_member_that_comes_twice_the_last_counts() {
    assert_eq!(read(r#"{"text": "a", "text": "b"}"#).text.0.as_deref(), Some("b"));
}
