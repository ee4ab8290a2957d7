//! Sends requests and reads responses, by status and body.

use carrel_pdk::{Code, Error, Host, Request, Response, discard, refusal};

/// Makes one request.
///
/// # Errors
///
/// The failure, if there is no response.
pub(crate) fn ask_one(host: &dyn Host, request: Request) -> Result<Response, Error> {
    let outcome = host.fetch_all(vec![request]).pop();
    Ok(outcome.ok_or_else(unanswered)??)
}

/// The error for a host that does not answer every request, which is a bug of the host.
pub(crate) fn unanswered() -> Error {
    Error::new(Code::UpstreamUnavailable, "the host gave no answer")
}

/// Whether a request was for one item or a search, which decides what 404 means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// One work, by its DOI.
    ForWork,
    /// A search.
    ForMatches,
}

/// Reads an optional answer as [`read`] does. An unreadable answer is removed from the cache, so
/// the next call requests it again.
///
/// # Errors
///
/// As [`read`].
pub(crate) fn read_part<'r, T>(
    host: &dyn Host,
    request: &Request,
    response: &'r Response,
    asked: Asked,
    document: fn(&'r str) -> Result<T, Error>,
) -> Result<T, Error> {
    read(response, asked, document).inspect_err(|error| {
        if error.code != Code::NotFound {
            discard(host, request);
        }
    })
}

/// Parses a response's body with `read`, or returns the error that the response represents.
///
/// # Errors
///
/// Crossref's error report, in any body and with any status; `upstream_invalid` when a successful
/// answer cannot be parsed; `not_found` when the requested work does not exist; else the error of
/// the status.
pub(crate) fn read<'r, T>(
    response: &'r Response,
    asked: Asked,
    read: fn(&'r str) -> Result<T, Error>,
) -> Result<T, Error> {
    let parsed = read(&response.body).map_err(|error| match (error.code, asked) {
        // A search does not name a single item, so 404 is about its arguments.
        (Code::NotFound, Asked::ForMatches) => Error { code: Code::UpstreamError, ..error },
        _ => error,
    });
    if response.is_success() {
        return parsed.map_err(|error| match error.code {
            Code::InvalidDocument => Error {
                code: Code::UpstreamInvalid,
                message: format!("Crossref's answer cannot be read: {}", error.message),
                ..error
            },
            _ => error,
        });
    }
    let status = response.status;
    let report = parsed.err().filter(|error| error.code != Code::InvalidDocument);
    Err(match (status, report) {
        (500.., Some(report)) => {
            let message = format!("Crossref answered with status {status}: {}", report.message);
            Error::new(Code::UpstreamUnavailable, message)
        }
        (400 | 404 | 410 | 422, Some(report)) => report,
        (404 | 410, None) if asked == Asked::ForWork => {
            Error::new(Code::NotFound, format!("Crossref answered with status {status}"))
        }
        _ => refusal("Crossref", response),
    })
}
