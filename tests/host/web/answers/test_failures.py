"""Tests of the kinds of failures of the toolset `web`."""

from __future__ import annotations

import json

import pytest

from carrel.errors import (
    ArgumentError,
    BusyError,
    CarrelError,
    DeadlineExceeded,
    InternalError,
    LoadError,
    SourceError,
)
from carrel.papers.errors import PaperError
from carrel.web.answers import ACTIONS, KINDS, gravest, web_failure


def source(code: str, **extra: object) -> SourceError:
    return SourceError(code, "it failed", plugin="brave", tool="search", extra=extra)


CASES: list[tuple[str, CarrelError, str, str, bool]] = [
    ("arguments", ArgumentError(["query: too long"]), "validation", "broaden_query", False),
    ("absent", source("not_found"), "not_found", "inform_user", False),
    ("status 401", source("invalid_document", status=401), "auth_required", "check_api_key", False),
    ("status 403", source("invalid_document", status=403), "blocked", "report_bug", True),
    ("login", source("invalid_document", page="login"), "auth_required", "inform_user", False),
    ("challenge", source("invalid_document", page="challenge"), "blocked", "report_bug", True),
    ("empty", source("invalid_document", page="empty"), "content_empty", "report_bug", True),
    (
        "browser",
        source("invalid_document", page="empty", needs_browser=True),
        "browser_unavailable",
        "report_bug",
        False,
    ),
    ("429", source("rate_limited"), "rate_limited", "retry_after_delay", True),
    ("busy", BusyError(8), "rate_limited", "retry_after_delay", True),
    ("timeout", source("timeout"), "network", "retry_after_delay", True),
    (
        "late",
        DeadlineExceeded(plugin="p", tool="t", seconds=5),
        "network",
        "retry_after_delay",
        True,
    ),
    ("off", LoadError("p: gone", plugin="p"), "config", "try_different_provider", False),
    (
        "upstream",
        source("upstream_unavailable"),
        "upstream_unavailable",
        "try_different_provider",
        True,
    ),
    ("bug", InternalError(), "upstream_unavailable", "try_different_provider", True),
    ("paper", PaperError("RATE_LIMITED", "wait"), "rate_limited", "retry_after_delay", True),
]


@pytest.mark.parametrize(
    ("error", "kind", "action", "retryable"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
@pytest.mark.requirement("web-researcher:error-actions")
def test_a_failure_has_one_kind_and_what_to_do(
    error: CarrelError, kind: str, action: str, retryable: bool
) -> None:
    failure = web_failure(error)
    assert (failure.kind, failure.action, failure.retryable) == (kind, action, retryable)
    assert failure.kind in KINDS
    assert failure.action in ACTIONS


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("private_address", "validation"),
        ("malformed_url", "validation"),
        ("robots_disallowed", "blocked"),
        ("host_not_granted", "blocked"),
    ],
)
def test_an_address_that_no_policy_allows_is_an_argument_error(reason: str, kind: str) -> None:
    failure = web_failure(source("denied", denial_context={"reason": reason}))
    assert failure.kind == kind
    assert not failure.retryable


def test_the_text_is_a_line_an_empty_line_and_json() -> None:
    failure = web_failure(source("rate_limited", retry_after_seconds=12.4, alternatives=["exa"]))
    line, empty, body = failure.text().split("\n")
    assert line == "it failed"
    assert empty == ""
    assert json.loads(body) == {
        "error": {
            "kind": "rate_limited",
            "retryable": True,
            "retryAfterSeconds": 12,
            "suggestedAction": "retry_after_delay",
            "provider": "brave",
            "alternatives": ["exa"],
            "detail": "rate_limited",
            "recoveryHint": "try the same call again in 12.4 s",
        }
    }


def test_a_rate_limit_without_a_wait_advises_a_minute() -> None:
    assert web_failure(source("rate_limited")).retry_after == 60


def test_a_message_has_no_line_breaks_and_no_paths() -> None:
    error = SourceError("not_found", "gone\nfor good\u202e", plugin="p", tool="t")
    assert web_failure(error).message == "gone for good"


@pytest.mark.requirement("web-researcher:error-kinds")
def test_kinds_and_actions_are_those_of_the_document() -> None:
    assert set(KINDS) == {
        "rate_limited", "auth_required", "blocked", "validation", "network", "content_empty",
        "not_found", "browser_unavailable", "config", "upstream_unavailable", "session_not_found",
    }  # fmt: skip
    assert set(ACTIONS) == {
        "retry_after_delay", "try_different_provider", "check_api_key", "broaden_query",
        "inform_user", "report_bug",
    }  # fmt: skip
    assert {case[2] for case in CASES} | {"session_not_found"} == set(KINDS)


@pytest.mark.requirement("web-researcher:error-order")
def test_of_several_failures_the_gravest_kind_is_reported() -> None:
    order = ["validation", "not_found", "auth_required", "rate_limited", "blocked"]
    order += ["browser_unavailable", "content_empty"]
    assert list(KINDS[: len(order)]) == order
    failures = [
        web_failure(source("invalid_document", page="empty")),
        web_failure(source("rate_limited")),
        web_failure(source("upstream_unavailable")),
    ]
    failure = gravest(failures)
    assert failure is not None
    assert failure.kind == "rate_limited"
    assert gravest([]) is None
