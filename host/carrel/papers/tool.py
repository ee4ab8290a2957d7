"""Makes the tools for papers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .fetching import PaperFetcher
from .fetching.mining import mining_accesses
from .fetching.plan import dry_run
from .fetching.tools import FetchingTools
from .graph.tool import make_graph_tool
from .opening import open_log, open_store
from .reading.tool import make_read_tool
from .resolve.tools import ResolvingTools
from .retractions.tool import make_retractions_tool
from .search.tool import make_search_tool
from .status import make_status_tools
from .store.tools import make_store_tools

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.plugin_set import PluginSet
    from carrel.tools.host_tool import HostTool

    from .store import PaperStore


def make_tools(plugins: PluginSet, config: Config, manifests: Sequence[Manifest]) -> list[HostTool]:
    """Returns the tools; see `carrel.tools.feature`.

    Those of the store are offered where a folder of papers is set, or a plugin knows works: a
    server that only runs plugins of other kinds lists none.
    """
    opened = OpenedOnce(config)
    tools: list[HostTool] = []
    if any("search" in manifest.roles for manifest in manifests):
        tools.append(make_search_tool(plugins, config))
    knows_works = any(manifest.lookup is not None for manifest in manifests)
    if knows_works:
        accesses = mining_accesses()
        fetcher = PaperFetcher(plugins, config, opened, lambda: open_log(config), accesses)
        tools += ResolvingTools(
            plugins,
            config,
            opened,
            lambda: open_log(config),
            plan=lambda ref: dry_run(ref, plugins, config, None),
        ).make()
        tools += FetchingTools(plugins, config, fetcher).make()
        tools += make_status_tools(plugins, config, opened, accesses)
    if any({"references", "citations"} & manifest.roles.keys() for manifest in manifests):
        tools.append(make_graph_tool(plugins, config))
    if knows_works or config.papers.folder is not None:
        tools += make_store_tools(opened)
        tools.append(make_read_tool(plugins, config, opened))
    if knows_works:
        tools.append(make_retractions_tool(plugins, config))
    return tools


class OpenedOnce:
    """Opens the paper store of a configuration when it is first needed. Thread-safe."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._store: PaperStore | None = None

    def __call__(self) -> PaperStore:
        """Returns the store.

        Raises:
            PaperError: `STORE_ERROR`; there is a file in its place.
        """
        with self._lock:
            if self._store is None:
                self._store = open_store(self._config)
            return self._store
