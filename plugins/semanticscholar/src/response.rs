//! Reads responses, by status and body.

use carrel_pdk::answer::{self, Asked};
use carrel_pdk::{Error, Host, Request, Response};

use crate::formats::document::{SOURCE, hint};

/// Makes one request.
///
/// # Errors
///
/// The failure, if there is no response; for a rate limit, with a hint about a key.
pub(crate) fn ask(host: &dyn Host, request: Request) -> Result<Response, Error> {
    host.fetch(request).map_err(|failure| hint(failure.into()))
}

/// Parses a response, see [`answer::read`].
///
/// # Errors
///
/// As there.
pub(crate) fn read<'r, T>(
    response: &'r Response,
    asked: Asked,
    parse: impl FnOnce(&'r str) -> Result<T, Error>,
) -> Result<T, Error> {
    answer::read(SOURCE, response, asked, parse)
}
