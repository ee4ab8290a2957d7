//! What an answer says, by its status and its body: the same for every upstream that reports its errors in
//! JSON or in pages of markup.

use crate::{Code, Error, Host, Request, Response, discard, refusal};

/// What a request asked for, which decides what 404 means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// One item, by its identifier.
    ForOne,
    /// Whatever matches.
    ForMatches,
}

/// What `parse` makes of an answer's body, or the error that the answer stands for.
///
/// # Errors
///
/// The upstream's own report, in whatever body; `upstream_invalid` when a successful answer cannot be
/// read; `not_found` when one item was asked for and is not there; else what the status means.
pub fn read<'r, T>(
    source: &str,
    response: &'r Response,
    asked: Asked,
    parse: impl FnOnce(&'r str) -> Result<T, Error>,
) -> Result<T, Error> {
    let parsed = parse(&response.body).map_err(|error| match (error.code, asked) {
        // No search is for one thing, so that what is missing is something in its arguments.
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
        // The status says what kind of error it is, the report says more.
        (_, Some(report)) => {
            let message = format!("{}; {}", refused.message, report.message);
            Error { message, ..refused }
        }
        _ => refused,
    })
}

/// Reads as [`read`] does an answer that the call can do without. One that cannot be read is not kept for
/// the next call.
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
