//! Maps unsuccessful HTTP statuses to errors, for every upstream.
//!
//! The action depends on the cause. Only a status about the request (400, 422) is about arguments;
//! a server error can be retried later; a status that refuses this client is for the operator. A
//! plugin that requests one item by its identifier handles 404 and 410 itself: for other requests
//! they say nothing about an identifier.

use crate::{Action, Code, Error, Response};

/// The error of an unsuccessful response from the upstream called `source`.
pub fn refusal(source: &str, response: &Response) -> Error {
    let status = response.status;
    let error = |code, words: &str| {
        Error::new(code, format!("{source} answered with status {status}{words}"))
    };
    match status {
        429 => {
            let error = Error::new(Code::RateLimited, format!("{source} asks for a pause"));
            match retry_after(response) {
                Some(seconds) => error.retry_after(seconds),
                None => error,
            }
        }
        400 | 422 => {
            Error::new(Code::UpstreamError, format!("{source} refused with status {status}"))
        }
        401 | 402 | 403 | 407 | 451 => {
            error(Code::UpstreamError, ": it keeps this client out, by its address or its key")
                .action(Action::AskOperator)
        }
        404 | 410 => error(Code::UpstreamUnavailable, ", which is none to what was asked"),
        // arXiv answers bursts of requests with 406.
        406 | 408 | 421 | 425 | 500.. => error(Code::UpstreamUnavailable, ""),
        413 | 414 | 431 => error(Code::TooLarge, ": the request is too large for it"),
        400..=499 => error(Code::UpstreamError, ", which no request of this plugin should get")
            .action(Action::ReportBug),
        _ => error(Code::UpstreamInvalid, ", which is no answer"),
    }
}

/// The seconds of `Retry-After`, if it has them.
fn retry_after(response: &Response) -> Option<f64> {
    let seconds: u32 = response.header("retry-after")?.trim().parse().ok()?;
    Some(f64::from(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Header;

    fn of(status: u16) -> Error {
        let response =
            Response { status, url: String::new(), headers: Vec::new(), body: String::new() };
        refusal("X", &response)
    }

    #[test]
    fn the_action_fits_the_status() {
        for (status, code, action) in [
            (400, Code::UpstreamError, None),
            (401, Code::UpstreamError, Some(Action::AskOperator)),
            (403, Code::UpstreamError, Some(Action::AskOperator)),
            (404, Code::UpstreamUnavailable, None),
            (405, Code::UpstreamError, Some(Action::ReportBug)),
            (406, Code::UpstreamUnavailable, None),
            (414, Code::TooLarge, None),
            (429, Code::RateLimited, None),
            (304, Code::UpstreamInvalid, None),
            (503, Code::UpstreamUnavailable, None),
        ] {
            let error = of(status);
            assert_eq!((error.code, error.action), (code, action), "{status}");
            assert_eq!(error.retryable, None, "{status}");
        }
    }

    #[test]
    fn a_pause_says_how_long() {
        let header = Header { name: "Retry-After".to_owned(), value: " 7 ".to_owned() };
        let response = Response {
            status: 429,
            url: String::new(),
            headers: vec![header],
            body: String::new(),
        };
        assert_eq!(refusal("X", &response).retry_after_seconds, Some(7.0));
    }
}
