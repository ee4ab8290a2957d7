"""Shared resources of the cases: folders, documents, a host, servers.

Nothing uses a network. The host fills the cache that servers use from a local upstream, which has
certificates for arXiv's names.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import carrel
from carrel.config import BUILTIN_PLUGINS, Config, FetchConfig, PluginConfig, builtin

from . import documents
from .http_client import HttpServer
from .pipes import PipeClient
from .plugin import echo_plugin

#: The query that is answered from the cache, and the number of its entries.
QUERY: Mapping[str, Any] = {"search_query": "all:desk", "max_results": 10}
ENTRIES = 10

_BARE_SDK = Path(__file__).parent / "servers" / "bare_sdk.py"
_NOOP_PLUGINS = ("noop", "noop_two", "noop_three")
_TEN = 10


class Workbench:
    """One run.

    Args:
        folder: empty; the run writes only below it.
        quick: measure only enough to show that every case runs.
    """

    def __init__(self, folder: Path, *, quick: bool) -> None:
        self.folder = folder
        self.quick = quick
        self._documents: dict[int, str] = {}
        self._servers = 0

    def rounds(self, full: int, quick: int = 3) -> int:
        """The number of rounds."""
        return quick if self.quick else full

    def document(self, size: int) -> str:
        """Returns a feed of about `size` bytes."""
        if size not in self._documents:
            self._documents[size] = documents.feed_of_size(size)
        return self._documents[size]

    def document_file(self, name: str, text: str) -> Path:
        """Returns a file with a feed of about `size` bytes."""
        path = self.folder / name
        path.write_bytes(text.encode())
        return path

    @cached_property
    def config(self) -> Config:
        """The built-in plugins and a no-op one, with folders of this run."""
        return Config(
            cache_dir=self.folder / "cache",
            data_dir=self.folder / "data",
            plugins=(*(builtin(name) for name in BUILTIN_PLUGINS), self._plugin_entry("noop")),
        )

    @cached_property
    def host(self) -> carrel.Carrel:
        """A host with compiled and loaded components."""
        host = carrel.Carrel(self.config)
        host.parse("arxiv", "feed", documents.feed(1))
        return host

    def close(self) -> None:
        """Closes the host if it was opened."""
        if "host" in self.__dict__:
            self.host.close()

    @cached_property
    def environment(self) -> dict[str, str]:
        """This process's environment without the user's settings for Carrel."""
        inherited = {
            key: value for key, value in os.environ.items() if not key.startswith("CARREL_")
        }
        return {
            **inherited,
            "CARREL_CACHE_DIR": str(self.config.cache_dir),
            "CARREL_DATA_DIR": str(self.config.data_dir),
            "XDG_CONFIG_HOME": str(self.folder / "no-configuration"),
        }

    @cached_property
    def command(self) -> list[str]:
        """The command that starts `carrel`."""
        script = shutil.which("carrel", path=str(Path(sys.executable).parent))
        return [script] if script else [sys.executable, "-m", "carrel"]

    def serve(self, *, keeps_results: bool = True) -> PipeClient:
        """Returns a Carrel server with the default plugins and compiled components.

        Args:
            keeps_results: as by default; without, every call runs its plugin.
        """
        path = self._server_config if keeps_results else self._forgetful_config
        command = [*self.command, "serve", "--config", str(path)]
        return PipeClient(command, self.environment, self._log("carrel"))

    def serve_replayed(self, recording: Path) -> PipeClient:
        """Returns a Carrel server that replays a recording."""
        command = [*self.command, "serve", "--config", str(self._server_config)]
        return PipeClient(
            [*command, "--replay", str(recording)], self.environment, self._log("replay")
        )

    def serve_bare_sdk(self) -> PipeClient:
        """Returns the SDK's server."""
        command = [sys.executable, str(_BARE_SDK)]
        return PipeClient(command, self.environment, self._log("bare-sdk"))

    def serve_http(self) -> HttpServer:
        """Returns a Carrel server over HTTP, as `serve`."""
        command = [*self.command, "serve", "--config", str(self._server_config)]
        return HttpServer(
            [*command, "--http", "127.0.0.1:0"], self.environment, self._log("carrel-http")
        )

    def serve_bare_sdk_http(self) -> HttpServer:
        """Returns the SDK's server over HTTP."""
        command = [sys.executable, str(_BARE_SDK.with_name("bare_sdk_http.py"))]
        return HttpServer(command, self.environment, self._log("bare-sdk-http"))

    def _log(self, name: str) -> Path:
        self._servers += 1
        return self.folder / f"{name}-{self._servers}.log"

    @cached_property
    def _server_config(self) -> Path:
        """The default plugins and a no-op one, in a configuration file.

        The rate limit of calls is disabled: otherwise the measurement would show the limit and not
        the server.
        """
        names = [*_NOOP_PLUGINS][: max(1, 3 - len(BUILTIN_PLUGINS))]
        settings = {
            "cache_dir": str(self.config.cache_dir),
            "data_dir": str(self.config.data_dir),
            "server": {"calls_per_second": 1_000_000, "burst": 1_000_000},
            "plugins": {name: {"url": self._plugin_entry(name).url} for name in names},
        }
        path = self.folder / "carrel.json"
        path.write_text(json.dumps(settings), "utf-8")
        self.host.plugins()  # loads all, so that no server has to compile
        return path

    def serve_ten(self) -> PipeClient:
        """Returns a Carrel server with ten plugins: the built-in ones and no-op ones."""
        command = [*self.command, "serve", "--config", str(self._config_of_ten)]
        return PipeClient(command, self.environment, self._log("ten"))

    @cached_property
    def _config_of_ten(self) -> Path:
        """A configuration of ten plugins with compiled components."""
        settings = json.loads(self._server_config.read_text("utf-8"))
        names = [f"noop_{number}" for number in range(_TEN - len(BUILTIN_PLUGINS))]
        entries = [self._plugin_entry(name) for name in names]
        with carrel.Carrel(
            Config(
                cache_dir=self.config.cache_dir,
                data_dir=self.config.data_dir,
                plugins=tuple(entries),
            )
        ) as host:
            host.plugins()
        path = self.folder / "ten.json"
        plugins = {entry.name: {"url": entry.url} for entry in entries}
        path.write_text(json.dumps({**settings, "plugins": plugins}), "utf-8")
        return path

    @cached_property
    def _forgetful_config(self) -> Path:
        """The same without a result cache."""
        settings = json.loads(self._server_config.read_text("utf-8"))
        path = self.folder / "forgetful.json"
        path.write_text(json.dumps({**settings, "runtime": {"result_bytes": 0}}), "utf-8")
        return path

    def _plugin_entry(self, name: str) -> PluginConfig:
        path = self.folder / f"{name}.wasm"
        if not path.exists():
            path.write_bytes(echo_plugin(name))
        return PluginConfig(name, path.as_uri())

    @cached_property
    def cached_answer(self) -> dict[str, Any]:
        """The result of `QUERY`; caches its responses, including all HEADs."""
        return self._answer_from_upstream(self.config)

    @cached_property
    def recording(self) -> Path:
        """A recording of the exchanges of `QUERY`."""
        from dataclasses import replace

        folder = self.folder / "recording"
        # Without a cache, so that every exchange reaches the upstream and is recorded.
        config = replace(
            self.config, record_dir=folder, fetch=FetchConfig(cache_max_bytes=0),
            cache_dir=self.folder / "cache-of-recording",
        )  # fmt: skip
        self._answer_from_upstream(config)
        return folder

    def _answer_from_upstream(self, config: Config) -> dict[str, Any]:
        from carrel.fetch.client import FetchClient
        from carrel.fetch.settings import FetchSettings
        from carrel.plugins.plugin_set import PluginSet
        from carrel.tools import Toolbox
        from support.upstream import Reply, Upstream

        atom = (("content-type", "application/atom+xml; charset=utf-8"),)
        with Upstream("export.arxiv.org", "arxiv.org") as upstream:
            upstream.on("/api/query", Reply(headers=atom, body=documents.feed(ENTRIES).encode()))
            upstream.on("*", Reply(headers=(("content-type", "application/gzip"),)))
            # Like the host's client, except for the resolver and the dialer.
            client = FetchClient(
                FetchSettings(
                    cache_path=(
                        config.cache_dir / "answers.sqlite"
                        if config.fetch.cache_max_bytes
                        else None
                    ),
                    ca_bundle=upstream.write_authority(self.folder),
                ),
                resolver=upstream.names,
                dialer=upstream.dial,
            )
            toolbox = Toolbox(config, plugin_set=PluginSet(config, fetch_client=client))
            try:
                answer = toolbox.call_sync("arxiv_query", QUERY).data
            finally:
                toolbox.close()
        verified = [entry for entry in answer["entries"] if "source_url" in entry]
        assert len(verified) == ENTRIES, answer
        return answer


def why_no_native(quick: bool) -> str:
    """Returns why the native parsers cannot be measured; empty if they can."""
    try:
        import carrel_native
    except ImportError:
        return "carrel_native is not built (just native --optimised)"
    if quick or carrel_native.OPTIMISED:
        return ""
    return "carrel_native is built for tests (just native --optimised)"
