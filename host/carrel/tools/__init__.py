"""Calls tools, resources and prompts of plugins and of the host.

Names are imported on first use, because parsing a document needs only `document`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel._lazy import lazy_names

if TYPE_CHECKING:
    from carrel.plugins.calls.result import Result

    from .arguments import accepted_arguments, check_arguments
    from .tool import Tool, listed_tool
    from .toolbox import Toolbox

__all__ = ["Result", "Tool", "Toolbox", "accepted_arguments", "check_arguments", "listed_tool"]

_HOMES = {
    "Result": "carrel.plugins.calls.result",
    "Tool": "carrel.tools.tool",
    "Toolbox": "carrel.tools.toolbox",
    "accepted_arguments": "carrel.tools.arguments",
    "check_arguments": "carrel.tools.arguments",
    "listed_tool": "carrel.tools.tool",
}


__getattr__ = lazy_names(__name__, _HOMES)
