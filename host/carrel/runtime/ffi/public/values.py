"""Converts between the contract's values and wasmtime-py's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from wasmtime.component import Record, Variant

from carrel.exchange import Failure, FailureKind, Outcome, Request, Response
from carrel.runtime.ffi.bounds import (
    MAX_BODY_BYTES,
    MAX_HEADER_BYTES,
    MAX_HEADERS,
    MAX_URL_BYTES,
)

_METHODS: dict[str, Literal["GET", "HEAD", "POST"]] = {"get": "GET", "head": "HEAD", "post": "POST"}


def cut(text: str, most: int) -> str:
    """Returns a string's first `most` bytes, without a last character that is incomplete."""
    if 4 * len(text) <= most:
        return text
    encoded = text.encode()
    return text if len(encoded) <= most else encoded[:most].decode(errors="ignore")


def lowerable(text: str) -> str:
    """Returns the text with `?` for lone surrogates, which have no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def to_request(record: Any) -> Request:
    """Returns a guest's request, its strings cut at the lengths in `bounds`."""
    return Request(
        method=_METHODS[record.method],
        url=cut(record.url, MAX_URL_BYTES),
        headers=tuple(
            (cut(header.name, MAX_HEADER_BYTES).lower(), cut(header.value, MAX_HEADER_BYTES))
            for header in record.headers[:MAX_HEADERS]
        ),
        body=cut(record.body, MAX_BODY_BYTES),
        refresh=record.cache == "refresh",
    )


def from_outcome(outcome: Outcome) -> Variant:
    """Returns the contract's `result<response, fetch-failure>`."""
    if isinstance(outcome, Response):
        return Variant(
            "ok",
            _record(
                status=outcome.status,
                url=lowerable(outcome.url),
                headers=_headers(outcome.headers),
                body=lowerable(outcome.body),
            ),
        )
    return Variant(
        "err",
        _record(
            url=lowerable(outcome.url),
            error=_fetch_error(outcome),
            message=lowerable(outcome.message),
        ),
    )


def _headers(headers: Sequence[tuple[str, str]]) -> list[Record]:
    return [_record(name=lowerable(name), value=lowerable(value)) for name, value in headers]


def _fetch_error(failure: Failure) -> Variant:
    kind = failure.kind
    if kind is FailureKind.DENIED:
        payload = _record(reason=lowerable(failure.reason), grant=lowerable(failure.grant))
    elif kind is FailureKind.RATE_LIMITED:
        payload = _record(seconds=float(failure.seconds))
    else:
        payload = _record(number=max(0, int(failure.number)))
    return Variant(kind.value, payload)


def _record(**fields: object) -> Record:
    record = Record()
    for name, value in fields.items():
        setattr(record, name, value)
    return record
