//! Parses a whole JSON document to the format's type, or returns a positioned error.

use serde::Deserialize;

use super::{from_str, position};
use crate::text::excerpt;
use crate::{Error, report};

/// Reads a document that is one object or one array; `source` is the upstream's name and `expected`
/// describes the format's content, such as "a work of OpenAlex".
///
/// # Errors
///
/// The error that an error page in markup reports ([`report::page`]); `invalid_document` with its
/// position for any other text that is not JSON.
pub fn read<'d, T: Deserialize<'d>>(
    source: &str,
    expected: &str,
    document: &'d str,
) -> Result<T, Error> {
    let text = document.strip_prefix('\u{feff}').unwrap_or(document);
    let start = text.trim_start();
    if !start.starts_with(['{', '[']) {
        if let Some(error) = report::page(source, start) {
            return Err(error);
        }
        let found = match start.chars().next() {
            None => "nothing".to_owned(),
            Some('<') => format!("markup: {}", excerpt(start)),
            Some(_) => excerpt(start.trim_end()),
        };
        return Err(unexpected(expected, &found, document));
    }
    from_str(text).map_err(|flaw| position::error(document, text, &flaw))
}

/// The error of a JSON document with other content; `found` describes the content.
pub fn unexpected(expected: &str, found: &str, document: &str) -> Error {
    let text = document.strip_prefix('\u{feff}').unwrap_or(document);
    let offset = (document.len() - text.trim_start().len()) as u64;
    Error::invalid_document(format!("expected {expected} but found {found}"), offset, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use crate::json::lenient::{Text, object};

    object! {
        /// A title.
        Titled {
            "title" => title: Text<'d>,
        }
    }

    fn title(document: &str) -> Result<Option<String>, Error> {
        let titled: Titled<'_> = read("Lists", "a title", document)?;
        Ok(titled.title.0.map(std::borrow::Cow::into_owned))
    }

    #[test]
    fn an_object_is_read_behind_a_byte_order_mark() {
        assert_eq!(title("\u{feff} {\"title\": \"x\"}\n").unwrap().as_deref(), Some("x"));
    }

    #[test]
    fn other_texts_are_invalid_and_named() {
        for (document, offset, message) in [
            ("", 0, "expected a title but found nothing"),
            ("  oops\n", 2, "expected a title but found oops"),
            ("\u{feff}<p>x</p>", 3, "expected a title but found markup: <p>x</p>"),
            ("{\"title\": x", 10, "expected JSON but found broken text: expected value"),
        ] {
            let error = title(document).unwrap_err();
            assert_eq!((error.code, &*error.message), (Code::InvalidDocument, message));
            assert_eq!(error.position.unwrap().offset, offset, "{document}");
        }
    }

    #[test]
    fn an_error_page_is_what_it_reports() {
        let error = title("<!doctype html>\n<title>404 Not Found</title>").unwrap_err();
        assert_eq!(error.code, Code::NotFound);
    }
}
