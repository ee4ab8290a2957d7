"""Runs parts of one call side by side, a few at a time."""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Callable, Sequence
from queue import Empty, Queue
from typing import TYPE_CHECKING, TypeVar

from carrel.errors import CarrelError, DeadlineExceeded, InternalError
from carrel.plugins.concurrent_calls import require_patience

if TYPE_CHECKING:
    from carrel.exchange import Call

_log = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    items: Sequence[Item],
    work: Callable[[Item, Call], Result],
    call: Call,
    *,
    most: int,
    seconds: float | None = None,
) -> list[Result | CarrelError]:
    """Returns the result for each item, or why there is none, in the order of the items.

    What has not ended by the deadline is a `DeadlineExceeded`. The threads are daemons, so that a
    hang cannot keep the process alive.

    Args:
        items: what to work on.
        work: gets an item, and a part of the call.
        call: the whole.
        most: items at the same time.
        seconds: for one item; None for all that is left.

    Raises:
        Cancelled: the client gave up.
    """
    waiting: Queue[int] = Queue()
    for number in range(len(items)):
        waiting.put(number)
    ended: Queue[tuple[int, Result | CarrelError]] = Queue()

    def run() -> None:
        while True:
            try:
                number = waiting.get_nowait()
            except Empty:
                return
            ended.put((number, _outcome(items[number], work, call, seconds)))

    for _ in range(min(most, len(items))):
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(run,), daemon=True).start()
    found = _collected(len(items), ended, call)
    late = DeadlineExceeded(plugin=call.plugin, tool=call.tool, seconds=call.limits.wall_seconds)
    return [found.get(number, late) for number in range(len(items))]


def _outcome(
    item: Item, work: Callable[[Item, Call], Result], call: Call, seconds: float | None
) -> Result | CarrelError:
    try:
        with call.part(call.remaining if seconds is None else seconds, _silent) as part:
            part.check()
            return work(item, part)
    except CarrelError as error:
        return error
    except Exception:  # noqa: BLE001 - one item must not end the others
        _log.exception("a part of %s failed", call.tool)
        return InternalError()


def _collected(
    total: int, ended: Queue[tuple[int, Result | CarrelError]], call: Call
) -> dict[int, Result | CarrelError]:
    """Returns what has ended by the deadline, by number."""
    found: dict[int, Result | CarrelError] = {}
    while len(found) < total:
        require_patience(call)
        try:
            number, outcome = ended.get(timeout=max(0.05, min(0.5, call.remaining)))
        except Empty:
            if not call.remaining:
                break
            continue
        found[number] = outcome
        call.progress(len(found), total, f"{len(found)} of {total}")
    require_patience(call)
    return found


def _silent(_done: float, _total: float | None, _message: str) -> None:
    """Drops the progress of a part; the whole reports how many have ended."""
