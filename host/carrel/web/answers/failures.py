"""Classifies failures by a closed list of kinds, each with what a client can do about it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from carrel.errors import ArgumentError, CarrelError, DeadlineExceeded, PluginError
from carrel.files.local_paths import without_paths
from carrel.text.printable import printable

Kind = Literal[
    "validation", "not_found", "auth_required", "rate_limited", "blocked", "browser_unavailable",
    "content_empty", "config", "session_not_found", "network", "upstream_unavailable",
]  # fmt: skip
#: The gravest first: when several providers fail, the first of these kinds is reported.
KINDS: Final[tuple[Kind, ...]] = (
    "validation", "not_found", "auth_required", "rate_limited", "blocked", "browser_unavailable",
    "content_empty", "config", "session_not_found", "network", "upstream_unavailable",
)  # fmt: skip
ACTIONS: Final = (
    "retry_after_delay", "try_different_provider", "check_api_key", "broaden_query", "inform_user",
    "report_bug",
)  # fmt: skip

#: kind → whether the same call may succeed later, and what to do.
_MEANINGS: Final[Mapping[Kind, tuple[bool, str]]] = {
    "validation": (False, "broaden_query"),
    "not_found": (False, "inform_user"),
    "auth_required": (False, "check_api_key"),
    "rate_limited": (True, "retry_after_delay"),
    "blocked": (True, "report_bug"),
    "browser_unavailable": (False, "report_bug"),
    "content_empty": (True, "report_bug"),
    "config": (False, "try_different_provider"),
    "session_not_found": (False, "inform_user"),
    "network": (True, "retry_after_delay"),
    "upstream_unavailable": (True, "try_different_provider"),
}
#: Code of `contract/v1/errors.json` → kind. A page's fault is separated from a provider's below.
_CODES: Final[Mapping[str, Kind]] = {
    "invalid_arguments": "validation",
    "not_found": "not_found",
    "invalid_document": "content_empty",
    "upstream_error": "upstream_unavailable",
    "upstream_invalid": "upstream_unavailable",
    "upstream_unavailable": "upstream_unavailable",
    "rate_limited": "rate_limited",
    "timeout": "network",
    "too_large": "validation",
    "denied": "blocked",
    "limit_exceeded": "content_empty",
    "cancelled": "network",
    "busy": "rate_limited",
    "plugin_unavailable": "config",
    "unknown_tool": "config",
    "config": "config",
}
#: What a site shows in place of a page → kind.
_PAGES: Final[Mapping[str, Kind]] = {
    "challenge": "blocked",
    "consent": "blocked",
    "login": "auth_required",
    "paywall": "auth_required",
    "not_found": "not_found",
    "empty": "content_empty",
}
#: HTTP status of a page that is not given → kind.
_STATUSES: Final[Mapping[int, Kind]] = {
    401: "auth_required",
    402: "auth_required",
    403: "blocked",
    404: "not_found",
    407: "auth_required",
    410: "not_found",
    429: "rate_limited",
    451: "blocked",
}
#: Denials that name an address nobody may ask for; the others are policy of a site or an operator.
_INVALID_ADDRESSES: Final = frozenset({
    "malformed_url", "insecure_scheme", "userinfo_in_url", "port_not_allowed", "ip_literal",
    "private_address", "local_name", "host_blocked",
})  # fmt: skip
#: Kinds of a page's failure after which only a person can help.
_FOR_PEOPLE: Final = frozenset({"login", "paywall"})


@dataclass(frozen=True, slots=True)
class WebFailure:
    """One failure.

    Attributes:
        kind: one of `KINDS`.
        message: what happened, in one line for a person.
        action: one of `ACTIONS`.
        retryable: whether the same call may succeed later.
        retry_after: seconds after which it may, when they are known.
        provider: that failed.
        alternatives: other providers that are ready.
        detail: more about it.
        hint: what to try next.
    """

    kind: Kind
    message: str
    action: str
    retryable: bool
    retry_after: int | None = None
    provider: str | None = None
    alternatives: Sequence[str] = field(default=())
    detail: str | None = None
    hint: str | None = None

    def members(self) -> dict[str, Any]:
        """Returns the members of the error object that are known."""
        members = {
            "kind": self.kind,
            "retryable": self.retryable,
            "retryAfterSeconds": self.retry_after,
            "suggestedAction": self.action,
            "provider": self.provider,
            "alternatives": list(self.alternatives) or None,
            "detail": self.detail,
            "recoveryHint": self.hint,
        }
        return {name: value for name, value in members.items() if value is not None}

    def text(self) -> str:
        """Returns the text of a failed result: a line of prose, an empty line, and JSON."""
        body = json.dumps({"error": self.members()}, ensure_ascii=False, separators=(",", ":"))
        return f"{self.message}\n\n{body}"


def web_failure(error: CarrelError) -> WebFailure:
    """Returns the kind of an error, and what can be done."""
    details = error.details()
    kind = _kind(error, details)
    retryable, action = _MEANINGS[kind]
    page = details.get("page")
    if page in _FOR_PEOPLE or _code(error) in {"denied", "storage"}:
        retryable, action = False, "inform_user"
    elif kind == "upstream_unavailable" and isinstance(error, PluginError):
        retryable, action = error.retryable, "report_bug"
    wait = details.get("retry_after_seconds", details.get("retry_after"))
    if wait is None and kind == "rate_limited":
        wait = 60
    message = printable(without_paths(error.message, error.paths), 2000)
    names = details.get("alternatives")
    return WebFailure(
        kind,
        message,
        action,
        retryable,
        retry_after=max(1, round(wait)) if isinstance(wait, (int, float)) and retryable else None,
        provider=error.plugin if error.plugin and error.plugin != "carrel" else None,
        alternatives=tuple(map(str, names)) if isinstance(names, (list, tuple)) else (),
        detail=_code(error),
        hint=printable(error.advice, 500) or None,
    )


def gravest(failures: Iterable[WebFailure]) -> WebFailure | None:
    """Returns the failure to report when several providers failed; None without failures."""
    return min(failures, key=lambda failure: KINDS.index(failure.kind), default=None)


def _kind(error: CarrelError, details: Mapping[str, Any]) -> Kind:
    for kind in KINDS:
        if details.get("kind") == kind:
            return kind
    if isinstance(error, ArgumentError):
        return "validation"
    if isinstance(error, DeadlineExceeded):
        return "network"
    return _kind_of_page(details) or _kind_of_code(_code(error), details)


def _kind_of_page(details: Mapping[str, Any]) -> Kind | None:
    """Returns the kind of what a site shows in place of a page; None for other failures."""
    if details.get("needs_browser"):
        return "browser_unavailable"
    page, status = details.get("page"), details.get("status")
    if isinstance(page, str) and page in _PAGES:
        return _PAGES[page]
    return _STATUSES.get(status) if isinstance(status, int) else None


def _kind_of_code(code: str, details: Mapping[str, Any]) -> Kind:
    if code == "denied":
        context = details.get("denial_context")
        reason = context.get("reason") if isinstance(context, dict) else None
        if reason in _INVALID_ADDRESSES:
            return "validation"
        if "secret" in details:
            return "auth_required"
    return _CODES.get(code, "upstream_unavailable")


def _code(error: CarrelError) -> str:
    return error.error_code
