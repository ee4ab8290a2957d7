"""Results and tables for a person at a terminal. The only module that imports rich.

Everything shown may come from outside: texts become `rich.text.Text`, so that nothing in them is
read as markup, and hidden characters are taken out; in JSON they are escapes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from carrel.printable import escaped_json_text, printable

from .standing import standing, standings

#: The keys under which sources list their items, and the words a title or a date goes by.
_LISTS = ("entries", "works", "articles", "summaries", "items", "results")
_DATES = ("published", "issued", "pub_date", "date")
_URLS = ("abstract_url", "url")
_SHOWN_AUTHORS = 4
_WARNING = "bold red"

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


def text(value: object, style: Style = "") -> Text:
    """One line of text from outside."""
    return Text(printable(" ".join(str(value).split()), 2000), style=style)


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


def show_result(data: Mapping[str, Any], *, heading: str | None = None) -> None:
    """Prints what a tool or a parser returned: bibliographic items as a list, else as JSON."""
    out = console()
    if heading:
        out.print(text(heading, "bold underline"))
    items = next((data[key] for key in _LISTS if _are_items(data.get(key))), None)
    if items is None:
        work = data.get("work")
        items = [work] if _are_items([work]) else None
    if items is None:
        for line in standings(data):
            out.print(text(line, _WARNING))
        source = escaped_json_text(json.dumps(data, ensure_ascii=False, indent=2))
        out.print(JSONHighlighter()(source), soft_wrap=True)
        return
    for number, item in enumerate(items, int(data.get("start_index") or 0) + 1):
        _show_item(out, number, item)
    total = data.get("total_results", data.get("count"))
    shown = f"{len(items):,}" if total is None else f"{len(items):,} of {total:,}"
    out.print(text(f"{shown} results", "dim"))
    for notice in data.get("notices") or ():
        out.print(text(f"notice: {_notice(notice)}", "yellow"))


def _are_items(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and "title" in item for item in value
    )


def _show_item(out: Console, number: int, item: Mapping[str, Any]) -> None:
    warning = standing(item)
    lines = [text(warning, _WARNING)] if warning else []
    lines.append(text(item["title"] or "(no title)", "bold"))
    authors = [_person(author) for author in item.get("authors") or ()]
    if authors:
        more = f" and {len(authors) - _SHOWN_AUTHORS} more" if len(authors) > _SHOWN_AUTHORS else ""
        lines.append(text(", ".join(authors[:_SHOWN_AUTHORS]) + more))
    where = [_identifier(item), _date(item), item.get("primary_category"), item.get("source")]
    known = " · ".join(str(part) for part in where if part)
    if known:
        lines.append(text(known, "cyan"))
    url = next((item[key] for key in _URLS if item.get(key)), None)
    if url:
        lines.append(text(url, "dim"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(min_width=3, justify="right", style="dim")
    grid.add_column(overflow="fold")
    for mark, line in zip((str(number), *[""] * len(lines)), lines, strict=False):
        grid.add_row(mark, line)
    out.print(grid)


def _person(author: object) -> str:
    if not isinstance(author, dict):
        return str(author)
    given = author.get("given") or author.get("first_name") or author.get("initials") or ""
    family = author.get("family") or author.get("last_name") or ""
    whole = author.get("name") or author.get("literal") or author.get("collective_name")
    return str(whole or f"{given} {family}".strip() or "?")


def _identifier(item: Mapping[str, Any]) -> str:
    if item.get("id"):
        return str(item["id"])
    ids = item.get("ids") if isinstance(item.get("ids"), dict) else item
    known = ("doi", "arxiv", "pmid", "pmcid")
    return next((f"{key}:{ids[key]}" for key in known if ids.get(key)), "") if ids else ""


def _date(item: Mapping[str, Any]) -> str:
    date = next((str(item[key]) for key in _DATES if item.get(key)), "")
    return date.partition("T")[0]


def _notice(notice: object) -> str:
    if isinstance(notice, dict):
        return str(notice.get("message") or json.dumps(notice))
    return str(notice)
