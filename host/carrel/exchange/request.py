"""A request of a guest and its outcome: a response, or a failure as a value."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, NamedTuple

Method = Literal["GET", "HEAD", "POST"]
Headers = tuple[tuple[str, str], ...]


class Request(NamedTuple):
    """A guest's request to an upstream, before any check.

    Attributes:
        method: upper case.
        url: as the guest wrote it.
        headers: the guest's own, names in lower case.
        body: of a POST; empty otherwise.
        refresh: send the request even if the cache has a fresh response.
    """

    method: Method
    url: str
    headers: Headers = ()
    body: str = ""
    refresh: bool = False


class Response(NamedTuple):
    """An upstream's response, with any status.

    Attributes:
        url: the URL of the last hop, without anything the host attached.
        headers: names in lower case, without cookies and credentials.
        body: decompressed and decoded; empty for HEAD.
        size: bytes of the body after decompression.
        cached: whether it came from the cache.
    """

    status: int
    url: str
    headers: Headers
    body: str
    size: int = 0
    cached: bool = False


class FailureKind(StrEnum):
    """The cases of the contract's `fetch-error`, in the contract's spelling."""

    DENIED = "denied"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate-limited"
    TOO_LARGE = "too-large"
    UNREACHABLE = "unreachable"
    UNDECODABLE = "undecodable"

    @property
    def error_code(self) -> str:
        """The code of `contract/v1/errors.json` for a call that ends with this failure."""
        return _ERROR_CODES.get(self, self.name.lower())


#: Kinds of failure whose error code has another name.
_ERROR_CODES: Final = {
    FailureKind.UNREACHABLE: "upstream_unavailable",
    FailureKind.UNDECODABLE: "upstream_invalid",
}


class Failure(NamedTuple):
    """A request that failed: a value, because host functions never raise through wasm.

    Attributes:
        reason: for DENIED, one of the denial reasons in `contract/v1/errors.json`.
        grant: for DENIED, the configuration that would allow the request; empty when none can.
        seconds: for RATE_LIMITED, the wait that would help.
        number: milliseconds for TIMEOUT, cap in bytes for TOO_LARGE, last status for UNREACHABLE.
    """

    kind: FailureKind
    url: str
    message: str
    reason: str = ""
    grant: str = ""
    seconds: float = 0.0
    number: int = 0


Outcome = Response | Failure
