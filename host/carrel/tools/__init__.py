"""Tools, resources and prompts: what a client or a command can call, and the way to call it."""

from .toolbox import Result, Tool, Toolbox, accepted_arguments, check_arguments

__all__ = ["Result", "Tool", "Toolbox", "accepted_arguments", "check_arguments"]
