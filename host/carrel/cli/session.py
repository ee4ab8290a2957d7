"""Holds a command's options, its configuration and its host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from carrel.errors import ArgumentError

if TYPE_CHECKING:
    from carrel.citations import CitationEngine
    from carrel.config import Config, Examined
    from carrel.documents import ReadDocument
    from carrel.exchange import ProgressHandler
    from carrel.plugins.state import PluginState
    from carrel.text.utf8 import Utf8
    from carrel.tools import Result, Tool
    from carrel.tools.resources import Resource, Template


class Options(NamedTuple):
    """The options that all commands share.

    Attributes:
        config: the configuration file to read instead of the default one.
        library: the library to use in place of the configured one.
        record: the folder for recordings of exchanges.
        replay: the folder of recordings to replay.
        refresh: bypass the cache.
        debug: whether to show the log and tracebacks.
        json_errors: whether to write errors to stderr as one line of JSON.
    """

    config: Path | None = None
    library: Path | None = None
    record: Path | None = None
    replay: Path | None = None
    refresh: bool = False
    debug: bool = False
    json_errors: bool = False


class Host(Protocol):
    """The part of `carrel.api.Carrel` that commands use; tests pass a double."""

    def tools(self) -> Sequence[Tool]:
        """Returns the tools on offer."""
        ...

    def tool(self, name: str) -> Tool:
        """Returns the tool of that name."""
        ...

    def resources(self) -> Sequence[Resource]:
        """Returns the resources."""
        ...

    def resource_templates(self) -> Sequence[Template]:
        """Returns the resource templates."""
        ...

    def read_resource(self, uri: str) -> Result:
        """Reads a resource."""
        ...

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        on_progress: ProgressHandler | None = None,
    ) -> Result:
        """Calls a tool and returns its result."""
        ...

    def read(
        self,
        document: bytes,
        *,
        pages: str | None = None,
        plain: bool = False,
        on_progress: ProgressHandler | None = None,
    ) -> ReadDocument:
        """A document as text."""
        ...

    def citation_engine(self) -> CitationEngine:
        """The engine that renders citations and bibliographies."""
        ...

    def takes_bytes(self, plugin: str, document_format: str) -> bool:
        """Whether documents of a format are bytes."""
        ...

    def parse_view(
        self,
        plugin: str,
        document_format: str,
        document: bytes | Utf8,
        options: Mapping[str, Any] | None = None,
    ) -> memoryview:
        """The JSON text of a parsed document, in UTF-8."""
        ...

    def plugins(self) -> Sequence[PluginState]:
        """Returns the state of every configured plugin."""
        ...

    def health(self) -> Mapping[str, Any]:
        """Returns the state of the host; see `tools.health`."""
        ...


Opener = Callable[["Config"], AbstractContextManager[Host]]


def _open_carrel(config: Config) -> AbstractContextManager[Host]:
    from carrel.api import Carrel
    from carrel.runtime.memory import own_process

    own_process()
    return Carrel(config)


class Session:
    """One run of the command line."""

    def __init__(self, options: Options | None = None, opener: Opener = _open_carrel) -> None:
        self.options = options or Options()
        self._opener = opener

    def with_options(self, **options: Any) -> Session:
        """Returns the session with its options replaced by those of `options` that are set."""
        changes = {name: value for name, value in options.items() if value}
        return Session(self.options._replace(**changes), self._opener)

    def config(self) -> Config:
        """Loads the configuration and applies the options.

        Raises:
            ConfigError: the configuration is invalid.
            ArgumentError: the options exclude each other.
        """
        from carrel.config import load_config

        self._check_options()
        return self._with_options(load_config(self.options.config))

    def examine(self) -> Examined:
        """Returns the configuration with the options, and every fault of it.

        Raises:
            ArgumentError: the options exclude each other.
        """
        from dataclasses import replace

        from carrel.config import examine_config

        self._check_options()
        examined = examine_config(self.options.config)
        if examined.config is None:
            return examined
        return replace(examined, config=self._with_options(examined.config))

    def _check_options(self) -> None:
        if self.options.record and self.options.replay:
            raise ArgumentError(["--record and --replay exclude each other"])

    def _with_options(self, config: Config) -> Config:
        from dataclasses import replace

        record, replay = self.options.record, self.options.replay
        if self.options.refresh:
            config = replace(config, refresh=True)
        if self.options.library is not None:
            file = self.options.library.expanduser().absolute()
            config = replace(config, library=config.library._replace(file=file))
        if not (record or replay):
            return config
        return replace(
            config,
            record_dir=record.absolute() if record else None,
            replay_dir=replay.absolute() if replay else None,
        )

    def open(self, config: Config | None = None) -> AbstractContextManager[Host]:
        """Returns the host, for a `with` statement.

        Raises:
            ConfigError: the configuration has faults.
        """
        config = config or self.config()
        _set_up_log(debug=self.options.debug)
        if config.replay_dir is not None and not self.options.debug:
            _warn_of_skipped(config.replay_dir)
        return self._opener(config)


def _warn_of_skipped(folder: Path) -> None:
    """Warns on stderr of files in a recording that answer no request."""
    from carrel.errors import StorageError
    from carrel.fetch.recording import Recordings
    from carrel.text.printable import printable

    from .report import complain

    try:
        skipped = Recordings(folder).skipped
    except StorageError:
        return  # the call reports it
    for file in skipped:
        complain(printable(f"carrel: {folder}: {file}", 400))


def _set_up_log(*, debug: bool) -> None:
    """Sends the log to stderr with --debug, else discards it.

    Without this, Python would print warnings and tracebacks of lower layers in addition to the
    command's messages.
    """
    import logging

    root = logging.getLogger()
    if debug:
        logging.basicConfig(level=logging.DEBUG, format="%(levelname)s %(name)s: %(message)s")
    elif not root.handlers:
        root.addHandler(logging.NullHandler())
