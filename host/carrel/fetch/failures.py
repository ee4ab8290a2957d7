"""The failures of the contract, worded once.

A message says what failed, where, and what can be done, in our own words: nothing that an upstream
sent is repeated, because messages reach people, models and logs.
"""

from __future__ import annotations

import re

from carrel.exchange import Failure, FailureKind

_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


def clean_url(url: str) -> str:
    """A URL that may be shown: printable ASCII, at most 500 characters."""
    shown = _UNPRINTABLE.sub("?", url)
    return shown if len(shown) <= 500 else shown[:497] + "..."


def denied(url: str, reason: str, message: str, *, grant: str = "") -> Failure:
    """Policy refused; `grant` is the configuration that would allow it."""
    if grant:
        message = f"{message}; to allow it: {grant}"
    return Failure(
        FailureKind.DENIED, clean_url(url), f"refused: {message}", reason=reason, grant=grant
    )


def timeout(url: str, host: str, seconds: float) -> Failure:
    """The time for an answer is over."""
    return Failure(
        FailureKind.TIMEOUT,
        clean_url(url),
        f"{host} did not answer within {seconds:.3g} s; ask for less or try again later",
        number=round(seconds * 1000),
    )


def out_of_time(url: str) -> Failure:
    """The call had no time left when the request could be sent."""
    return Failure(
        FailureKind.TIMEOUT,
        clean_url(url),
        "the call has no time left for this request; ask for less at once",
    )


def not_made(url: str) -> Failure:
    """The call had ended, or passed a budget, before the request could be sent."""
    return Failure(
        FailureKind.TIMEOUT, clean_url(url), "the call ended before this request was made"
    )


def cancelled(url: str) -> Failure:
    """The call ended before the answer came."""
    return Failure(FailureKind.TIMEOUT, clean_url(url), "the call was cancelled")


def rate_limited(url: str, host: str, seconds: float) -> Failure:
    """The upstream's pace asks for a wait that does not fit."""
    seconds = max(seconds, 0.0)
    return Failure(
        FailureKind.RATE_LIMITED,
        clean_url(url),
        f"{host} asks for slower requests; try again in {max(seconds, 0.1):.1f} s",
        seconds=round(seconds, 3),
    )


def pace_unknown(url: str, seconds: float) -> Failure:
    """The store of the rate limits cannot be used, so the request was not sent."""
    return Failure(
        FailureKind.RATE_LIMITED,
        clean_url(url),
        "the rate limits that servers share cannot be read now, so the request was not sent; "
        f"try again in {seconds:.1f} s",
        seconds=round(seconds, 3),
    )


def too_large(url: str, host: str, cap: int, *, what: str = "the answer") -> Failure:
    """A body passes its cap."""
    return Failure(
        FailureKind.TOO_LARGE,
        clean_url(url),
        f"{what} of {host} passes the cap of {cap} bytes; ask for less at once",
        number=cap,
    )


def over_plugin_budget(url: str, plugin: str, allowed: int) -> Failure:
    """The plugin holds too many bytes of answers at once."""
    return Failure(
        FailureKind.TOO_LARGE,
        clean_url(url),
        f"the answers that {plugin} fetches at once pass {allowed} bytes; ask for less at once",
        number=allowed,
    )


def unreachable(url: str, message: str, *, status: int = 0) -> Failure:
    """No usable answer; `status` is the last one that came."""
    return Failure(FailureKind.UNREACHABLE, clean_url(url), message, number=status)


def undecodable(url: str, host: str, message: str) -> Failure:
    """The body is not text in the encoding that it claims."""
    return Failure(
        FailureKind.UNDECODABLE, clean_url(url), f"the answer of {host} cannot be read: {message}"
    )
