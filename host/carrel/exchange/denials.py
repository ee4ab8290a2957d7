"""Reports refused requests to the process's observer."""

from __future__ import annotations

from collections.abc import Iterable

from carrel import telemetry

from .call import Call
from .request import Failure, FailureKind, Outcome


def report_denials(call: Call, outcomes: Iterable[Outcome]) -> None:
    """Reports each request of a call that policy refused."""
    observer = telemetry.observer()
    if observer is None:
        return
    for outcome in outcomes:
        if isinstance(outcome, Failure) and outcome.kind is FailureKind.DENIED:
            observer.denied(
                telemetry.Denial(call.plugin, call.tool, outcome.url, outcome.reason, outcome.grant)
            )
