"""Renders texts and tables on a terminal. Only this module and `file_bars` import rich.

Texts may be external content: they become `rich.text.Text`, so that nothing in them is read as
markup, and hidden characters are removed; in JSON they are escaped.
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

from carrel.text.printable import escaped_json_text, printable, printable_lines

from .output import write_text

#: Maximum characters of a text in a table, and of a paragraph.
_CELL, PARAGRAPH = 2000, 20_000
#: Cells between two columns, and cells that a column of prose needs to be read.
_GAP, _READABLE = 2, 18

Style = str


def console() -> Console:
    """Returns rich's console for stdout.

    NO_COLOR turns off bold and dim too, so that there are no escape sequences.
    """
    plain = bool(os.environ.get("NO_COLOR"))
    return Console(
        highlight=False, emoji=False, markup=False, color_system=None if plain else "auto"
    )


def text(value: object, style: Style = "", *, limit: int = _CELL) -> Text:
    """Returns a text on one line, cut to `limit` characters."""
    return Text(printable(" ".join(str(value).split()), limit), style=style)


def show_markdown(source: str, *, heading: str = "", end: str = "") -> None:
    """Prints Markdown without hidden characters: headings, tables and lists as such.

    Args:
        source: the Markdown; links are shown with their addresses.
        heading: a line above it.
        end: a line below it.
    """
    from rich.markdown import Markdown

    out = console()
    if heading:
        out.print(text(heading, "bold"))
    out.print(Markdown(source, hyperlinks=False))
    if end:
        out.print()
        out.print(text(end, "dim"))


def cell_width(value: str) -> int:
    """Returns the width of a text in terminal cells."""
    return cell_len(value)


def table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None
) -> None:
    """Prints a table under a title, or "none" without rows.

    Omits columns without values. On a narrow terminal, prints the first column's values on separate
    lines above the other columns; on a narrower one, prints each row as a paragraph.
    """
    out = console()
    if title:
        out.print()
        out.print(text(title, "bold"))
    cells = [[cell if isinstance(cell, Text) else text(cell) for cell in row] for row in rows]
    if not cells:
        out.print(text("none", "dim"))
        return
    used = [at for at in range(len(headings)) if at == 0 or any(row[at].plain for row in cells)]
    shown = [headings[at] for at in used]
    cells = [[row[at] for at in used] for row in cells]
    columns = list(zip(*([Text(heading) for heading in shown], *cells), strict=True))
    first = max(cell.cell_len for cell in columns[0])
    if first + _GAP * (len(columns) - 1) + sum(map(_least, columns[1:])) <= out.width:
        grid = Table(header_style="bold", box=None, pad_edge=False)
        for index, heading in enumerate(shown):
            grid.add_column(heading, overflow="fold", no_wrap=index == 0)
        for row in cells:
            grid.add_row(*row)
        out.print(grid)
    elif _GAP * (len(columns) - 1) + sum(map(_least, columns[1:])) <= out.width:
        _print_stacked(out, shown, cells, _widths(columns[1:], out.width))
    else:
        for name, *values in cells:
            out.print(name, overflow="fold")
            named = zip(shown[1:], values, strict=True)
            facts(((f"  {heading}", value) for heading, value in named if value.plain), out=out)


def _print_stacked(
    out: Console, headings: Sequence[str], rows: Sequence[Sequence[Text]], widths: Sequence[int]
) -> None:
    """Prints a table with the first column on a line above the others, which are indented."""
    titles = [text(heading, "bold") for heading in headings]
    for name, *values in (titles, *rows):
        out.print(name, overflow="fold")
        grid = Table.grid(padding=(0, _GAP, 0, 0))
        for width in widths:
            grid.add_column(width=width, overflow="fold")
        grid.add_row(*values)
        out.print(Padding(grid, (0, 0, 0, _GAP)))


def _widths(columns: Sequence[Sequence[Text]], width: int) -> list[int]:
    """Returns the width of each column in cells: its minimum and a share of the rest."""
    widths = [_least(column) for column in columns]
    natural_widths = [max(cell.cell_len for cell in column) for column in columns]
    spare = width - _GAP * len(columns) - sum(widths)
    while spare > 0 and widths != natural_widths:
        for at, most in enumerate(natural_widths):
            if widths[at] < most and spare > 0:
                widths[at] += 1
                spare -= 1
    return widths


def _least(column: Sequence[Text]) -> int:
    """Returns the minimum readable width of a column in cells."""
    longest_word = max(_longest_word(cell) for cell in column)
    return max(longest_word, min(max(cell.cell_len for cell in column), _READABLE))


def _longest_word(cell: Text) -> int:
    return max((cell_len(word) for word in cell.plain.split()), default=0)


def facts(
    pairs: Iterable[tuple[str, object]], *, title: str | None = None, out: Console | None = None
) -> None:
    """Prints names and values, one pair per line.

    A value with a word that does not fit beside its name is printed on the next line, so that a
    digest or a path stays in one piece if the terminal is wide enough.
    """
    out = out or console()
    if title:
        out.print(text(title, "bold"))
    rows = [(name, value if isinstance(value, Text) else text(value)) for name, value in pairs]
    left = max((cell_len(name) for name, _ in rows), default=0) + 2
    for name, value in rows:
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
    """Prints texts under a title, one per line if they fit."""
    out = console()
    out.print()
    out.print(text(title, "bold"), overflow="fold")
    for line in texts:
        out.print(Padding(text(line), (0, 0, 0, 2)), overflow="fold")


def paragraph(
    *parts: Text | str, first: str = "", indent: int = 0, out: Console | None = None
) -> None:
    """Prints texts separated by blanks, wrapped to the terminal and indented.

    Lines have no trailing blanks, so that they can be copied from the terminal.

    Args:
        parts: the texts.
        first: the first line's prefix, in place of the indent.
        indent: in cells.
        out: the console.
    """
    out = out or console()
    texts = [part if isinstance(part, Text) else text(part, limit=PARAGRAPH) for part in parts]
    shown = Text(" ").join(part for part in texts if part.plain)
    room = max(out.width - indent, 8)
    head = first.ljust(indent)
    for line in shown.wrap(out, room, overflow="fold") or [Text()]:
        line.rstrip()
        out.print(Text().append(head, style="dim").append_text(line), soft_wrap=True)
        head = " " * indent


def plain(source: str) -> None:
    """Prints a multi-line text unchanged; the terminal wraps long lines."""
    write_text(printable_lines(source) + "\n")


def json_value(value: object, *, out: Console | None = None) -> None:
    """Prints a value as indented JSON."""
    source = escaped_json_text(json.dumps(value, ensure_ascii=False, indent=2))
    (out or console()).print(JSONHighlighter()(source), soft_wrap=True)
