//! What holds for every answer of a source whose results are records or lists of them.

#![allow(clippy::panic, clippy::expect_used, reason = "tests fail loudly")]

use serde_json::Value;

use super::promises::{check_address, check_collapsed, check_error, check_values};
use crate::{Code, Plugin};

/// What a document without a result can be.
const CODES: &[Code] = &[
    Code::InvalidDocument,
    Code::UpstreamError,
    Code::UpstreamUnavailable,
    Code::NotFound,
    Code::RateLimited,
];

/// Lists that are the answer itself, which can be empty.
const ANSWERS: &[&str] = &["works", "records", "links", "open_copies", "not_found"];

/// Members for machines, whose whitespace is the source's.
const MACHINES: &[&str] = &[
    "next",
    "next_cursor",
    "source_type",
    "doi",
    "s2",
    "key",
    "license",
    "version",
    "oa_status",
    "type",
    "citing",
    "cited",
    "oci",
    "timespan",
];

/// Parses a document in each of the formats and checks what holds of every outcome.
///
/// An error has a code that fits, and its message is one line. In a result nothing is null and no
/// text is blank; only the answer itself can be an empty list; texts for readers have no whitespace
/// to collapse (codes and identifiers are as the source writes them), addresses are well-formed, dates are dates; a record is of `source` and has
/// identifiers and a type.
///
/// # Panics
///
/// When any of that does not hold.
pub fn check_records<P: Plugin>(source: &str, formats: &[&str], document: &str) {
    for format in formats {
        match P::parse(format, document) {
            Ok(json) => {
                let result: Value = serde_json::from_str(&json).expect("the result is JSON");
                check_result(source, &result);
            }
            Err(error) => {
                check_error(&error, document, CODES);
                assert!(!error.message.contains('\n'), "{error}");
            }
        }
    }
}

fn check_result(source: &str, result: &Value) {
    let text = |key: &str, text: &str| {
        assert!(!text.trim().is_empty(), "{key} is blank");
        match key {
            "url" | "landing_url" => check_address(&text.into()),
            "issued" | "date" => check_date(text),
            _ if !MACHINES.contains(&key) => check_collapsed(key, text),
            _ => {}
        }
    };
    let list = |key: &str, items: &[Value]| {
        assert!(!items.is_empty() || ANSWERS.contains(&key), "{key} is empty");
    };
    check_values("", result, &text, &list);
    let listed = ["works", "records"].into_iter().filter_map(|key| result.get(key)?.as_array());
    let listed = listed.flatten().map(|item| item.get("work").unwrap_or(item));
    for work in result.get("work").into_iter().chain(listed) {
        assert_eq!(work["source"], source);
        assert!(work["ids"].is_object() && work["type"].is_string(), "{work}");
    }
}

fn check_date(date: &str) {
    assert!([4, 7, 10].contains(&date.len()), "{date}");
    assert!(date.split('-').all(|part| part.bytes().all(|byte| byte.is_ascii_digit())), "{date}");
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use serde_json::json;

    use super::*;
    use crate::{Error, Host, Manifest};

    /// A source whose documents are its results.
    struct Echo;

    impl Plugin for Echo {
        fn manifest() -> Manifest {
            Manifest::new("echo", "0.1.0", "Gives documents back.")
        }

        fn call(tool: &str, _: &str, _: &dyn Host) -> Result<String, Error> {
            Err(Error::unknown_tool(tool))
        }

        fn parse(_: &str, document: &str) -> Result<String, Error> {
            match document {
                "unknown" => Err(Error::new(Code::NotFound, "no such work")),
                "refused" => Err(Error::new(Code::InvalidArguments, "no such filter")),
                _ => Ok(document.to_owned()),
            }
        }
    }

    fn holds(result: &Value) -> bool {
        let document = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
        catch_unwind(|| check_records::<Echo>("echo", &["works"], &document)).is_ok()
    }

    fn work(member: &str, value: impl Into<Value>) -> Value {
        let mut work = json!({"ids": {}, "type": "article", "authors": [{"literal": "A"}],
            "title": "On desks", "issued": "2020-01", "source": "echo"});
        work[member] = value.into();
        json!({"works": [work]})
    }

    #[test]
    fn records_that_keep_every_promise_pass() {
        assert!(holds(&json!({"works": []})));
        assert!(holds(&work("title", "On desks")));
        assert!(holds(&json!("unknown")));
    }

    #[test]
    fn each_broken_promise_fails() {
        for (member, value) in [
            ("title", json!(null)),
            ("title", json!(" ")),
            ("title", json!("two  spaces")),
            ("issued", json!("20 BC")),
            ("landing_url", json!("ftp:desk")),
            ("subjects", json!([])),
            ("source", json!("crossref")),
            ("ids", json!("10.5555/x")),
        ] {
            assert!(!holds(&work(member, value.clone())), "{member}: {value}");
        }
        assert!(!holds(&json!("refused")), "a code that no document has");
    }
}
