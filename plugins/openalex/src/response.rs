//! Reads responses, by status and body, and the rest of the day's budget in their headers.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::record::Work;
use carrel_pdk::record::page::Page;
use carrel_pdk::{Code, Error, Host, Level, Request, Response};

use crate::formats::document::SOURCE;
use crate::formats::works;

/// The fraction of the budget below which a result states the rest: 1/5.
const LOW: u64 = 5;

/// The day's budget in a response's headers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Budget {
    limit: Option<u64>,
    remaining: Option<u64>,
    reset_seconds: Option<u64>,
}

impl Budget {
    /// The budget by the headers.
    pub(crate) fn of(response: &Response) -> Self {
        let number = |name: &str| {
            let text = response.header(name)?.trim();
            // Some are sent as decimals.
            text.split('.').next()?.parse().ok()
        };
        Self {
            limit: number("x-ratelimit-limit"),
            remaining: number("x-ratelimit-remaining"),
            reset_seconds: number("x-ratelimit-reset"),
        }
    }

    /// A notice about the rest of the budget, when it is low.
    pub(crate) fn notice(self) -> Option<String> {
        let remaining = self.remaining?;
        let is_low = self.limit.is_none_or(|limit| remaining <= limit / LOW);
        is_low.then(|| {
            let of = self.limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
            let reset = self.reset_seconds.map(|seconds| format!(", renewed in {seconds} s"));
            format!(
                "OpenAlex's daily budget: {remaining}{of} credits left{}; a search costs 10, a list 1, a \
                 single work none",
                reset.unwrap_or_default()
            )
        })
    }

    /// The seconds until the budget is renewed, when it is spent.
    fn wait(self) -> Option<f64> {
        let seconds = u32::try_from(self.reset_seconds?).ok()?;
        (self.remaining == Some(0)).then(|| f64::from(seconds))
    }
}

/// Reads the work in an answer to a request for one.
///
/// # Errors
///
/// As [`answer::read`].
pub(crate) fn work<'r>(
    host: &dyn Host,
    request: &Request,
    response: &'r Response,
) -> Result<Work<'r>, Error> {
    let read = |body| works::work(body).map(|parsed| parsed.work);
    answer::read_part(SOURCE, host, request, response, Asked::ForOne, read)
        .map_err(|error| explained(error, Budget::of(response)))
}

/// Reads a page of works; logs a warning when the budget is nearly spent.
///
/// # Errors
///
/// As [`answer::read`].
pub(crate) fn page<'r>(host: &dyn Host, response: &'r Response) -> Result<Page<'r>, Error> {
    let budget = Budget::of(response);
    if let Some(notice) = budget.notice() {
        host.log(Level::Warn, &notice);
    }
    answer::read(SOURCE, response, Asked::ForMatches, works::works)
        .map_err(|error| explained(error, budget))
}

/// Makes one request.
///
/// # Errors
///
/// The failure, if there is no response.
pub(crate) fn ask(host: &dyn Host, request: Request) -> Result<Response, Error> {
    host.fetch(request).map_err(|failure| explained(failure.into(), Budget::default()))
}

/// Adds to an error about a spent budget when it is renewed, and that a key has a larger one.
pub(crate) fn explained(error: Error, budget: Budget) -> Error {
    if error.code != Code::RateLimited {
        return error;
    }
    let message = format!(
        "{}; OpenAlex counts a daily budget, which a free API key (CARREL_SECRET_OPENALEX_API_KEY) makes \
         larger; single works by identifier cost nothing",
        error.message
    );
    let error = Error { message, ..error };
    match (error.retry_after_seconds, budget.wait()) {
        (None, Some(seconds)) => error.retry_after(seconds),
        _ => error,
    }
}
