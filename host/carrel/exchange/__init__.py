"""Shared by `runtime` and `fetch`: a request and its outcome, its call, and `Fetcher`.

`runtime` receives a `Fetcher` and never imports `fetch`; `fetch` never imports `runtime`.
"""

from __future__ import annotations

from .call import CacheHit, Call, ProgressHandler
from .denials import report_denials
from .download import (
    FILE_STATUSES,
    FileFetcher,
    FileHead,
    FileRefusedError,
    FileSink,
    MemorySink,
)
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
    "FILE_STATUSES",
    "AnswerDiscarder",
    "AnswerSettler",
    "CacheHit",
    "CacheHitChecker",
    "Call",
    "Failure",
    "FailureKind",
    "Fetcher",
    "FileFetcher",
    "FileHead",
    "FileRefusedError",
    "FileSink",
    "Headers",
    "Limits",
    "MemorySink",
    "Method",
    "Outcome",
    "ProgressHandler",
    "QueueReporter",
    "Request",
    "Response",
    "Verdict",
    "report_denials",
]
