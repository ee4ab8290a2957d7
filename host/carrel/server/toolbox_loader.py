"""The toolbox, made when it is needed and not before: `initialize` never waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from carrel.awaiting import run_in_thread

if TYPE_CHECKING:
    from carrel.tools import Toolbox


logger = logging.getLogger(__name__)


class ToolboxLoader:
    """Makes the toolbox once, in a thread, for whoever asks first; another may take its place."""

    def __init__(
        self,
        make: Callable[[], Toolbox],
        *,
        may_offer: Callable[[], bool] = lambda: False,
        expects: Callable[[str], bool] = lambda _tool: False,
    ) -> None:
        """A loader that has not begun.

        Args:
            make: gives the toolbox.
            may_offer: whether it can have prompts or completion; cheap.
            expects: whether it will have a tool of that name, before it is made; cheap.
        """
        self._make = make
        self.may_offer = may_offer
        self._expects = expects
        #: Is given each toolbox that comes into use, on the event loop.
        self.on_loaded: Callable[[Toolbox], None] = lambda _toolbox: None
        self._toolbox: Toolbox | None = None
        self._making: asyncio.Future[Toolbox] | None = None
        self._leases: Counter[int] = Counter()  # by identity: a toolbox is no value
        self._retired: dict[int, Toolbox] = {}

    @property
    def loaded(self) -> Toolbox | None:
        """The toolbox, if there is one yet."""
        return self._toolbox

    def is_offered(self, tool: str) -> bool:
        """Whether a tool is offered, or will be as far as the configuration tells."""
        if self._toolbox is None:
            return self._expects(tool)
        return any(one.name == tool for one in self._toolbox.tools())

    def start(self) -> asyncio.Future[Toolbox]:
        """Begins to make the toolbox unless that has begun; a failure is forgotten at the next."""
        making = self._making
        if making is None or (making.done() and making.exception() is not None):
            making = self._making = run_in_thread(self._made)
            making.add_done_callback(self._keep)
        return making

    def _made(self) -> Toolbox:
        toolbox = self._make()
        # The first listing may have to load plugins: here, and not on the event loop.
        toolbox.tools()
        toolbox.offers.templates()
        toolbox.offers.prompts()
        return toolbox

    def _keep(self, making: asyncio.Future[Toolbox]) -> None:
        # Reading the exception also marks it as seen: a failure that nobody waited for comes up
        # again, and is told, when a request needs the toolbox.
        if making.exception() is None and self._toolbox is None:
            self._toolbox = making.result()
            self.on_loaded(self._toolbox)

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
        self.on_loaded(toolbox)
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
