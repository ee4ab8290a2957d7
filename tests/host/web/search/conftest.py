"""Providers that answer as a test says, in place of plugins."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from carrel.config import Config, WebConfig
from carrel.errors import CarrelError, SourceError
from carrel.exchange import Call
from carrel.web.search.search import WebSearcher

Answer = Mapping[str, Any] | CarrelError
#: What a provider that takes every argument declares.
TAKES_ALL = (
    "query", "count", "time_range", "safe", "language", "country", "sites", "exact_terms",
    "exclude_terms",
)  # fmt: skip


def result(url: str = "https://desks.example.org/", title: str = "A desk", **more: Any) -> Any:
    return {"title": title, "url": url, "snippet": "", **more}


def failure(code: str, action: str | None = None, **extra: Any) -> SourceError:
    return SourceError(code, f"it says {code}", plugin="x", tool="y", action=action, extra=extra)


UNAVAILABLE = failure("upstream_unavailable")
LIMITED = failure("rate_limited")
PAYMENT = failure("rate_limited", "ask_operator")
KEY = failure("upstream_error", "ask_operator")
BLOCKED = failure("upstream_error", "retry_later")
REFUSED = failure("upstream_error")


@dataclass
class FakeProvider:
    """A provider's plugin.

    Attributes:
        answer: what the tool returns or raises, by its arguments.
        takes: its arguments.
        remedy: what is missing, if anything.
        asked: the arguments of each call.
    """

    answer: Callable[[Mapping[str, Any]], Answer]
    takes: tuple[str, ...] = TAKES_ALL
    query: int = 500
    sites: int = 10
    remedy: str | None = None
    asked: list[Mapping[str, Any]] = field(default_factory=list)

    def schema(self) -> dict[str, Any]:
        members: dict[str, Any] = {name: {"type": "string"} for name in self.takes}
        members["query"] = {"maxLength": self.query}
        members["count"] = {"maximum": 20}
        if "sites" in members:
            members["sites"] = {"maxItems": self.sites}
        return {"type": "object", "properties": members}

    def new_call(self, tool: str, _progress: Any) -> Call:
        return Call("fake", tool)

    def start_call(self, _tool: str, arguments: Mapping[str, Any], _call: Call) -> Any:
        self.asked.append(arguments)

        def answered() -> Any:
            answer = self.answer(arguments)
            if isinstance(answer, CarrelError):
                raise answer
            return SimpleNamespace(data=answer)

        return SimpleNamespace(result=answered)


class Providers:
    """A set of providers, in place of the plugin set."""

    def __init__(self, **providers: FakeProvider) -> None:
        self.providers = providers

    def manifest(self, name: str) -> Any:
        spec = SimpleNamespace(input_schema=self.providers[name].schema())
        return SimpleNamespace(tool=lambda _tool: spec)

    def missing_requirement(self, name: str) -> str | None:
        return self.providers[name].remedy

    def plugin(self, name: str, on_compile: object = None) -> FakeProvider:
        del on_compile
        return self.providers[name]


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class World:
    """A searcher over fake providers, and its clock."""

    searcher: WebSearcher
    providers: dict[str, FakeProvider]
    clock: Clock

    def search(self, query: str = "walled desks", **arguments: Any) -> Any:
        return self.searcher.search(query, **arguments)

    def asked(self) -> dict[str, int]:
        return {name: len(one.asked) for name, one in self.providers.items()}


MakeWorld = Callable[..., World]


@pytest.fixture
def make_world(tmp_path: Path) -> MakeWorld:
    def make(lens_folder: Path | None = None, **providers: FakeProvider | Answer) -> World:
        made = {
            name: one if isinstance(one, FakeProvider) else _always(one)
            for name, one in providers.items()
        }
        web = WebConfig(search=tuple(made), lens_folder=lens_folder)
        config = Config(cache_dir=tmp_path, data_dir=tmp_path, web=web)
        clock = Clock()
        plugins: Any = Providers(**made)
        searcher = WebSearcher(plugins, config, clock=clock, jitter=lambda: 0.0)
        return World(searcher, made, clock)

    return make


def _always(answer: Answer) -> FakeProvider:
    return FakeProvider(lambda _arguments: answer)


def found(*urls: str, **more: Any) -> dict[str, Any]:
    """Returns what a provider's tool returns."""
    return {"results": [result(url) for url in urls or ("https://desks.example.org/",)], **more}


class Turns:
    """Answers in turn; the last one is repeated."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self._lock = threading.Lock()

    def __call__(self, _arguments: Mapping[str, Any]) -> Answer:
        with self._lock:
            return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
