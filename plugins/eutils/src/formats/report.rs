//! NCBI's reports of errors.
//!
//! An upper-case `ERROR` says that the whole request failed; a lower-case `error` says that one
//! identifier is missing. The first is an error of the call, the second part of the result.

use carrel_pdk::text::excerpt;
use carrel_pdk::xml::{Element, XmlReader};
use carrel_pdk::{Action, Code, Error};

/// Phrases by which NCBI's utilities, backends and gateway report a server error.
const BROKEN: [&str; 17] = [
    "backend failed",
    "bad gateway",
    "busy",
    "connection",
    "couldn't resolve",
    "exception",
    "forwarding",
    "internal",
    "overload",
    "read failed",
    "server error",
    "temporarily",
    "temporary",
    "timed out",
    "timeout",
    "try again",
    "unavailable",
];

/// The error for the text of an `ERROR`.
pub(crate) fn error(words: &str) -> Error {
    let lower = words.to_ascii_lowercase();
    let error = Error::new(Code::UpstreamError, format!("NCBI reports: {}", words.trim()));
    if lower.contains("api key") || lower.contains("api_key") || lower.contains("api-key") {
        return error.action(Action::AskOperator);
    }
    if BROKEN.iter().any(|sign| lower.contains(sign)) { error.retry_later() } else { error }
}

/// The error of the open `ERROR` and of those after it inside the same element.
pub(crate) fn failure(xml: &mut XmlReader<'_>) -> Result<Error, Error> {
    let mut words: Vec<String> = xml.text()?.map(|text| text.into_owned()).into_iter().collect();
    while let Some(element) = xml.child()? {
        if element.local == "ERROR" {
            words.extend(xml.text()?.map(|text| text.into_owned()));
        } else {
            xml.skip()?;
        }
    }
    Ok(error(if words.is_empty() { "no details".to_owned() } else { words.join("; ") }.as_str()))
}

/// The error of a document whose open root is not the expected one: NCBI's error report if it holds
/// one.
pub(crate) fn unexpected(
    xml: &mut XmlReader<'_>,
    root: Element<'_>,
    found: &str,
    expected: &str,
) -> Result<Error, Error> {
    if found == "ERROR" {
        let words = xml.text()?;
        return Ok(error(words.as_deref().unwrap_or("no details")));
    }
    if found.starts_with('e') && found.ends_with("Result") {
        while let Some(element) = xml.child()? {
            if element.local == "ERROR"
                && let Some(words) = xml.text()?
            {
                return Ok(error(&words));
            }
            if element.local != "ERROR" {
                xml.skip()?;
            }
        }
    }
    let message = format!("expected <{expected}> but found <{}>", excerpt(found));
    Ok(xml.error_at(root.offset, message))
}

/// NCBI's error report in place of a plain-text document, if it is one: JSON with an `error`, as
/// the gateway sends it, XML with an `ERROR`, or a page for people.
pub(crate) fn text(body: &str) -> Option<Error> {
    let start = body.trim_start();
    if start.starts_with('{') {
        return gateway(start);
    }
    if !start.starts_with('<') {
        return None;
    }
    let mut xml = XmlReader::new(body, &[]);
    let read = |xml: &mut XmlReader<'_>| {
        let root = xml.root("a report")?;
        unexpected(xml, root, root.local, "plain text")
    };
    Some(read(&mut xml).unwrap_or_else(|error| error))
}

/// The report that NCBI's gateway sends as JSON before any utility sees the request.
pub(crate) fn gateway(body: &str) -> Option<Error> {
    let value: serde_json::Value = serde_json::from_str(body.trim()).ok()?;
    let words = ["error", "message"].iter().find_map(|key| value.get(key)?.as_str())?;
    if words.to_ascii_lowercase().contains("rate limit") {
        let message = format!("NCBI asks for a pause: {words}");
        return Some(Error::new(Code::RateLimited, message).retry_after(1.0));
    }
    Some(error(words))
}
