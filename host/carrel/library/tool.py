"""Makes the tools of the library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from carrel.documents.folders import read_granted

from .adding.run import LibraryAdder
from .checking.run import LibraryChecker
from .fulltext.run import MAX_BYTES, FullTexts
from .shared import shared_library
from .tools.changing import make_changing_tools
from .tools.checking import make_check_tool
from .tools.citing import LibraryCiter, make_cite_tool
from .tools.fulltext import make_fulltext_tools
from .tools.searching import make_reading_tools

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.plugin_set import PluginSet
    from carrel.tools.host_tool import HostTool


def make_tools(plugins: PluginSet, config: Config, manifests: Sequence[Manifest]) -> list[HostTool]:
    """Returns the tools if a library is set; see `carrel.tools.feature`."""
    del manifests  # a library is useful without any source
    if config.library.file is None:
        return []
    shared = shared_library(plugins, config)
    folders = config.documents.folders

    def read_file(path: str, most: int = MAX_BYTES) -> bytes:
        return read_granted(path, folders, most)

    adder = LibraryAdder(plugins, config, read_file)
    texts = FullTexts(plugins, config, read_file)
    reading = make_reading_tools(shared)
    return [
        *reading[:2],
        *make_changing_tools(shared, adder),
        make_cite_tool(shared, LibraryCiter(plugins, config, read_file)),
        reading[2],
        make_check_tool(shared, LibraryChecker(plugins, config)),
        *make_fulltext_tools(shared, texts),
    ]
