"""Finds the scopes that a message needs beyond those of its token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from carrel.principal import Principal
    from carrel.server.toolbox_loader import ToolboxLoader
    from carrel.tools import Toolbox
    from carrel.tools.toolbox import Owner

    from .grants import Grants


class Scoping:
    """Compares what messages ask for with what their principals may use.

    It only reports which scope a client needs. What a principal may not use is not in its toolbox,
    and cannot be called whatever this finds.

    Args:
        loader: has the server's toolbox.
        grants: what scopes grant.
    """

    def __init__(self, loader: ToolboxLoader, grants: Grants) -> None:
        self._loader = loader
        self._grants = grants

    def __call__(self, principal: Principal, message: dict[str, Any]) -> Sequence[str]:
        """Returns the scopes that a message needs; none if it may be served, or nothing helps."""
        toolbox = self._loader.of_server
        if toolbox is None or (principal.toolsets is None and principal.plugins is None):
            return ()
        owner = _owner(toolbox, message)
        return () if owner is None else self._grants.needed(principal, owner)


def _owner(toolbox: Toolbox, message: dict[str, Any]) -> Owner | None:
    """Returns what the tool or prompt of a message belongs to; None for other messages."""
    from carrel.tools.toolbox import Owner

    method, name = message.get("method"), message.get("params", {}).get("name")
    if not isinstance(name, str):
        return None
    if method == "tools/call":
        return toolbox.owner_of_tool(name)
    if method == "prompts/get":
        found = (prompt.plugin for prompt in toolbox.prompts.listed() if prompt.name == name)
        plugin = next(found, None)
        return None if plugin is None else Owner(plugin=plugin)
    return None
