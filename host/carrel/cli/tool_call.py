"""Shared by the commands that call tools: reads the arguments, prints the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .arguments import read_arguments
from .output import stdout_is_terminal, write_json_text
from .session import Host
from .stdin import read_stdin

if TYPE_CHECKING:
    from carrel.tools import Result


def read_words(words: tuple[str, ...], host: Host, tool: str) -> dict[str, Any]:
    """The arguments for a tool, as they were typed."""
    return read_arguments(words, lambda: _input_schema(host, tool), read_stdin)


def show(result: Result, *, as_json: bool) -> None:
    """Prints a result: for a person on a terminal, else as it came."""
    if as_json or not stdout_is_terminal():
        write_json_text(result.text)
    else:
        from .results import show_result

        show_result(result.data)


def _input_schema(host: Host, name: str) -> dict[str, Any]:
    for tool in host.tools():
        if tool.name == name:
            schema: dict[str, Any] = tool.input_schema
            return schema
    return {"type": "object"}  # the call says that there is none, or what hides it
