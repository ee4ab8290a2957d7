//! What holds for every outcome of every parser.

use serde_json::Value;

use crate::{Code, Error};

/// Checks an error about a document: one of the codes that fit, in words of reasonable length; and
/// when the document is invalid, a place inside it and one line.
///
/// # Panics
///
/// When any of that does not hold.
#[allow(clippy::expect_used, reason = "tests fail loudly")]
pub fn check_error(error: &Error, document: &str, codes: &[Code]) {
    assert!(codes.contains(&error.code), "an invalid document or a report, but found {error}");
    assert!(!error.message.is_empty() && error.message.len() < 100_000, "{error}");
    if error.code == Code::InvalidDocument {
        let position = error.position.as_ref().expect("an invalid document has a place");
        assert!(position.offset <= document.len() as u64, "{error}");
        assert!(!error.message.contains('\n'), "{error}");
    }
    serde_json::from_str::<Value>(&error.to_json()).expect("the error is JSON");
}
