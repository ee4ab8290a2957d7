//! Connects the generated bindings to [`Plugin`]: decodes, calls, encodes.

use crate::alloc;
use crate::bindings::carrel::plugin as wit;
use crate::fetch::{Failure, FailureKind, Header, Host, Level, Method, Request, Response};
use crate::{Error, Plugin};

/// The contract's string type, re-exported so that [`plugin!`](crate::plugin) needs no imports.
pub type Text = String;
/// The contract's byte list type, re-exported for the same reason.
pub type Bytes = Vec<u8>;

/// `describe` of the contract.
pub fn describe<P: Plugin>() -> String {
    P::manifest().to_json()
}

/// `call` of the contract.
pub fn call<P: Plugin>(tool: &str, arguments: &str) -> Result<String, String> {
    begin();
    let result = P::call(tool, arguments, &ImportedHost).map_err(|error| error.to_json());
    alloc::running(false);
    result
}

/// `parse` of the contract.
pub fn parse<P: Plugin>(format: &str, document: &str) -> Result<String, String> {
    begin();
    let result = P::parse(format, document).map_err(|error: Error| error.to_json());
    alloc::running(false);
    result
}

/// `parse-bytes` of the contract.
pub fn parse_bytes<P: Plugin>(
    format: &str,
    document: &[u8],
    options: &str,
) -> Result<String, String> {
    begin();
    let result = P::parse_bytes(format, document, options).map_err(|error| error.to_json());
    alloc::running(false);
    result
}

/// Sends the message of a panic or a failed allocation to the host's log. Either ends the instance,
/// and there is no standard error stream.
fn begin() {
    alloc::running(true);
    std::panic::set_hook(Box::new(|panic| {
        wit::log::write(wit::log::Level::Error, &panic.to_string());
    }));
}

/// `discard` of the contract.
pub(crate) fn discard(request: Request) {
    wit::http::discard(&lower(request));
}

/// The host, reached through the component's imports.
struct ImportedHost;

impl Host for ImportedHost {
    fn fetch_all(&self, requests: Vec<Request>) -> Vec<Result<Response, Failure>> {
        let requests: Vec<_> = requests.into_iter().map(lower).collect();
        alloc::running(false);
        let outcomes = wit::http::fetch_all(&requests);
        alloc::running(true);
        outcomes.into_iter().map(|outcome| outcome.map(lift).map_err(lift_failure)).collect()
    }

    fn log(&self, level: Level, message: &str) {
        let level = match level {
            Level::Debug => wit::log::Level::Debug,
            Level::Info => wit::log::Level::Info,
            Level::Warn => wit::log::Level::Warn,
            Level::Error => wit::log::Level::Error,
        };
        wit::log::write(level, message);
    }

    fn progress(&self, done: u64, total: u64, message: &str) {
        wit::progress::report(done, total, message);
    }

    fn setting(&self, key: &str) -> Option<String> {
        alloc::running(false);
        let value = wit::config::get(key);
        alloc::running(true);
        Some(value).filter(|value| !value.is_empty())
    }
}

fn lower(request: Request) -> wit::http::Request {
    wit::http::Request {
        method: match request.method {
            Method::Get => wit::http::Method::Get,
            Method::Head => wit::http::Method::Head,
            Method::Post => wit::http::Method::Post,
        },
        url: request.url,
        headers: request
            .headers
            .into_iter()
            .map(|header| wit::http::Header { name: header.name, value: header.value })
            .collect(),
        body: request.body,
        cache: if request.refresh {
            wit::http::CacheMode::Refresh
        } else {
            wit::http::CacheMode::Default
        },
    }
}

fn lift(response: wit::http::Response) -> Response {
    Response {
        status: response.status,
        url: response.url,
        headers: response
            .headers
            .into_iter()
            .map(|header| Header { name: header.name, value: header.value })
            .collect(),
        body: response.body,
    }
}

fn lift_failure(failure: wit::http::FetchFailure) -> Failure {
    use wit::http::FetchError;
    Failure {
        url: failure.url,
        message: failure.message,
        kind: match failure.error {
            FetchError::Denied(denial) => {
                FailureKind::Denied { reason: denial.reason, grant: denial.grant }
            }
            FetchError::Timeout(detail) => FailureKind::Timeout { milliseconds: detail.number },
            FetchError::RateLimited(pause) => FailureKind::RateLimited { seconds: pause.seconds },
            FetchError::TooLarge(detail) => FailureKind::TooLarge { cap: detail.number },
            FetchError::Unreachable(detail) => FailureKind::Unreachable { status: detail.number },
            FetchError::Undecodable(_) => FailureKind::Undecodable,
        },
    }
}
