"""Tools, resources and prompts: what a client or a command can call, and the way to call it."""

from carrel.plugins.result import Result

from .arguments import accepted_arguments, check_arguments
from .tool import Tool, listed_tool
from .toolbox import Toolbox

__all__ = ["Result", "Tool", "Toolbox", "accepted_arguments", "check_arguments", "listed_tool"]
