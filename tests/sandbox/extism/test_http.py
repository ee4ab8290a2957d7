"""Tests modules' requests: the fetcher's arguments, the responses, the errors."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from carrel.errors import ContractViolation, LimitExceeded, SourceError
from carrel.exchange import Call, Failure, FailureKind, Limits, Outcome, Request, Response
from support.guests import Guest
from support.modules import ECHO, module, text_at

from .conftest import Run


class Answers:
    """Returns the same response for every request, and records requests."""

    def __init__(self, outcome: Outcome | None = None) -> None:
        self.outcome = outcome
        self.requests: list[Request] = []

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        self.requests += requests
        return [
            self.outcome
            or Response(200, one.url, (("content-type", "a/b"), ("x", "1"), ("x", "2")), "höre")
            for one in requests
        ]


def asking(request: object, body: str = "", then: str = "") -> Guest:
    raw = request if isinstance(request, str) else json.dumps(request)
    size, length = len(raw.encode()), len(body.encode())
    sent = f"(call $put (i32.const {size}) (i32.const {length}))" if body else "(i64.const 0)"
    return module(
        f"(local.set $h (call $http_request (call $put (i32.const 0) (i32.const {size})) {sent}))"
        f"{then or '(call $say (local.get $h))'}",
        data=text_at(0, raw + body),
    )


def test_a_request_reaches_the_fetcher_and_its_answer_the_module(run: Run) -> None:
    fetcher = Answers()
    headers = {"Accept": "text/plain", "User-Agent": "mine", "Host": "elsewhere"}
    asked = {"url": "https://example.org/a?b", "headers": headers, "method": None}
    assert run(asking(asked), fetcher=fetcher) == "höre"
    assert fetcher.requests == [
        Request("GET", "https://example.org/a?b", (("accept", "text/plain"),))
    ]


def test_a_post_carries_its_body(run: Run) -> None:
    fetcher = Answers()
    run(asking({"url": "https://example.org/", "method": "post"}, body="körper"), fetcher=fetcher)
    assert (fetcher.requests[0].method, fetcher.requests[0].body) == ("POST", "körper")


def test_status_and_headers_are_those_of_the_last_answer(run: Run) -> None:
    asked = {"url": "https://example.org/"}
    status = asking(asked, then="(call $number (i64.extend_i32_u (call $http_status_code)))")
    assert int(run(status, fetcher=Answers(Response(404, "", (), "")))) == 404
    headers = asking(asked, then="(call $say (call $http_headers))")
    assert json.loads(run(headers, fetcher=Answers())) == {"content-type": "a/b", "x": "1, 2"}


def test_an_empty_body_is_the_handle_zero(run: Run) -> None:
    asked = asking({"url": "https://example.org/"}, then="(call $number (local.get $h))")
    assert int(run(asked, fetcher=Answers(Response(204, "", (), "")))) == 0


@pytest.mark.requirement("result:typed:module-fetch")
@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (Failure(FailureKind.DENIED, "u", "refused", "host_not_granted", "a grant"), "denied"),
        (Failure(FailureKind.TIMEOUT, "u", "late"), "timeout"),
        (Failure(FailureKind.RATE_LIMITED, "u", "busy", seconds=7.0), "rate_limited"),
        (Failure(FailureKind.TOO_LARGE, "u", "large"), "too_large"),
        (Failure(FailureKind.UNREACHABLE, "u", "down"), "upstream_unavailable"),
        (Failure(FailureKind.UNDECODABLE, "u", "bytes"), "upstream_invalid"),
    ],
)
def test_a_failed_request_of_a_module_ends_the_call_with_the_reason(
    run: Run, failure: Failure, code: str
) -> None:
    goes_on = asking({"url": "https://example.org/"}, then=ECHO)
    with pytest.raises(SourceError) as caught:
        run(goes_on, "went on", fetcher=Answers(failure))
    assert caught.value.error_code == code
    error = caught.value.to_dict()
    assert failure.message in error["message"]
    if code == "denied":
        assert error["denial_context"] == {
            "reason": "host_not_granted",
            "url": "u",
            "grant": "a grant",
        }
    if code == "rate_limited":
        assert error["retry_after_seconds"] == 7.0


@pytest.mark.requirement("sandbox:hosts:module-method")
@pytest.mark.parametrize(
    ("request_json", "body"),
    [
        ({"url": "https://example.org/", "method": "DELETE"}, ""),
        ({"url": "https://example.org/", "method": "CONNECT"}, ""),
        ({"url": "https://example.org/", "method": "GET"}, "body"),
    ],
)
def test_other_methods_are_refused_before_the_fetcher(
    run: Run, request_json: dict[str, str], body: str
) -> None:
    fetcher = Answers()
    with pytest.raises(SourceError) as caught:
        run(asking(request_json, body), fetcher=fetcher)
    assert caught.value.error_code == "denied"
    assert caught.value.to_dict()["denial_context"]["reason"] == "method_not_allowed"
    assert fetcher.requests == []


@pytest.mark.parametrize(
    "request_json",
    [
        "",
        "nonsense",
        "[]",
        "{}",
        '{"url": 3}',
        '{"url": "u", "headers": [1]}',
        '{"url": "u", "headers": {"a": 1}}',
        '{"url": "u", "method": 1}',
        "[" * 300,
    ],
)
def test_an_invalid_request_is_a_contract_violation(run: Run, request_json: str) -> None:
    with pytest.raises(ContractViolation, match="not an HTTP request"):
        run(asking(request_json), fetcher=Answers())


def test_a_body_larger_than_the_memory_is_a_memory_limit(run: Run) -> None:
    with pytest.raises(LimitExceeded) as caught:
        run(
            asking({"url": "https://example.org/"}),
            fetcher=Answers(Response(200, "", (), "x" * 6_000_000)),
            limits=Limits(memory_bytes=8 * 2**20),
        )
    assert caught.value.limit == "memory"
