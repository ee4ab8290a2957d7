"""Doubles of the web and of the store, for tests of research."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from carrel.errors import CarrelError, SourceError
from carrel.exchange import Call
from carrel.web.artifacts.sealed_store import SealedStore
from carrel.web.artifacts.sealing import Sealer
from carrel.web.research.pages import LinkState, PageText
from carrel.web.research.searching import FoundPage, FoundPages
from carrel.web.research.sessions import SessionStore
from carrel.web.research.sessions.store import IDLE_SECONDS

from .memory_state import MemoryStore


def memory_sessions(memory: MemoryStore | None = None) -> SessionStore:
    """Returns sessions in memory, whose clock is that of the store."""
    store, sealer = memory or MemoryStore(), Sealer(b"k" * 32)
    values = SealedStore(lambda: store, lambda: sealer, seconds=IDLE_SECONDS)
    return SessionStore(values, clock=lambda: 1_767_225_600.0 + store.now)


class FakeWeb:
    """Searches and reads pages that a test gives."""

    def __init__(self, pages: Mapping[str, str | CarrelError] | None = None) -> None:
        self.pages = dict(pages or {})
        self.searches: list[dict[str, Any]] = []
        self.reads: list[str] = []
        self.failure: CarrelError | None = None

    def providers(self) -> Sequence[str]:
        return ["brave", "searxng"]

    def search(
        self,
        query: str,
        call: Call,
        *,
        limit: int,
        provider: str | None = None,
        sites: Sequence[str] = (),
    ) -> FoundPages:
        del call
        if self.failure is not None:
            raise self.failure
        self.searches.append(
            {"query": query, "limit": limit, "provider": provider, "sites": tuple(sites)}
        )
        found = [FoundPage(url, f"About {url}", "A snippet.") for url in self.pages][:limit]
        hints = None if found else {"reason": "no_match"}
        return FoundPages(found, provider or "brave", hints, {"provider_used": "brave"})

    def read(self, url: str, call: Call) -> PageText:
        call.check()
        self.reads.append(url)
        text = self.pages.get(url)
        if text is None:
            raise SourceError("not_found", f"{url}: no such page", plugin="", tool="web_read")
        if isinstance(text, CarrelError):
            raise text
        return PageText(url, f"Title of {url}", text, "html", published="2026-01-01")

    def check(self, url: str, call: Call) -> LinkState:
        try:
            self.read(url, call)
        except CarrelError as error:
            live = False if error.error_code == "not_found" else None
            return LinkState(live, 404 if live is False else None, error.message)
        return LinkState(True, 200)
