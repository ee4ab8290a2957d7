"""Writes transcripts of calls: requests to the upstream, its responses, and the results.

session = Session(upstream, clock, open_toolbox)
session.upstream("/api/query", ("a page", Reply(body=b"<html>")))
session.call("arxiv_query", search_query="ti:oak")
assert session.text() == "…"
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from carrel.errors import CarrelError
from carrel.tools import Toolbox

from .upstream import Reply, Seen, SkippingClock, Upstream

WIDTH = 110
#: Items of a list of arguments that are written out; the rest is counted.
SHOWN = 8
#: Members of an error object that transcripts show, in this order.
_OF_ERROR = ("code", "action", "retryable", "retry_after_seconds", "message", "denial_context")


class LaterClock(SkippingClock):
    """A clock whose waits end immediately and advance only the wall clock."""

    def __init__(self) -> None:
        super().__init__()
        self.later = 0.0

    def wall(self) -> float:
        return super().wall() + self.later


class Session:
    """Makes calls and records requests, responses and results.

    Args:
        upstream: responds to all requests.
        clock: of the fetch layer.
        open_toolbox: opens a toolbox with the built-in plugins of the names given.
        hidden: text → its replacement, for folders of the test.
    """

    def __init__(
        self,
        upstream: Upstream,
        clock: LaterClock,
        open_toolbox: Callable[..., Toolbox],
        hidden: Mapping[str, str] | None = None,
    ) -> None:
        self.open_toolbox = open_toolbox
        self._upstream = upstream
        self._clock = clock
        self._hidden = dict(hidden or {})
        self._lines: list[str] = []
        self._requests: list[str] = []

    def upstream(self, path: str, *answers: tuple[str, Reply]) -> None:
        """Sets the responses for a path, each with a name; the last one is repeated."""
        left = list(answers)

        def answer(seen: Seen) -> Reply:
            label, reply = left.pop(0) if len(left) > 1 else left[0]
            where = f"{seen.host}{urlsplit(seen.path).path}"
            shown = f"{reply.status}, {label}" if label else str(reply.status)
            self._requests.append(f"  {seen.method} {where}: {shown}")
            return reply

        self._upstream.on(path, answer)

    def wait(self, seconds: float, words: str) -> None:
        """Advances the wall clock, by which cached responses expire."""
        self._clock.later += seconds
        self.say(f"({words})")

    def say(self, text: str) -> None:
        """Writes a line."""
        self._lines += ["", text]

    def call(
        self, toolbox: Toolbox, tool: str, /, show: Iterable[str] = (), **arguments: Any
    ) -> None:
        """Calls a tool and writes its outcome; of a result only the members that `show` names."""
        written = " ".join(f"{name}={_written(value)}" for name, value in arguments.items())
        self.say(wrapped(f"> {tool} {written}".strip(), "    "))
        self._requests.clear()
        try:
            result = toolbox.call_sync(tool, arguments).data
        except CarrelError as error:
            whole = {"error": None, **error.to_dict()}
            answer = {name: whole[name] for name in _OF_ERROR if name in whole}
        else:
            answer = {name: result[name] for name in show or result if name in result}
        # Concurrent requests arrive in any order.
        self._lines += sorted(self._requests) or ["  (no request)"]
        for name, value in answer.items():
            self._lines += self._shown(name, value)

    def text(self) -> str:
        """Returns the transcript, with a final line feed."""
        return "\n".join(self._lines).strip("\n") + "\n"

    def _shown(self, name: str, value: Any) -> list[str]:
        if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
            return [
                line for key, one in value.items() for line in self._shown(f"{name}.{key}", one)
            ]
        if isinstance(value, list) and value and isinstance(value[0], dict | str):
            items = (f"- {self._hide(_written(one))}" for one in value)
            return [f"{name}:", *(wrapped(item, "  ") for item in items)]
        if isinstance(value, str) and "\n" in value:
            lines = self._hide(value).rstrip().splitlines()
            return [f"{name}:", *(f"  {line}".rstrip() for line in lines)]
        return [wrapped(f"{name}: {self._hide(_written(value))}", "  ")]

    def _hide(self, text: str) -> str:
        for found, instead in self._hidden.items():
            text = text.replace(found, instead)
        return text


def _written(value: Any) -> str:
    if isinstance(value, list) and len(value) > SHOWN:
        first = json.dumps(value[:2], ensure_ascii=False)
        return f"{first[:-1]}, … {len(value)} in all]"
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def wrapped(text: str, indent: str = "") -> str:
    """Wraps a text, with later lines indented."""
    return "\n".join(
        textwrap.wrap(
            text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    )
