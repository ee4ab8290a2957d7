"""Implements `carrel serve`: the MCP server on stdio or HTTP."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from carrel.errors import CarrelError, ConfigError
from carrel.text.printable import printable_lines

from .command import AS_JSON, LIBRARY, RECORD, REPLAY, command
from .session import Session
from .surface import with_surface

if TYPE_CHECKING:
    from pathlib import Path

    from carrel.config import Config
    from carrel.errors import StateError
    from carrel.server.http import Address
    from carrel.server.identity.opening import TokenIdentity
    from carrel.tools import Toolbox


_log = logging.getLogger("carrel.config")

#: Namespace of a built-in plugin's tools → its name.
_BUILTIN: Final = {
    "arxiv": "arxiv",
    "crossref": "crossref",
    "pubmed": "eutils",
    "openalex": "openalex",
    "semanticscholar": "semanticscholar",
    "europepmc": "europepmc",
    "datacite": "datacite",
    "doaj": "doaj",
}

#: The tools for papers that need no plugin, behind their namespace.
_OF_THE_STORE: Final = frozenset(
    {"info", "search_local", "list_recent", "pdf_path", "export", "read"}
)

#: The GIL's switch interval in seconds. A fetch switches threads about a dozen times, and each
#: switch may wait that long for another thread's computation.
SWITCH_SECONDS = 0.5e-3


@command("serve", example="serve --config carrel.toml", options=(LIBRARY, RECORD, REPLAY, AS_JSON))
@click.option(
    "--surface",
    metavar="NAME",
    help="Offer the tools of another server in place of Carrel's own.",
)
@click.option(
    "--http",
    metavar="HOST:PORT",
    help="Serve many clients over streamable HTTP at http://HOST:PORT/mcp; addresses other than "
    "loopback need identity.",
)
@click.option(
    "--check",
    "is_check",
    is_flag=True,
    help="Report every fault of the configuration, and exit: 0 without faults, else 1.",
)
def serve(
    session: Session, surface: str | None, http: str | None, is_check: bool, as_json: bool
) -> int:
    """Serve the tools to one MCP client over stdin and stdout, or to many over HTTP.

    stdout carries only protocol frames; the log goes to stderr. The end of stdin ends the server,
    or SIGTERM. A changed configuration file or lock is reloaded automatically, and on SIGHUP. A
    client's configuration names this command: {"command": "carrel", "args": ["serve"]}.
    """
    if is_check:
        return _report_check(session, surface, http, as_json=as_json)
    from .serve_check import find_start_faults

    sys.setswitchinterval(SWITCH_SECONDS)
    start = find_start_faults(session, surface, http)
    config = start.require()
    with _without_garbage():
        if start.address is not None:
            return _serve_http(session, config, start.address, start.identity)
        from carrel.server import serve_stdio

        renewal = ConfigRenewal(session, config)
        return serve_stdio(
            renewal.make,
            config.server,
            renewal=renewal,
            may_offer=renewal.may_offer,
            watches=renewal.watches,
            expects=renewal.expects,
        )


def _report_check(session: Session, surface: str | None, http: str | None, *, as_json: bool) -> int:
    """Writes the faults and warnings of `serve_check.check`, as lines or as JSON."""
    import os

    from .output import stdout_is_terminal, write_json, write_text
    from .progress import Progress
    from .report import FAILED, OK
    from .serve_check import check

    with Progress("checking"):
        report = check(session, surface, http, env=os.environ)
    if as_json or not stdout_is_terminal():
        write_json(report)
    else:
        lines = [f"configuration: {report['configuration'] or 'none, the defaults apply'}"]
        lines += [f"fault: {fault}" for fault in report["faults"]]
        lines += [f"warning: {warning}" for warning in report["warnings"]]
        lines.append("The server can start." if report["ok"] else _counted(report["faults"]))
        write_text(printable_lines("\n".join(lines)) + "\n")
    return OK if report["ok"] else FAILED


def _counted(faults: Sequence[str]) -> str:
    return "1 fault" if len(faults) == 1 else f"{len(faults)} faults"


def _serve_http(
    session: Session, config: Config, address: Address, identity: TokenIdentity | None
) -> int:
    from carrel.server import serve_http

    renewal = ConfigRenewal(session, config, fixed=("server", "http", "identity"))
    return serve_http(
        renewal.make,
        address,
        config.server,
        config.http,
        identity=identity,
        renewal=renewal,
        may_offer=renewal.may_offer,
        watches=renewal.watches,
        expects=renewal.expects,
        store_health=renewal.store_health,
    )


@contextmanager
def _without_garbage() -> Iterator[None]:
    """Disables garbage collection until `_search_from_now_on`.

    Imports create no garbage, and collections during imports take a tenth of the time to the first
    response.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _search_from_now_on() -> None:
    """Enables garbage collection, but freezes the existing objects.

    They live as long as the process. A full collection of them would delay calls by 20 to 50 ms.
    """
    gc.freeze()
    gc.enable()


class ConfigRenewal:
    """Creates the toolbox of a configuration, and a new one when its files change.

    Args:
        session: reads the files.
        config: that the server was started with.
        fixed: its sections that a reload does not change; a warning names those that differ.
    """

    def __init__(
        self, session: Session, config: Config, *, fixed: Sequence[str] = ("server",)
    ) -> None:
        self._session = session
        self._config = config
        self._fixed = {name: getattr(config, name) for name in fixed}
        #: Fixed at the start: a client reads the capabilities once.
        self._surface = config.server.surface
        self._wanted: Callable[[], None] = lambda: None

    def make(self) -> Toolbox:
        """The first toolbox."""
        # Imported here, in the server's own time: the first answer does not wait for it.
        from carrel.features import FEATURES
        from carrel.runtime.memory import own_process
        from carrel.surfaces import open_toolbox

        own_process()
        try:
            # The file may have changed since the start; the watcher compares with its older
            # content.
            self._config = self._loaded()
        except CarrelError as error:
            _log.warning("the configuration has changed since the start: %s", error)
        try:
            toolbox = open_toolbox(self._config, features=FEATURES, on_pulled=self._pulled)
        finally:
            _search_from_now_on()
        toolbox.precompile()
        return toolbox

    def may_offer(self) -> bool:
        """Returns whether a plugin may be a module, which may have prompts or completion."""
        from carrel.plugins.extism.sniff import may_be_module

        if self._surface is not None and not self._lists_plugins():
            return False
        return any(plugin.enabled and may_be_module(plugin.url) for plugin in self._config.plugins)

    def watches(self) -> bool:
        """Returns whether a library is offered, whose resources clients may subscribe to."""
        if self._config.library.file is None:
            return False
        if self._surface is None:
            return True
        from carrel.surfaces import find_surface

        return "library" in find_surface(self._surface).resources_of

    def _lists_plugins(self) -> bool:
        """Returns whether the surface lists what plugins offer."""
        from carrel.surfaces import find_surface

        return self._surface is not None and find_surface(self._surface).plugin_names is not None

    def expects(self, tool: str) -> bool:
        """Returns whether a tool of a built-in plugin, or a host tool, will be offered."""
        if self._surface is not None:
            return False  # it has other names
        namespace, _, own = tool.partition("_")
        if namespace == "document":
            return bool(self._config.documents.folders)
        if namespace == "library":
            return self._config.library.file is not None
        looks_up = namespace in {"paper", "work"}
        if looks_up and any(self.expects(f"{builtin}_lookup") for builtin in _BUILTIN):
            return True
        if namespace == "paper":
            return own in _OF_THE_STORE and self._config.papers.folder is not None
        plugin = self._config.plugin(_BUILTIN.get(namespace, ""))
        if plugin is None or not plugin.enabled or not plugin.is_builtin:
            return False
        return plugin.grant_of_tool(own) is None

    def store_health(self) -> StateError | None:
        """Returns why the present configuration's store cannot be used; None when it can."""
        from carrel.state import store_health

        return store_health(self._config)

    def files(self) -> Sequence[Path]:
        """Returns the configuration file, or the default paths if there is none, and the lock."""
        import os

        from carrel.config import possible_files

        path = self._config.source_path
        found = [path] if path is not None else possible_files(os.environ)
        return [*found, self._config.lock_path]

    def renew(self, toolbox: Toolbox) -> Toolbox:
        """Creates a toolbox of the current configuration.

        Raises:
            CarrelError: the configuration is invalid, or its file is empty: a full disk leaves such
                a file, which would mean the defaults.
        """
        path = self._config.source_path
        if path is not None and path.is_file() and not path.stat().st_size:
            raise ConfigError(["the file is empty"], path=str(path))
        config = self._loaded()
        renewed = toolbox.successor(config)
        renewed.precompile()  # of no effect where the cache folder is the same
        self._config = config
        differ = [name for name, used in self._fixed.items() if getattr(config, name) != used]
        if differ:
            _log.warning("changed settings of %s need a restart", ", ".join(differ))
        return renewed

    def _loaded(self) -> Config:
        """Returns the current configuration with the surface of the start."""
        return with_surface(self._session.config(), self._surface)

    def listen(self, wanted: Callable[[], None]) -> None:
        """Calls `wanted` when a plugin was pulled from its registry."""
        self._wanted = wanted

    def _pulled(self) -> None:
        self._wanted()
