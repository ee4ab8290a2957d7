"""Creates the toolbox when it is first needed, so that `initialize` does not wait for it.

With identity, each principal has a toolbox of its own, derived from that of the server: with its
own folders, and without the plugins and toolsets that it may not use.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from carrel.awaiting import run_in_thread
from carrel.errors import CarrelError
from carrel.principal import LOCAL, Principal, current_principal

if TYPE_CHECKING:
    from carrel.tools import Toolbox


logger = logging.getLogger(__name__)

#: Returns the toolbox of a principal; the server's stays open longer.
Derive = Callable[["Toolbox", Principal], "Toolbox"]

#: Toolboxes of principals that are kept open; the least recently used is closed.
_MAX_DERIVED: Final = 512


class ToolboxLoader:
    """Creates the toolbox once, in a thread, on first use; `replace` exchanges it.

    `loaded`, `get` and `lease` are about the toolbox of the current principal; that of the local
    user is the server's own.
    """

    def __init__(
        self,
        make: Callable[[], Toolbox],
        *,
        may_offer: Callable[[], bool] = lambda: False,
        watches: Callable[[], bool] = lambda: False,
        expects: Callable[[str], bool] = lambda _tool: False,
        derive: Derive | None = None,
    ) -> None:
        """Creates a loader; does not start it.

        Args:
            make: creates the toolbox.
            may_offer: whether it can have prompts or completion; cheap.
            watches: whether it can have resources of the host that change; cheap.
            expects: whether it will have a tool of that name; cheap, called before it exists.
            derive: creates the toolboxes of principals, in a thread; None without identity.
        """
        self._make = make
        self.may_offer = may_offer
        self.watches = watches
        self._expects = expects
        self._derive = derive
        #: Called on the event loop with each new toolbox, and its principal.
        self.on_loaded: Callable[[Toolbox, Principal], None] = lambda _toolbox, _principal: None
        #: Called in a thread with the first toolbox of the server, before it is used.
        self.on_made: Callable[[Toolbox], object] = lambda _toolbox: None
        self._toolbox: Toolbox | None = None
        self._making: asyncio.Future[Toolbox] | None = None
        self._failure: str | None = None
        self._leases: Counter[int] = Counter()  # by identity; toolboxes are not hashable
        self._retired: dict[int, Toolbox] = {}
        #: By principal without its scopes; least recently used first.
        self._derived: OrderedDict[Principal, Toolbox] = OrderedDict()
        self._deriving: dict[Principal, asyncio.Future[Toolbox]] = {}

    @property
    def is_shared_by_principals(self) -> bool:
        """Whether principals have toolboxes of their own."""
        return self._derive is not None

    @property
    def has_failed(self) -> bool:
        """Whether the last attempt to create the toolbox failed, and none runs."""
        return self._failure is not None and self._making is not None and self._making.done()

    @property
    def of_server(self) -> Toolbox | None:
        """The server's own toolbox, for any principal, or None before it is created."""
        return self._toolbox

    @property
    def loaded(self) -> Toolbox | None:
        """The toolbox, or None before it is created."""
        principal = current_principal()
        if principal is LOCAL:
            return self._toolbox
        key = _without_scopes(principal)
        found = self._derived.get(key)
        if found is not None:
            self._derived.move_to_end(key)
        return found

    def is_offered(self, tool: str) -> bool:
        """Returns whether a tool is offered, or will be according to the configuration."""
        toolbox = self.loaded
        if toolbox is None:
            return self._expects(tool)
        return any(listed.name == tool for listed in toolbox.tools())

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
        toolbox.prompts.listed()
        self.on_made(toolbox)
        return toolbox

    def _keep(self, making: asyncio.Future[Toolbox]) -> None:
        # Reading the exception marks it as retrieved; the next request that needs the toolbox tries
        # again and reports a failure. A load balancer sends no request to a server that is not
        # ready, so the log has it too.
        error = making.exception()
        if error is not None:
            before, self._failure = self._failure, str(error)
            if before != self._failure:
                logger.error(
                    "the tools cannot be loaded: %s; the next request or reload tries again",
                    error,
                    exc_info=None if isinstance(error, CarrelError) else error,
                )
            return
        self._failure = None
        if self._toolbox is None:
            self._toolbox = making.result()
            self.on_loaded(self._toolbox, LOCAL)

    async def get(self) -> Toolbox:
        """Returns the toolbox; creates it if necessary.

        Raises:
            Exception: raised by `make` or `derive`.
        """
        toolbox = self._toolbox
        if toolbox is None:
            toolbox = await asyncio.shield(self.start())
        principal = current_principal()
        if principal is LOCAL:
            return toolbox
        return await self._of_principal(_without_scopes(principal))

    async def _of_principal(self, principal: Principal) -> Toolbox:
        """Returns the toolbox of a principal; derives it if necessary."""
        while True:
            toolbox = self._derived.get(principal)
            if toolbox is not None:
                self._derived.move_to_end(principal)
                return toolbox
            await asyncio.shield(self._begin_deriving(principal))
            # Awaiting a future that is done does not let its callbacks run, which keep the toolbox.
            await asyncio.sleep(0)

    def _begin_deriving(self, principal: Principal) -> asyncio.Future[Toolbox]:
        running = self._deriving.get(principal)
        if running is None:
            server, derive = self._toolbox, self._derive
            assert server is not None, "made before"
            assert derive is not None, "there are principals with identity only"
            leases = self.lease_of(server)
            leases.__enter__()
            running = self._deriving[principal] = run_in_thread(_derived, derive, server, principal)

            def ended(running: asyncio.Future[Toolbox]) -> None:
                del self._deriving[principal]
                if not running.cancelled() and running.exception() is None:
                    self._keep_derived(principal, running.result(), server)
                leases.__exit__(None, None, None)

            running.add_done_callback(ended)
        return running

    def _keep_derived(self, principal: Principal, toolbox: Toolbox, server: Toolbox) -> None:
        if server is not self._toolbox:  # it was replaced meanwhile
            self._retire(toolbox)
            return
        self._derived[principal] = toolbox
        self.on_loaded(toolbox, principal)
        if len(self._derived) > _MAX_DERIVED:
            self._retire(self._derived.popitem(last=False)[1])

    def lease(self) -> AbstractContextManager[None]:
        """Keeps the current toolbox open during the block, even if it is replaced."""
        return self.lease_of(self._toolbox, self.loaded)

    @contextmanager
    def lease_of(self, *toolboxes: Toolbox | None) -> Iterator[None]:
        """Keeps toolboxes open during the block."""
        keys = {id(toolbox) for toolbox in toolboxes}
        self._leases.update(keys)
        try:
            yield
        finally:
            self._leases.subtract(keys)
            for key in keys:
                self._close_unused(key)

    def replace(self, toolbox: Toolbox) -> None:
        """Replaces the toolbox; the old one is closed when its last lease ends."""
        before = self._toolbox
        self._toolbox = toolbox
        self.on_loaded(toolbox, LOCAL)
        derived, self._derived = self._derived, OrderedDict()
        for principal, stale in derived.items():
            self._retire(stale)
            # Now and not with the next request, because clients wait for changes of its documents.
            self._begin_deriving(principal).add_done_callback(_log_failure)
        if before is not None:
            self._retire(before)

    def retired(self) -> list[Toolbox]:
        """Returns the toolboxes to close at the end besides the server's own: replaced ones that
        are not closed yet, and those of principals.
        """
        return [*self._retired.values(), *self._derived.values()]

    def _retire(self, toolbox: Toolbox) -> None:
        self._retired[id(toolbox)] = toolbox
        self._close_unused(id(toolbox))

    def _close_unused(self, key: int) -> None:
        if self._leases[key] > 0:
            return
        del self._leases[key]
        toolbox = self._retired.pop(key, None)
        if toolbox is not None:
            run_in_thread(toolbox.close).add_done_callback(_log_failure)


@lru_cache(4096)
def _without_scopes(principal: Principal) -> Principal:
    """Returns what decides which toolbox a principal has.

    Tokens with other scopes that grant the same share it. Otherwise one principal could have so
    many that those of others are closed.
    """
    return principal._replace(scopes=frozenset())


def _derived(derive: Derive, server: Toolbox, principal: Principal) -> Toolbox:
    toolbox = derive(server, principal)
    toolbox.tools()
    toolbox.resource_templates()
    toolbox.prompts.listed()
    return toolbox


def _log_failure(ending: asyncio.Future[Any]) -> None:
    if not ending.cancelled() and (error := ending.exception()) is not None:
        logger.error("a toolbox could not be opened or closed", exc_info=error)
