//! Positions of JSON errors: byte offset and path of members.

use crate::Error;
use crate::json::Flaw;

/// The error of a text that is not JSON; `json` is the end of `document` that was read.
pub fn error(document: &str, json: &str, flaw: &Flaw) -> Error {
    let (before, offset) = (document.len() - json.len(), flaw.offset());
    let message = if flaw.is_end() {
        "the document ends in the middle".to_owned()
    } else {
        format!("expected JSON but found broken text: {flaw}")
    };
    Error::invalid_document(message, (before + offset) as u64, path(json, offset))
}

/// An object or array that is open at the end of the text.
enum Open<'j> {
    /// An object and the latest of its keys.
    Object(Option<&'j str>),
    /// An array and the number of its latest item, from 1.
    Array(usize),
}

/// The members that are open at byte `end` of `json`, outermost first: `message/items[3]/title`.
fn path(json: &str, end: usize) -> String {
    let mut open = Vec::new();
    let bytes = json.as_bytes().get(..end).unwrap_or_default();
    let mut at = 0;
    // The last string: a key if a colon follows.
    let mut string = None;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let start = at;
                while let Some(&inside) = bytes.get(at) {
                    match inside {
                        b'"' => break,
                        b'\\' => at += 2,
                        _ => at += 1,
                    }
                }
                string = json.get(start..at);
                at += 1;
            }
            b'{' => open.push(Open::Object(None)),
            b'[' => open.push(Open::Array(1)),
            b'}' | b']' => drop(open.pop()),
            b':' => {
                if let Some(Open::Object(key)) = open.last_mut() {
                    *key = string;
                }
            }
            b',' => match open.last_mut() {
                Some(Open::Object(key)) => *key = None,
                Some(Open::Array(number)) => *number += 1,
                None => {}
            },
            _ => {}
        }
    }
    let mut path = String::new();
    for level in open.iter().take(DEEPEST_PATH) {
        match level {
            Open::Object(Some(key)) => {
                path.push_str(if path.is_empty() { "" } else { "/" });
                path.push_str(&crate::text::excerpt(key));
            }
            Open::Object(None) => {}
            Open::Array(number) => path.push_str(&format!("[{number}]")),
        }
    }
    path
}

/// The most levels in a path; hostile documents have more.
const DEEPEST_PATH: usize = 32;

#[cfg(test)]
mod tests {
    fn broken(document: &str) -> (u64, String) {
        let flaw = crate::json::from_str::<serde_json::Value>(document).unwrap_err();
        let position = super::error(document, document, &flaw).position.unwrap();
        (position.offset, position.path)
    }

    #[test]
    fn the_place_is_named_down_to_the_item() {
        let document = "{\"message\":\n {\"items\": [{\"a\": [1, 2]}, {\"title\": [\"x\", oops";
        let (offset, path) = broken(document);
        assert_eq!(path, "message/items[2]/title[2]");
        assert!(document[usize::try_from(offset).unwrap()..].starts_with("oops"), "{offset}");
    }

    #[test]
    fn a_text_that_ends_early_ends_at_its_end() {
        for document in ["{", "{\"a\"", "{\"a\": \"é", "{\"a\": {\"b\\\"\": [", "\n\n{\"a\":\n"] {
            let (offset, _) = broken(document);
            assert!(offset <= document.len() as u64, "{document:?}");
        }
        assert_eq!(broken("{\"a\": {\"b\": [").1, "a/b[1]");
    }

    #[test]
    fn commas_and_brackets_in_strings_are_text() {
        assert_eq!(broken("{\"a,[{\": [\"],}\\\"\", oops").1, "a,[{[2]");
    }
}
