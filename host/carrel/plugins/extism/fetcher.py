"""The fetcher of a module, with denials in words that fit a module."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from carrel.exchange import AnswerSettler, Call, Failure, Fetcher, Outcome, Request, Verdict


class ModuleFetcher:
    """Names the grant where the policy would blame the manifest: a module declares no hosts."""

    def __init__(self, plugin: str, inner: Fetcher) -> None:
        self._plugin = plugin
        self._inner = inner

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        """Makes the requests; see `carrel.exchange.Fetcher`."""
        outcomes = [
            self._reworded(outcome) if isinstance(outcome, Failure) else outcome
            for outcome in self._inner.fetch_all(requests, call)
        ]
        if call.denial is not None:
            call.denial = self._reworded(call.denial)
        return outcomes

    def settle(self, call: Call, verdict: Verdict) -> None:
        """See `carrel.exchange.AnswerSettler`."""
        if isinstance(self._inner, AnswerSettler):
            self._inner.settle(call, verdict)

    def _reworded(self, outcome: Failure) -> Failure:
        if outcome.reason != "host_not_declared":
            return outcome
        host = urlsplit(outcome.url).hostname or ""
        grant = f'plugins.{self._plugin}.runtime_config.allowed_hosts += "{host}"'
        return outcome._replace(
            message=f"refused: {self._plugin} is not granted {host}; to allow it: {grant}",
            reason="host_not_granted",
            grant=grant,
        )
