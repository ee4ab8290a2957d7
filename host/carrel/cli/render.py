"""Texts and tables for a person at a terminal. The only module that imports rich.

Everything shown may come from outside: texts become `rich.text.Text`, so that nothing in them is
read as markup, and hidden characters are taken out; in JSON they are escapes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from carrel.printable import escaped_json_text, printable, printable_lines

#: Characters that are shown of a text in a table, and of a paragraph.
_CELL, PARAGRAPH = 2000, 20_000
#: Cells between two columns, and cells that a column of prose needs to be read.
_GAP, _READABLE = 2, 18

Style = str


def console() -> Console:
    """Standard output as rich sees it.

    NO_COLOR turns off bold and dim too: who sets it wants a text without escape sequences.
    """
    plain = bool(os.environ.get("NO_COLOR"))
    return Console(
        highlight=False, emoji=False, markup=False, color_system=None if plain else "auto"
    )


def text(value: object, style: Style = "", *, limit: int = _CELL) -> Text:
    """One line of text from outside, cut to `limit` characters."""
    return Text(printable(" ".join(str(value).split()), limit), style=style)


def cell_width(value: str) -> int:
    """How many cells of a terminal a text takes."""
    return cell_len(value)


def table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None
) -> None:
    """Prints a table under a title; without rows, that there are none.

    Where the terminal is too narrow for readable columns, each row becomes a paragraph.
    """
    out = console()
    if title:
        out.print()
        out.print(text(title, "bold"))
    cells = [[one if isinstance(one, Text) else text(one) for one in row] for row in rows]
    if not cells:
        out.print(text("none", "dim"))
    elif _fits(headings, cells, out.width):
        grid = Table(header_style="bold", box=None, pad_edge=False)
        for index, heading in enumerate(headings):
            grid.add_column(heading, overflow="fold", no_wrap=index == 0)
        for row in cells:
            grid.add_row(*row)
        out.print(grid)
    else:
        for name, *values in cells:
            out.print(name, overflow="fold")
            named = zip(headings[1:], values, strict=True)
            facts(((f"  {heading}", value) for heading, value in named if value.plain), out=out)


def _fits(headings: Sequence[str], rows: Sequence[Sequence[Text]], width: int) -> bool:
    """Whether a table has room for the first column, and for enough of the others to be read."""
    columns = list(zip(*([Text(heading) for heading in headings], *rows), strict=True))
    first = max(one.cell_len for one in columns[0])
    needed = first + _GAP * (len(columns) - 1)
    for column in columns[1:]:
        longest_word = max(_longest_word(one) for one in column)
        widest = max(one.cell_len for one in column)
        needed += max(longest_word, min(widest, _READABLE))
    return bool(needed <= width)


def _longest_word(one: Text) -> int:
    return max((cell_len(word) for word in one.plain.split()), default=0)


def facts(
    pairs: Iterable[tuple[str, object]], *, title: str | None = None, out: Console | None = None
) -> None:
    """Prints names and values, one pair a line.

    A value with a word that has no room beside its name stands on the next line: a digest or a path
    stays in one piece as long as the terminal is wide enough for it alone.
    """
    out = out or console()
    if title:
        out.print(text(title, "bold"))
    told = [(name, one if isinstance(one, Text) else text(one)) for name, one in pairs]
    left = max((cell_len(name) for name, _ in told), default=0) + 2
    for name, value in told:
        label = Text(printable(name, 200), style="dim")
        if left + _longest_word(value) <= out.width:
            grid = Table.grid(padding=(0, 2))
            grid.add_column(width=left - 2, no_wrap=True)
            grid.add_column(overflow="fold")
            grid.add_row(label, value)
            out.print(grid)
        else:
            out.print(label)
            indent = len(name) - len(name.lstrip()) + 2
            out.print(Padding(value, (0, 0, 0, indent)), overflow="fold")


def lines(texts: Iterable[str], *, title: str) -> None:
    """Prints texts under a title, each on a line of its own as far as there is room."""
    out = console()
    out.print()
    out.print(text(title, "bold"), overflow="fold")
    for one in texts:
        out.print(Padding(text(one), (0, 0, 0, 2)), overflow="fold")


def paragraph(
    *parts: Text | str, first: str = "", indent: int = 0, out: Console | None = None
) -> None:
    """Prints texts, a blank between two, wrapped to the terminal under an indent.

    Lines end where their text does: what is copied from the terminal has no blanks behind it.

    Args:
        parts: the texts.
        first: what the first line has in place of the indent.
        indent: in cells.
        out: where to print.
    """
    out = out or console()
    given = [one if isinstance(one, Text) else text(one, limit=PARAGRAPH) for one in parts]
    shown = Text(" ").join(one for one in given if one.plain)
    room = max(out.width - indent, 8)
    head = first.ljust(indent)
    for line in shown.wrap(out, room, overflow="fold") or [Text()]:
        line.rstrip()
        out.print(Text().append(head, style="dim").append_text(line), soft_wrap=True)
        head = " " * indent


def plain(source: str, *, out: Console | None = None) -> None:
    """Prints a text of many lines as it is; long lines are left to the terminal."""
    (out or console()).print(Text(printable_lines(source)), soft_wrap=True)


def json_value(value: object, *, out: Console | None = None) -> None:
    """Prints a value as indented JSON."""
    source = escaped_json_text(json.dumps(value, ensure_ascii=False, indent=2))
    (out or console()).print(JSONHighlighter()(source), soft_wrap=True)
