"""Prints a tool's help: its description, its arguments, and an example."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .examples import example_of
from .render import cell_width, console, paragraph, plain, text
from .schemas import Argument, read_arguments_of, takes_others

if TYPE_CHECKING:
    from carrel.tools import Tool

_NAME, _BODY = 2, 6


def show_tool(tool: Tool) -> None:
    """Prints a tool's description, its arguments and an example."""
    out, schema = console(), tool.input_schema
    paragraph(text(tool.name, "bold"), text(f"({tool.plugin})", "dim"), out=out)
    if tool.title:
        paragraph(tool.title, out=out)
    out.print()
    for line in tool.description.strip().splitlines():
        paragraph(line, indent=_NAME, out=out)
    out.print()
    paragraph(text("Arguments", "bold"), out=out)
    about = schema.get("description")
    if isinstance(about, str) and about:
        paragraph(about, indent=_NAME, out=out)
    arguments = read_arguments_of(schema)
    for argument in arguments:
        required = text("(required)", "yellow") if argument.required else text("")
        paragraph(text(argument.name, "bold cyan"), required, indent=_NAME, out=out)
        for line in _about(argument):
            paragraph(line, indent=_BODY, out=out)
    if takes_others(schema):
        paragraph("any others" if arguments else "any", indent=_NAME, out=out)
    elif not arguments:
        paragraph("none", indent=_NAME, out=out)
    out.print()
    paragraph(text("Example", "bold"), out=out)
    words = ["carrel", "call", tool.name, *map(shlex.quote, example_of(tool.name, schema))]
    plain("\n".join(_lines_of(words, out.width)))


def _about(argument: Argument) -> Iterator[str]:
    default = f"default {argument.default}" if argument.default else ""
    yield "; ".join(part for part in (argument.kind, *argument.limits, default) if part)
    if argument.allowed:
        each = "each one of" if argument.kind.startswith("list") else "one of"
        yield f"{each}: {', '.join(argument.allowed)}"
    if argument.description:
        yield argument.description


def _lines_of(words: list[str], width: int) -> Iterator[str]:
    """Yields a command's words wrapped to lines that a shell can continue; long words are not
    split.
    """
    line = " " * _NAME + words[0]
    for word in words[1:]:
        if cell_width(f"{line} {word} \\") > width:
            yield f"{line} \\"
            line = " " * 2 * _NAME + word
        else:
            line += f" {word}"
    yield line
