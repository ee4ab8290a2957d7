//! Requests → responses → what they say, by status and body.

use carrel_pdk::{Code, Error, Host, Request, Response, discard, refusal};

/// Makes one request.
///
/// # Errors
///
/// The failure, when there is no answer.
pub(crate) fn ask_one(host: &dyn Host, request: Request) -> Result<Response, Error> {
    let outcome = host.fetch_all(vec![request]).pop();
    Ok(outcome.ok_or_else(unanswered)??)
}

/// The host answers every request; should it not, this is the error.
pub(crate) fn unanswered() -> Error {
    Error::new(Code::UpstreamUnavailable, "the host gave no answer")
}

/// What a request asked for, which decides what 404 means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// One work, by its DOI.
    ForWork,
    /// Whatever matches.
    ForMatches,
}

/// Reads as [`read`] does an answer that the call can do without. One that cannot be read is not kept for
/// the next call.
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

/// What `read` makes of a response's body, or the error that the response stands for.
///
/// # Errors
///
/// Crossref's own report, in whatever body and status; `upstream_invalid` when a successful answer
/// cannot be read; `not_found` when a work was asked for and is not there; else what the status means.
pub(crate) fn read<'r, T>(
    response: &'r Response,
    asked: Asked,
    read: fn(&'r str) -> Result<T, Error>,
) -> Result<T, Error> {
    let parsed = read(&response.body).map_err(|error| match (error.code, asked) {
        // No search is for one thing, so that what is missing is something in its arguments.
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
