"""What `runtime` and `fetch` share: a request and its outcome, the call it belongs to, `Fetcher`.

`runtime` receives a `Fetcher` and never imports `fetch`; `fetch` never imports `runtime`.
"""

from __future__ import annotations

from .call import CacheHit, Call, ProgressHandler
from .fetcher import (
    AnswerDiscarder,
    AnswerSettler,
    CacheHitChecker,
    Fetcher,
    QueueReporter,
    Verdict,
)
from .limits import Limits
from .request import Failure, FailureKind, Headers, Method, Outcome, Request, Response

__all__ = [
    "AnswerDiscarder",
    "AnswerSettler",
    "CacheHit",
    "CacheHitChecker",
    "Call",
    "Failure",
    "FailureKind",
    "Fetcher",
    "Headers",
    "Limits",
    "Method",
    "Outcome",
    "ProgressHandler",
    "QueueReporter",
    "Request",
    "Response",
    "Verdict",
]
