"""A plugin's place at the fetch layer, for tests: short ways to ask, and what was asked of whom."""

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
    """A plugin's place: its fetcher, with short ways to use it."""

    def __init__(self, client: FetchClient, fetcher: Fetcher) -> None:
        self.client = client
        self.fetcher = fetcher

    @classmethod
    def of(
        cls, client: FetchClient, policy: Policy, secrets: Sequence[Secret] = ()
    ) -> FetchHarness:
        """Returns the place of a plugin with this policy and these secrets."""
        return cls(client, client.for_plugin(policy, secrets))

    def call(
        self, seconds: float = 30.0, on_progress: ProgressHandler | None = None, **limits: Any
    ) -> Call:
        """Returns a call with so much time left on the client's clock."""
        return Call(
            "arxiv",
            "query",
            limits=Limits(**{"wall_seconds": seconds, **limits}),
            deadline=self.client.clock.monotonic() + seconds,
            on_progress=on_progress,
        )

    def fetch(self, url: str, *, call: Call | None = None, **request: Any) -> Outcome:
        """Returns one request; a URL that starts with a slash is arXiv's."""
        if url.startswith("/") and not url.startswith("//"):
            url = f"https://{ARXIV}{url}"
        asked = Request(**{"method": "GET", "url": url, **request})
        call = call or self.call()
        (outcome,) = self.fetcher.fetch_all([asked], call)
        if isinstance(self.fetcher, AnswerSettler):
            self.fetcher.settle(call, Verdict.READ)
        return outcome

    def answer(self, url: str, **request: Any) -> Response:
        """Returns one request that must be answered."""
        outcome = self.fetch(url, **request)
        assert isinstance(outcome, Response), outcome
        return outcome

    def failure(self, url: str, **request: Any) -> Failure:
        """Returns one request that must fail."""
        outcome = self.fetch(url, **request)
        assert isinstance(outcome, Failure), outcome
        return outcome


class MakeHarness(Protocol):
    """Makes desks; `settings` are those of `FetchSettings`."""

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
    """Returns as soon as the condition holds; fails when it does not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.002)
