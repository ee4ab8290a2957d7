//! Reads responses by status and body, for every upstream that reports errors in JSON or in pages
//! of markup.

use crate::{Code, Error, Host, Request, Response, discard, refusal};

/// Whether a request was for one item or a search, which decides what 404 means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// One item, by its identifier.
    ForOne,
    /// A search.
    ForMatches,
}

/// Parses a response's body with `parse`, or returns the error that the response represents.
///
/// # Errors
///
/// The upstream's error report, in any body; `upstream_invalid` when a successful answer cannot be
/// parsed; `not_found` when the requested item does not exist; else the error of the status.
pub fn read<'r, T>(
    source: &str,
    response: &'r Response,
    asked: Asked,
    parse: impl FnOnce(&'r str) -> Result<T, Error>,
) -> Result<T, Error> {
    let parsed = parse(&response.body).map_err(|error| match (error.code, asked) {
        // A search does not name a single item, so 404 is about its arguments.
        (Code::NotFound, Asked::ForMatches) => Error { code: Code::UpstreamError, ..error },
        _ => error,
    });
    if response.is_success() {
        return parsed.map_err(|error| match error.code {
            Code::InvalidDocument => Error {
                code: Code::UpstreamInvalid,
                message: format!("the answer of {source} cannot be read: {}", error.message),
                ..error
            },
            _ => error,
        });
    }
    let report = parsed.err().filter(|error| error.code != Code::InvalidDocument);
    let status = response.status;
    let refused = refusal(source, response);
    Err(match (status, report) {
        (404 | 410, _) if asked == Asked::ForOne => {
            Error::new(Code::NotFound, format!("{source} answered with status {status}"))
        }
        (400 | 422, Some(report)) => Error { code: Code::UpstreamError, ..report },
        // The status gives the kind of error, the report the message.
        (_, Some(report)) => {
            let message = format!("{}; {}", refused.message, report.message);
            Error { message, ..refused }
        }
        _ => refused,
    })
}

/// Reads an optional answer as [`read`] does. An unreadable answer is removed from the cache, so
/// the next call requests it again.
///
/// # Errors
///
/// As [`read`].
pub fn read_part<'r, T>(
    source: &str,
    host: &dyn Host,
    request: &Request,
    response: &'r Response,
    asked: Asked,
    parse: impl FnOnce(&'r str) -> Result<T, Error>,
) -> Result<T, Error> {
    read(source, response, asked, parse).inspect_err(|error| {
        if error.code != Code::NotFound {
            discard(host, request);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report;

    fn of(status: u16, body: &str, asked: Asked) -> Result<usize, Code> {
        let response =
            Response { status, url: String::new(), headers: Vec::new(), body: body.to_owned() };
        read("Lists", &response, asked, |body| match body {
            "" => Err(Error::invalid_document("nothing", 0, "")),
            "ok" => Ok(2),
            words => Err(report("Lists", None, words)),
        })
        .map_err(|error| error.code)
    }

    #[test]
    fn status_and_body_decide_together() {
        use Asked::{ForMatches, ForOne};
        for (status, body, asked, result) in [
            (200, "ok", ForOne, Ok(2)),
            (200, "", ForOne, Err(Code::UpstreamInvalid)),
            (200, "not found", ForOne, Err(Code::NotFound)),
            (200, "not found", ForMatches, Err(Code::UpstreamError)),
            (404, "", ForOne, Err(Code::NotFound)),
            (404, "", ForMatches, Err(Code::UpstreamUnavailable)),
            (400, "bad field", ForMatches, Err(Code::UpstreamError)),
            (400, "no such field", ForOne, Err(Code::UpstreamError)),
            (429, "not found", ForOne, Err(Code::RateLimited)),
            (403, "Forbidden", ForOne, Err(Code::UpstreamError)),
            (503, "", ForOne, Err(Code::UpstreamUnavailable)),
            (500, "ok", ForOne, Err(Code::UpstreamUnavailable)),
        ] {
            assert_eq!(of(status, body, asked), result, "{status} {body}");
        }
    }
}
