"""A changed configuration takes over while the server serves.

The new toolbox is loaded beside the old one and takes its place at once; calls that run finish on
the old one, which is closed after the last. When the new one cannot be made, the old one goes on
and the log says why.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from carrel.awaiting import run_in_thread
from carrel.errors import CarrelError

from .toolbox_loader import ToolboxLoader
from .watch import Watcher

if TYPE_CHECKING:
    from carrel.tools import Toolbox

    from .app import App

logger = logging.getLogger(__name__)


class Renewal(Protocol):
    """Where a server's next toolbox comes from when the configuration changes."""

    def files(self) -> Sequence[Path]:
        """The files whose content is watched; none of them need exist."""

    def renew(self, toolbox: Toolbox) -> Toolbox:
        """A toolbox of the configuration as it is now, to take the place of `toolbox`.

        Raises:
            CarrelError: the configuration cannot be used.
        """

    def listen(self, wanted: Callable[[], None]) -> None:
        """Has `wanted` called, from any thread, when a renewal would bring something new."""


class Reloader:
    """Renews the toolbox when it is asked to, one time after the other.

    Args:
        loader: has the toolbox that serves.
        app: tells clients what changed.
        renewal: makes the new toolbox, and names the files to watch. What they hold when this is
            made counts as known, so it is made before they are read.
    """

    def __init__(self, loader: ToolboxLoader, app: App, renewal: Renewal) -> None:
        self._loader = loader
        self._app = app
        self._renewal = renewal
        self._watcher = Watcher(renewal.files, self.ask)
        self._loop = asyncio.get_running_loop()
        self._wanted = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._last: dict[str, Any] | None = None
        renewal.listen(self.ask)

    def start(self) -> None:
        """Begins to watch; the server calls it when its first answer is out."""
        if self._running is None:
            self._running = self._loop.create_task(self._run())
            self._watcher.start()

    def ask(self) -> None:
        """Asks for a renewal, from any thread."""
        try:
            self._loop.call_soon_threadsafe(self._wanted.set)
        except RuntimeError:
            pass  # the server has ended

    def stop(self) -> None:
        """Ends the watch; a renewal that runs is left alone."""
        self._watcher.stop()
        if self._running is not None:
            self._running.cancel()

    def report(self) -> dict[str, Any] | None:
        """How the last renewal went, as JSON; None when there was none."""
        return self._last

    async def _run(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            await self._renew()

    async def _renew(self) -> None:
        try:
            old = await self._loader.get()
            new, changed = await run_in_thread(_make, self._renewal.renew, old)
        except CarrelError as error:
            logger.error(  # noqa: TRY400 -- the message says it all
                "the changed configuration is not taken over, what was loaded goes on: %s", error
            )
            self._note({"ok": False, "error": error.to_dict()})
            return
        except Exception:
            logger.exception("the changed configuration is not taken over")
            self._note({"ok": False})
            return
        self._loader.replace(new)
        self._note({"ok": True, "changed": sorted(changed)})
        logger.warning("the changed configuration is taken over: %s", _words(changed))
        for what in sorted(changed):
            await self._app.notify_changed(what)

    def _note(self, outcome: dict[str, Any]) -> None:
        self._last = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **outcome}


def _make(renew: Callable[[Toolbox], Toolbox], old: Toolbox) -> tuple[Toolbox, set[str]]:
    """The new toolbox, everything listed once, and which lists differ."""
    new = renew(old)
    try:
        before, after = _offered(old), _offered(new)
    except BaseException:
        new.close()
        raise
    return new, {what for what in after if before[what] != after[what]}


def _offered(toolbox: Toolbox) -> dict[str, list[Any]]:
    return {
        "tools": list(toolbox.tools()),
        "resources": [*toolbox.resources(), *toolbox.offers.templates()],
        "prompts": list(toolbox.offers.prompts()),
    }


def _words(changed: set[str]) -> str:
    return f"the lists of {', '.join(sorted(changed))} changed" if changed else "no list changed"
