"""Creates the toolbox when it is first needed, so that `initialize` does not wait for it."""

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
    """Creates the toolbox once, in a thread, on first use; `replace` exchanges it."""

    def __init__(
        self,
        make: Callable[[], Toolbox],
        *,
        may_offer: Callable[[], bool] = lambda: False,
        watches: Callable[[], bool] = lambda: False,
        expects: Callable[[str], bool] = lambda _tool: False,
    ) -> None:
        """Creates a loader; does not start it.

        Args:
            make: creates the toolbox.
            may_offer: whether it can have prompts or completion; cheap.
            watches: whether it can have resources of the host that change; cheap.
            expects: whether it will have a tool of that name; cheap, called before it exists.
        """
        self._make = make
        self.may_offer = may_offer
        self.watches = watches
        self._expects = expects
        #: Called on the event loop with each new toolbox.
        self.on_loaded: Callable[[Toolbox], None] = lambda _toolbox: None
        self._toolbox: Toolbox | None = None
        self._making: asyncio.Future[Toolbox] | None = None
        self._leases: Counter[int] = Counter()  # by identity; toolboxes are not hashable
        self._retired: dict[int, Toolbox] = {}

    @property
    def loaded(self) -> Toolbox | None:
        """The toolbox, or None before it is created."""
        return self._toolbox

    def is_offered(self, tool: str) -> bool:
        """Returns whether a tool is offered, or will be according to the configuration."""
        if self._toolbox is None:
            return self._expects(tool)
        return any(one.name == tool for one in self._toolbox.tools())

    def start(self) -> asyncio.Future[Toolbox]:
        """Starts creating the toolbox unless already started; retries after a failure."""
        making = self._making
        if making is None or (making.done() and making.exception() is not None):
            making = self._making = run_in_thread(self._made)
            making.add_done_callback(self._keep)
        return making

    def _made(self) -> Toolbox:
        toolbox = self._make()
        # The first listing may load plugins, so it runs here and not on the event loop.
        toolbox.tools()
        toolbox.resource_templates()
        toolbox.offers.prompts()
        return toolbox

    def _keep(self, making: asyncio.Future[Toolbox]) -> None:
        # Reading the exception marks it as retrieved; the next request that needs the toolbox tries
        # again and reports a failure.
        if making.exception() is None and self._toolbox is None:
            self._toolbox = making.result()
            self.on_loaded(self._toolbox)

    async def get(self) -> Toolbox:
        """Returns the toolbox; creates it if necessary.

        Raises:
            Exception: raised by `make`.
        """
        if self._toolbox is not None:
            return self._toolbox
        return await asyncio.shield(self.start())

    @contextmanager
    def lease(self) -> Iterator[None]:
        """Keeps the current toolbox open during the block, even if it is replaced."""
        key = id(self._toolbox)
        self._leases[key] += 1
        try:
            yield
        finally:
            self._leases[key] -= 1
            self._close_unused(key)

    def replace(self, toolbox: Toolbox) -> None:
        """Replaces the toolbox; the old one is closed when its last lease ends."""
        before = self._toolbox
        self._toolbox = toolbox
        self.on_loaded(toolbox)
        if before is not None:
            self._retired[id(before)] = before
            self._close_unused(id(before))

    def retired(self) -> list[Toolbox]:
        """The number of replaced toolboxes that are not closed yet."""
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
        logger.error("closing a toolbox failed", exc_info=error)
