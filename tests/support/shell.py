"""Parses the commands of a page's blocks, and their shown output."""

from __future__ import annotations

import re

from support.pages import Block

_EXIT = re.compile(r"\[exit (\d+)\]")


def commands(block: Block) -> list[tuple[str, str, int]]:
    """Returns the commands of a block, each with its shown output and its exit code."""
    found = []
    for part in re.split(r"(?m)^\$ ", block.text)[1:]:
        lines = part.splitlines()
        words = [lines.pop(0)]
        while words[-1].endswith("\\"):
            words.append(lines.pop(0))
        code = 0
        if lines and (status := _EXIT.fullmatch(lines[-1].strip())):
            code = int(status[1])
            lines.pop()
        found.append(("\n".join(words), "\n".join(lines), code))
    return found
