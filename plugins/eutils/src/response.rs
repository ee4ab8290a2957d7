//! Sends requests and reads responses, by status and body.

use carrel_pdk::{Action, Code, Error, Host, Level, Request, Response, discard, refusal};

use crate::formats::report;
use crate::request::Query;

/// Retries for a broken response.
const RETRIES: u32 = 2;

/// Sends a request and reads the answer with `read`.
///
/// With status 200, NCBI sometimes sends only a prolog, half a document, or the report of a failed
/// backend. Such a request is repeated twice, bypassing the cache, and never reported as "no
/// results". The last broken answer is removed from the cache, so the next call requests it again.
///
/// # Errors
///
/// The error of `read`, where an invalid document is `upstream_invalid`; the host's failure; the
/// error of the status.
pub(crate) fn ask<T>(
    host: &dyn Host,
    query: &Query,
    read: impl Fn(&str) -> Result<T, Error>,
) -> Result<T, Error> {
    let request = query.request();
    let first = host.fetch(request.clone())?;
    settle(host, &request, first, |response| read(&response.body))
}

/// Reads an answer that was already received, and retries where [`ask`] would.
pub(crate) fn settle<T>(
    host: &dyn Host,
    request: &Request,
    first: Response,
    read: impl Fn(&Response) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut response = first;
    let mut again = 0;
    loop {
        let error = match outcome(&response, &read) {
            Ok(result) => return Ok(result),
            Err(error) => error,
        };
        let worth_asking = response.is_success()
            && (error.code == Code::UpstreamInvalid || error.retryable == Some(true));
        if !worth_asking || again == RETRIES {
            // `not_found` is a readable answer.
            if error.code != Code::NotFound {
                discard(host, request);
            }
            return Err(error);
        }
        again += 1;
        host.log(Level::Warn, &format!("{}, asking again", error.message));
        response = host.fetch(request.clone().refreshed())?;
    }
}

fn outcome<T>(
    response: &Response,
    read: &impl Fn(&Response) -> Result<T, Error>,
) -> Result<T, Error> {
    let body = response.body.as_str();
    if !response.is_success() {
        return Err(refused(response));
    }
    if is_hollow(body) {
        let message = "NCBI answered with nothing but the beginning of a document";
        return Err(Error::new(Code::UpstreamInvalid, message));
    }
    read(response).map_err(|error| match error.code {
        Code::InvalidDocument => match report::gateway(body) {
            Some(report) => report,
            None => Error {
                code: Code::UpstreamInvalid,
                message: format!("NCBI's answer cannot be read: {}", error.message),
                ..error
            },
        },
        _ => error,
    })
}

/// Whether a document ends after the XML declaration and the document type.
fn is_hollow(body: &str) -> bool {
    let mut rest = body.trim_start_matches('\u{feff}').trim_start();
    while rest.starts_with("<?") || rest.starts_with("<!DOCTYPE") {
        match rest.find('>') {
            Some(end) => rest = rest.get(end + 1..).unwrap_or_default().trim_start(),
            None => return true,
        }
    }
    rest.is_empty()
}

/// The error of an answer whose status is not 2xx.
fn refused(response: &Response) -> Error {
    let status = response.status;
    let words = report::gateway(&response.body).or_else(|| {
        // An XML error report is used; an HTML page is not.
        report::text(&response.body).filter(|error| error.code == Code::UpstreamError)
    });
    match (status, words) {
        // The text of a server error is about the server, not the request.
        (500.., Some(error)) if error.code == Code::UpstreamError && error.action.is_none() => {
            error.retry_later()
        }
        // About a wrong request or key, the report is more precise than the status.
        (400 | 422 | 500.., Some(error)) => error,
        (401 | 403, Some(error)) if error.action == Some(Action::AskOperator) => error,
        _ => refusal("NCBI", response),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prolog_alone_is_hollow() {
        for body in [
            "",
            " \n",
            "<?xml version=\"1.0\"?>",
            "\u{feff}<?xml version=\"1.0\" ?>\n<!DOCTYPE x PUBLIC \"a\" \"b\">\n",
            "<!DOCTYPE x PUBLIC \"a",
        ] {
            assert!(is_hollow(body), "{body:?}");
        }
        for body in ["<a/>", "text", "<?xml version=\"1.0\"?><a/>"] {
            assert!(!is_hollow(body), "{body:?}");
        }
    }
}
