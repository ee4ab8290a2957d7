"""The toolbox, made when it is needed and not before: `initialize` never waits for it."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from .toolbox import Toolbox

T = TypeVar("T")

logger = logging.getLogger(__name__)


def run_in_thread(function: Callable[..., T], *args: Any) -> asyncio.Future[T]:
    """Runs `function` in a daemon thread of its own and returns a future of what it gives.

    Not the loop's executor: its threads are joined at exit, so one that hangs would keep the
    process alive.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: T | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # T where there is no error

    def work() -> None:
        outcome: tuple[T | None, Exception | None]
        try:
            outcome = context.run(function, *args), None
        except Exception as error:  # noqa: BLE001  # it is handed to the waiting task
            outcome = None, error
        except BaseException as error:  # noqa: BLE001  # an exit of one thread is not the loop's
            outcome = None, RuntimeError(f"the thread ended with {error!r}")
        try:
            loop.call_soon_threadsafe(settle, *outcome)
        except RuntimeError:
            pass  # the loop has ended; nobody waits any more

    threading.Thread(target=work, name="carrel-server", daemon=True).start()
    return future


class ToolboxLoader:
    """Makes the toolbox once, in a thread, for whoever asks first; another may take its place."""

    def __init__(
        self, make: Callable[[], Toolbox], *, may_offer: Callable[[], bool] = lambda: False
    ) -> None:
        """A loader that has not begun.

        Args:
            make: gives the toolbox.
            may_offer: whether it can have prompts or completion; cheap.
        """
        self._make = make
        self.may_offer = may_offer
        self._toolbox: Toolbox | None = None
        self._making: asyncio.Future[Toolbox] | None = None
        self._leases: Counter[int] = Counter()  # by identity: a toolbox is no value
        self._retired: dict[int, Toolbox] = {}

    @property
    def loaded(self) -> Toolbox | None:
        """The toolbox, if there is one yet."""
        return self._toolbox

    def start(self) -> asyncio.Future[Toolbox]:
        """Begins to make the toolbox unless that has begun; a failure is forgotten at the next."""
        making = self._making
        if making is None or (making.done() and making.exception() is not None):
            making = self._making = run_in_thread(self._made)
            making.add_done_callback(self._keep)
        return making

    def _made(self) -> Toolbox:
        toolbox = self._make()
        toolbox.tools()  # the first listing may have to load plugins: better here than on the loop
        return toolbox

    def _keep(self, making: asyncio.Future[Toolbox]) -> None:
        # Reading the exception also marks it as seen: a failure that nobody waited for comes up
        # again, and is told, when a request needs the toolbox.
        if making.exception() is None and self._toolbox is None:
            self._toolbox = making.result()

    async def get(self) -> Toolbox:
        """The toolbox, made if need be.

        Raises:
            Exception: whatever `make` raised.
        """
        if self._toolbox is not None:
            return self._toolbox
        return await asyncio.shield(self.start())

    @contextmanager
    def lease(self) -> Iterator[None]:
        """Keeps the toolbox that is loaded now open, whatever takes its place meanwhile."""
        key = id(self._toolbox)
        self._leases[key] += 1
        try:
            yield
        finally:
            self._leases[key] -= 1
            self._close_unused(key)

    def replace(self, toolbox: Toolbox) -> None:
        """Puts another toolbox in place; the one before is closed when its last lease ends."""
        before = self._toolbox
        self._toolbox = toolbox
        if before is not None:
            self._retired[id(before)] = before
            self._close_unused(id(before))

    def retired(self) -> list[Toolbox]:
        """Toolboxes that were replaced and are not closed yet."""
        return list(self._retired.values())

    def _close_unused(self, key: int) -> None:
        if self._leases[key] > 0:
            return
        del self._leases[key]
        toolbox = self._retired.pop(key, None)
        if toolbox is not None:
            run_in_thread(toolbox.close).add_done_callback(_log_failure)


def _log_failure(closing: asyncio.Future[None]) -> None:
    if not closing.cancelled() and (error := closing.exception()) is not None:
        logger.error("a toolbox did not close", exc_info=error)
