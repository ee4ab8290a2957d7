"""Plugins that cannot be loaded, and which of them a tool belongs to.

Such a plugin cannot list its tools. The lock lists them if the plugin is approved; otherwise a tool
belongs to the plugin whose name it begins with.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from carrel.errors import CarrelError

from .manifests.naming import client_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .plugin_set import PluginSet

#: Seconds for which the reasons are cached: finding them reads files.
_REUSE_SECONDS = 1.0


class LeftOut:
    """The plugins that are missing from a listing.

    Args:
        plugin_set: has them.
        failed: why each was left out.

    Attributes:
        failed: the same, as of the last check.
    """

    def __init__(self, plugin_set: PluginSet, failed: Mapping[str, CarrelError]) -> None:
        self._plugin_set = plugin_set
        self.failed = dict(failed)
        self._looked_at = -_REUSE_SECONDS

    def look_again(self) -> bool:
        """Checks the plugins again, which reads files; returns whether all of them still fail."""
        now = time.monotonic()
        if now - self._looked_at < _REUSE_SECONDS:
            return True
        self._looked_at = now
        failed: dict[str, CarrelError] = {}
        for name in self.failed:
            try:
                self._plugin_set.manifest(name)
            except CarrelError as error:
                failed[name] = error
        is_same = failed.keys() == self.failed.keys()
        self.failed = failed
        return is_same

    def reason(self, tool: str) -> CarrelError | None:
        """Returns why a tool's plugin cannot be loaded; None when no failed plugin has the tool.

        Args:
            tool: its name for clients.
        """
        failed = self.failed
        approved = {plugin: self._plugin_set.approved_tools(plugin) for plugin in failed}
        for plugin, tools in approved.items():
            if tool in client_names(plugin, tools).values():
                return failed[plugin]
        for plugin, tools in approved.items():
            # The plugin chooses its prefix, which need not be its key in the configuration.
            if any(tool.endswith(f"_{own}") for own in tools):
                return failed[plugin]
        return next((failed[plugin] for plugin in failed if tool.startswith(f"{plugin}_")), None)
