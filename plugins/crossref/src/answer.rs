//! Requests → responses → what they say, by status and body.

use carrel_pdk::{Code, Error, Host, Request, Response};

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

/// What `read` makes of a response's body, or the error that the response stands for.
///
/// # Errors
///
/// Crossref's own report, in whatever body and status; `upstream_invalid` when a successful answer
/// cannot be read; `not_found`, `rate_limited` and `upstream_unavailable` by their statuses.
pub(crate) fn read<'r, T>(
    response: &'r Response,
    read: fn(&'r str) -> Result<T, Error>,
) -> Result<T, Error> {
    let parsed = read(&response.body);
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
        (429, _) => {
            let error = Error::new(Code::RateLimited, "Crossref asks for a pause");
            let seconds = response.header("retry-after").and_then(|text| text.trim().parse().ok());
            seconds.map_or(error.clone(), |seconds: u32| error.retry_after(f64::from(seconds)))
        }
        (500.., report) => {
            let said = report.map(|error| format!(": {}", error.message)).unwrap_or_default();
            let message = format!("Crossref answered with status {status}{said}");
            Error::new(Code::UpstreamUnavailable, message)
        }
        (_, Some(report)) => report,
        (404 | 410, None) => {
            Error::new(Code::NotFound, format!("Crossref answered with status {status}"))
        }
        _ => Error::new(Code::UpstreamError, format!("Crossref refused with status {status}")),
    })
}
