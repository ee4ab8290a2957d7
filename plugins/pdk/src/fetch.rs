//! The host functions that a plugin may call: the contract's imports as one trait.

use crate::{Code, Error};

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Read a document.
    Get,
    /// Ask whether a document exists.
    Head,
    /// Read a document whose query does not fit into a URL.
    Post,
}

/// One header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The name; lower case in responses.
    pub name: String,
    /// The value.
    pub value: String,
}

/// One request. The host adds identity, credentials and everything about the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method; the manifest must declare it for the URL's host.
    pub method: Method,
    /// An absolute `https` URL without user info, port or fragment.
    pub url: String,
    /// Headers of the plugin's own: in practice `accept` and `content-type`.
    pub headers: Vec<Header>,
    /// The body of a POST; empty otherwise.
    pub body: String,
    /// Send the request even if the host's cache has a fresh response.
    pub refresh: bool,
}

impl Request {
    /// A GET of `url`.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: Method::Get,
            url: url.into(),
            headers: Vec::new(),
            body: String::new(),
            refresh: false,
        }
    }

    /// A HEAD of `url`.
    pub fn head(url: impl Into<String>) -> Self {
        Self { method: Method::Head, ..Self::get(url) }
    }

    /// A POST of `body`, whose media type is `content_type`, to `url`.
    pub fn post(url: impl Into<String>, content_type: &str, body: impl Into<String>) -> Self {
        let header = Header { name: "content-type".to_owned(), value: content_type.to_owned() };
        Self { method: Method::Post, headers: vec![header], body: body.into(), ..Self::get(url) }
    }

    /// The same request, bypassing the host's cache.
    #[must_use]
    pub fn refreshed(mut self) -> Self {
        self.refresh = true;
        self
    }
}

/// An upstream's response, with any status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status of the last hop.
    pub status: u16,
    /// The URL of the last hop.
    pub url: String,
    /// Its headers, without cookies and credentials.
    pub headers: Vec<Header>,
    /// The body, decompressed and decoded; empty for HEAD.
    pub body: String,
}

impl Response {
    /// Whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The value of the first header called `name`, case-insensitively.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))
            .map(|header| header.value.as_str())
    }
}

/// The reason why a request has no response.
#[derive(Debug, Clone, PartialEq)]
pub enum FailureKind {
    /// Policy refused the request or one of its redirects.
    Denied {
        /// One of the denial reasons of `contract/v1/errors.json`.
        reason: String,
        /// The grant that would allow it; empty if no grant can.
        grant: String,
    },
    /// The deadline passed, or the upstream did not answer in time.
    Timeout {
        /// The time waited.
        milliseconds: u64,
    },
    /// The upstream's rate limit requires a longer wait than the call's deadline allows.
    RateLimited {
        /// Seconds after which the same request can succeed.
        seconds: f64,
    },
    /// The response exceeds the size limit.
    TooLarge {
        /// The limit in bytes.
        cap: u64,
    },
    /// No connection, a broken response, or a server error after all of the host's retries.
    Unreachable {
        /// The last HTTP status; 0 when no answer came.
        status: u64,
    },
    /// The body cannot be decoded as text.
    Undecodable,
}

/// A failed request.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The URL that failed: the request's or a redirect's.
    pub url: String,
    /// The reason, for programs.
    pub kind: FailureKind,
    /// One line for a person.
    pub message: String,
}

impl Failure {
    /// The error code of a call that fails because of this failure.
    pub fn code(&self) -> Code {
        match self.kind {
            FailureKind::Denied { .. } => Code::Denied,
            FailureKind::Timeout { .. } => Code::Timeout,
            FailureKind::RateLimited { .. } => Code::RateLimited,
            FailureKind::TooLarge { .. } => Code::TooLarge,
            FailureKind::Unreachable { .. } => Code::UpstreamUnavailable,
            FailureKind::Undecodable => Code::UpstreamInvalid,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let error = Error::new(failure.code(), failure.message);
        match failure.kind {
            FailureKind::RateLimited { seconds } => error.retry_after(seconds),
            _ => error,
        }
    }
}

/// How serious a log line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// For the plugin's author.
    Debug,
    /// For the operator who looks.
    Info,
    /// A problem that was worked around.
    Warn,
    /// Something failed.
    Error,
}

/// The host as a plugin sees it: the contract's imports inside the sandbox, a test double in tests.
pub trait Host {
    /// Makes the requests concurrently, within the rate limits of their upstreams, and returns the
    /// outcomes in the order of the requests.
    fn fetch_all(&self, requests: Vec<Request>) -> Vec<Result<Response, Failure>>;

    /// Makes one request.
    ///
    /// # Errors
    ///
    /// The failure, if there is no response.
    fn fetch(&self, request: Request) -> Result<Response, Failure> {
        let url = request.url.clone();
        self.fetch_all(vec![request]).pop().unwrap_or_else(|| {
            Err(Failure {
                url,
                kind: FailureKind::Unreachable { status: 0 },
                message: "the host gave no answer".to_owned(),
            })
        })
    }

    /// Writes a line to the host's log.
    fn log(&self, level: Level, message: &str);

    /// Reports that `done` of `total` steps are finished; `total` is 0 if unknown.
    fn progress(&self, done: u64, total: u64, message: &str);

    /// The plugin's own setting `key` as JSON text, when the operator set it. Keys that begin with
    /// `carrel:` are reserved for the host: `carrel:waiting` is the number of the plugin's pending
    /// requests.
    fn setting(&self, key: &str) -> Option<String>;

    /// Records a call of [`discard`]. For test doubles.
    #[cfg(not(target_family = "wasm"))]
    fn discarded(&self, _request: &Request) {}
}

/// Removes the responses that this call received for `request` from the host's cache, so that the
/// next call sends the request again.
///
/// Use it for a response that a plugin cannot parse and does not need. Responses of a call that
/// fails are never cached. Does nothing for a request that this call has not made.
///
/// It is not a method of [`Host`], so that a plugin that never calls it does not import it and runs
/// in older hosts.
pub fn discard(host: &dyn Host, request: &Request) {
    #[cfg(target_family = "wasm")]
    {
        let _ = host;
        crate::export::discard(request.clone());
    }
    #[cfg(not(target_family = "wasm"))]
    host.discarded(request);
}
