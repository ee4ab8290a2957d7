"""Reloads the configuration while the server runs.

The new toolbox is loaded beside the old one and then replaces it. Running calls finish on the old
one, which is closed after the last of them. If the new one cannot be created, the old one stays in
use and the log gives the reason.
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
    """Creates the server's next toolbox when the configuration changes."""

    def files(self) -> Sequence[Path]:
        """Returns the files to watch; they need not exist."""

    def renew(self, toolbox: Toolbox) -> Toolbox:
        """Creates a toolbox of the current configuration, to replace `toolbox`.

        Raises:
            CarrelError: the configuration cannot be used.
        """

    def listen(self, callback: Callable[[], None]) -> None:
        """Calls `callback`, from any thread, when a renewal would change the toolbox."""


class Reloader:
    """Reloads the toolbox on request, one reload at a time.

    Args:
        loader: holds the current toolbox.
        app: notifies clients of changes.
        renewal: creates the new toolbox, and names the files to watch. Create this object before
            the files are read: their content at that moment counts as loaded.
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
        #: Called with the outcome of each reload.
        self.on_reload: Callable[[dict[str, Any]], object] = lambda _outcome: None
        #: Called in a thread with the old and the new toolbox, before the new one is used.
        self.on_renewed: Callable[[Toolbox, Toolbox], object] = lambda _old, _new: None
        renewal.listen(self.ask)

    def start(self) -> None:
        """Starts watching the files; called after the server's first response."""
        if self._running is None:
            self._running = self._loop.create_task(self._run())
            self._watcher.start()

    def ask(self) -> None:
        """Requests a reload. Thread-safe."""
        try:
            self._loop.call_soon_threadsafe(self._wanted.set)
        except RuntimeError:
            pass  # the server has ended

    def stop(self) -> None:
        """Stops watching; a running reload is not interrupted."""
        self._watcher.stop()
        if self._running is not None:
            self._running.cancel()

    def report(self) -> dict[str, Any] | None:
        """Returns the outcome of the last reload as JSON; None before the first."""
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
            await run_in_thread(self.on_renewed, old, new)
        except CarrelError as error:
            logger.error(  # noqa: TRY400 -- the message says it all
                "configuration not reloaded, the previous one stays in use: %s", error
            )
            self._note({"ok": False, "error": error.to_dict()})
            return
        except Exception:
            logger.exception("configuration not reloaded")
            self._note({"ok": False})
            return
        self._loader.replace(new)
        self._note({"ok": True, "changed": sorted(changed)})
        logger.warning("configuration reloaded: %s", _words(changed))
        for what in sorted(changed):
            await self._app.notify_changed(what)

    def _note(self, outcome: dict[str, Any]) -> None:
        self._last = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **outcome}
        self.on_reload(self._last)


def _make(renew: Callable[[Toolbox], Toolbox], old: Toolbox) -> tuple[Toolbox, set[str]]:
    """Creates the new toolbox, lists everything once, and returns it with the lists that differ."""
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
        "resources": [*toolbox.resources(), *toolbox.resource_templates()],
        "prompts": list(toolbox.prompts.listed()),
    }


def _words(changed: set[str]) -> str:
    return f"the lists of {', '.join(sorted(changed))} changed" if changed else "no list changed"
