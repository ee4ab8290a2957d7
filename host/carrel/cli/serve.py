"""`carrel serve`: the MCP server on stdio."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from carrel.errors import CarrelError

from .command import RECORD, REPLAY, command
from .session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from carrel.config import Config, ServerConfig
    from carrel.server import ServerSettings
    from carrel.tools import Toolbox


_log = logging.getLogger("carrel.config")

#: Namespace of a built-in plugin's tools → its name.
_BUILTIN: Final = {"arxiv": "arxiv", "crossref": "crossref", "pubmed": "eutils"}

#: Seconds after which a thread that wants Python's lock asks for it. A fetch passes from thread to
#: thread a dozen times, and each time may wait that long for a neighbour's computation.
SWITCH_SECONDS = 0.5e-3


@command("serve", example="serve --config carrel.toml", options=(RECORD, REPLAY))
def serve(session: Session) -> int:
    """Serve the tools to one MCP client over stdin and stdout.

    stdout carries protocol frames and nothing else; the log goes to stderr. The end of stdin ends
    the server. A changed configuration file or lock is taken over while it serves; so is it on
    SIGHUP. A client's configuration names this command: {"command": "carrel", "args":
    ["serve"]}.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    config = session.config()
    with _without_garbage():
        from carrel.server import serve_stdio

        renewal = ConfigRenewal(session, config)
        return serve_stdio(
            renewal.make,
            server_settings(config.server),
            renewal=renewal,
            may_offer=renewal.may_offer,
            expects=renewal.expects,
        )


@contextmanager
def _without_garbage() -> Iterator[None]:
    """No search for garbage until `_search_from_now_on`.

    Modules make none, and looking for it again and again while they are imported is a tenth of the
    time until the first answer.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _search_from_now_on() -> None:
    """Lets garbage be searched for, but not among what is there now.

    That stays as long as the process. Going through all of it, which happens now and then, would
    make every call wait for 20 to 50 ms.
    """
    gc.freeze()
    gc.enable()


class ConfigRenewal:
    """Makes the toolbox of a configuration, and the next one when its files change."""

    def __init__(self, session: Session, config: Config) -> None:
        self._session = session
        self._config = config
        self._wanted: Callable[[], None] = lambda: None

    def make(self) -> Toolbox:
        """The first toolbox."""
        # Imported here, in the server's own time: the first answer does not wait for it.
        from carrel.features import FEATURES
        from carrel.runtime.memory import own_process
        from carrel.tools import Toolbox

        own_process()
        try:
            # The file may have changed since: whoever watches it knows it from a moment ago.
            self._config = self._session.config()
        except CarrelError as error:
            _log.warning("the configuration has changed since the start: %s", error)
        try:
            toolbox = Toolbox(self._config, features=FEATURES, on_pulled=self._pulled)
        finally:
            _search_from_now_on()
        toolbox.precompile()
        return toolbox

    def may_offer(self) -> bool:
        """Whether a plugin may be a module, which may have prompts or completion."""
        from carrel.plugins.extism.sniff import may_be_module

        return any(one.enabled and may_be_module(one.url) for one in self._config.plugins)

    def expects(self, tool: str) -> bool:
        """Whether a tool of a built-in plugin, or of the host's own, is going to be offered."""
        namespace, _, own = tool.partition("_")
        if namespace == "work":
            return any(self.expects(f"{one}_lookup") for one in _BUILTIN)
        plugin = self._config.plugin(_BUILTIN.get(namespace, ""))
        if plugin is None or not plugin.enabled or not plugin.is_builtin:
            return False
        return plugin.grant_of_tool(own) is None

    def files(self) -> Sequence[Path]:
        """The configuration file, or those that would be read if they were there; and the lock."""
        import os

        from carrel.config import possible_files

        path = self._config.source_path
        found = [path] if path is not None else possible_files(os.environ)
        return [*found, self._config.lock_path]

    def renew(self, toolbox: Toolbox) -> Toolbox:
        """The toolbox of the configuration as it is now.

        Raises:
            CarrelError: it cannot be used.
        """
        config = self._session.config()
        renewed = toolbox.successor(config)
        renewed.precompile()  # of no effect where the cache folder is the same
        self._config = config
        return renewed

    def listen(self, wanted: Callable[[], None]) -> None:
        """Has `wanted` called when a plugin has come from its registry."""
        self._wanted = wanted

    def _pulled(self) -> None:
        self._wanted()


def server_settings(config: ServerConfig) -> ServerSettings:
    """The server's settings; the configuration has them under the same names."""
    from dataclasses import asdict

    from carrel.server import ServerSettings

    return ServerSettings(**asdict(config))
