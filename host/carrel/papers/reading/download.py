"""Gets a copy of a paper's text with the grants of the plugin that named it, never beyond them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from carrel.exchange import (
    Call,
    Failure,
    MemorySink,
    Outcome,
    Verdict,
)
from carrel.papers.resolve.full_texts import ROLE
from carrel.plugins.compiling.compile_news import COMPILING

if TYPE_CHECKING:
    from carrel.plugins.plugin import Plugin
    from carrel.plugins.plugin_set import PluginSet

    from .copies import PaperCopy

#: Forms that are text, which the fetch layer decodes and caches → the header `Accept`. A page
#: is cached only where one was asked for.
_TEXTS: Final = {"jats": "*/*", "html": "text/html"}
#: Statuses that say that there is no such copy.
_ABSENT: Final = frozenset({404, 410, 451})


class NoCopyError(Exception):
    """A copy cannot be had, or is not the text.

    Attributes:
        outcome: of the attempt.
        code: of `contract/v1/errors.json`.
    """

    def __init__(
        self, message: str, *, outcome: str = "consulted_failed", code: str = "upstream_invalid"
    ) -> None:
        self.outcome = outcome
        self.code = code
        super().__init__(message)


class Received(NamedTuple):
    """A copy that was received.

    Attributes:
        data: its bytes; of a text in UTF-8 with a byte order mark.
        url: where it was in the end, after redirects.
    """

    data: bytes
    url: str


@contextmanager
def received_copy(
    plugins: PluginSet, copy: PaperCopy, most: int, whole: Call
) -> Iterator[Received]:
    """Gets a copy; the block reads it.

    A text is cached for the plugin's other calls if the block accepts it, and not if the block
    raises `NoCopyError`.

    Args:
        plugins: with the one that named the copy.
        copy: with an address.
        most: bytes of the largest copy.
        whole: the call that this is a part of; half of the time that it has left is spent at most.

    Raises:
        NoCopyError: it cannot be had.
        CarrelError: the plugin cannot be loaded, or a budget is exhausted.
    """
    assert copy.url is not None, "a stored copy is not fetched"
    plugin = plugins.plugin(copy.source, partial(whole.explain, f"{copy.source}: {COMPILING}"))
    call = plugin.new_call(f"role:{ROLE}", whole.on_progress)
    call.deadline = min(call.deadline, time.monotonic() + whole.remaining / 2)
    call.refresh = whole.refresh
    verdict = Verdict.UNREADABLE
    forget = whole.on_cancel(call.cancel)
    try:
        if copy.form in _TEXTS:
            yield _text(plugin, copy.url, _TEXTS[copy.form], call)
        else:
            yield _bytes(plugin, copy.url, most, call)
        verdict = Verdict.READ
    except NoCopyError as error:
        if error.outcome == "consulted_no_record":
            verdict = Verdict.ABSENT
        raise
    finally:
        forget()
        plugin.settle(call, verdict)


def _text(plugin: Plugin, url: str, accept: str, call: Call) -> Received:
    outcome = plugin.fetch(url, call, accept=accept)
    _require_success(outcome, call)
    assert not isinstance(outcome, Failure), "failures were raised"
    # The mark says the charset, whatever the text declares: the fetch layer has decoded it.
    return Received(("\ufeff" + outcome.body).encode("utf-8", "replace"), outcome.url)


def _bytes(plugin: Plugin, url: str, most: int, call: Call) -> Received:
    sink = MemorySink(most)
    outcome = plugin.download(url, sink, call)
    if sink.refusal:
        raise NoCopyError(sink.refusal, code="too_large")
    _require_success(outcome, call)
    return Received(bytes(sink.data), outcome.url)


def _require_success(outcome: Outcome, call: Call) -> None:
    """Raises what became of a request that brought no copy."""
    call.check()
    if call.fatal is not None:
        raise call.fatal
    if isinstance(outcome, Failure):
        raise NoCopyError(outcome.message, code=outcome.kind.error_code)
    if outcome.status in _ABSENT:
        message = f"there is none (status {outcome.status})"
        raise NoCopyError(message, outcome="consulted_no_record", code="not_found")
    if not 200 <= outcome.status < 300:
        code = "upstream_invalid" if outcome.status < 500 else "upstream_unavailable"
        raise NoCopyError(f"answered with status {outcome.status}", code=code)
