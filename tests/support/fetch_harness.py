"""Makes requests through the fetch layer as a plugin, in tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from carrel.exchange import (
    AnswerSettler,
    Call,
    Failure,
    Fetcher,
    Limits,
    Outcome,
    ProgressHandler,
    Request,
    Response,
    Verdict,
)
from carrel.fetch import FetchClient, HostRule, Policy, Secret

from .upstream import SkippingClock

ARXIV = "export.arxiv.org"
HOSTS = (ARXIV, "arxiv.org", "api.crossref.org", "eutils.ncbi.nlm.nih.gov")

EVERY_METHOD = frozenset({"GET", "HEAD", "POST"})
RULES = (
    HostRule(ARXIV, EVERY_METHOD),
    HostRule("api.crossref.org", EVERY_METHOD),
    HostRule("*.ncbi.nlm.nih.gov", EVERY_METHOD),
)


class FetchHarness:
    """A plugin's fetcher, with helpers."""

    def __init__(self, client: FetchClient, fetcher: Fetcher) -> None:
        self.client = client
        self.fetcher = fetcher

    @classmethod
    def of(
        cls, client: FetchClient, policy: Policy, secrets: Sequence[Secret] = ()
    ) -> FetchHarness:
        """Returns the harness of a plugin with this policy and these secrets."""
        return cls(client, client.for_plugin(policy, secrets))

    def call(
        self, seconds: float = 30.0, on_progress: ProgressHandler | None = None, **limits: Any
    ) -> Call:
        """Returns a call with this time left on the client's clock."""
        return Call(
            "arxiv",
            "query",
            limits=Limits(**{"wall_seconds": seconds, **limits}),
            deadline=self.client.clock.monotonic() + seconds,
            on_progress=on_progress,
        )

    def fetch(self, url: str, *, call: Call | None = None, **request: Any) -> Outcome:
        """Makes a request and returns its outcome; a URL that starts with a slash is arXiv's."""
        if url.startswith("/") and not url.startswith("//"):
            url = f"https://{ARXIV}{url}"
        asked = Request(**{"method": "GET", "url": url, **request})
        call = call or self.call()
        (outcome,) = self.fetcher.fetch_all([asked], call)
        if isinstance(self.fetcher, AnswerSettler):
            self.fetcher.settle(call, Verdict.READ)
        return outcome

    def answer(self, url: str, **request: Any) -> Response:
        """Makes a request that must succeed, and returns the response."""
        outcome = self.fetch(url, **request)
        assert isinstance(outcome, Response), outcome
        return outcome

    def failure(self, url: str, **request: Any) -> Failure:
        """Makes a request that must fail, and returns the failure."""
        outcome = self.fetch(url, **request)
        assert isinstance(outcome, Failure), outcome
        return outcome


class MakeHarness(Protocol):
    """Makes harnesses; `settings` are those of `FetchSettings`."""

    def __call__(
        self,
        *,
        rules: Sequence[HostRule] = RULES,
        granted: Sequence[str] | None = None,
        secrets: Sequence[Secret] = (),
        clock: SkippingClock | None = None,
        **settings: Any,
    ) -> FetchHarness: ...


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Waits until the condition is true; fails if it is not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.002)
