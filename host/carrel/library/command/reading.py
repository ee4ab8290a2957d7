"""The commands that only read the library: list, search, show, export."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.command import AS_JSON, LIBRARY, command
from carrel.cli.output import write_json, write_text
from carrel.cli.report import FAILED, OK, complain
from carrel.library.errors import LibraryError
from carrel.library.pages import (
    LIMIT,
    ORDERS,
    SEARCH_SORTS,
    SORTS,
    list_library,
    search_library,
)
from carrel.library.search.query import EXACT_FIELDS, TEXT_FIELDS, unknown_fields
from carrel.text.printable import printable

from .options import JSONL, as_lines, is_plain, library_exit, opened, with_stdin

if TYPE_CHECKING:
    from carrel.bibliography import Item
    from carrel.cli.session import Session
    from carrel.library.library import Library


def _paging(sorts: Sequence[str], default: str) -> Callable[[Any], Any]:
    def declare(work: Any) -> Any:
        for option in (
            click.option(
                "--sort",
                type=click.Choice(sorts),
                default=default,
                help=f"The order; {default} by default.",
            ),
            click.option(
                "--order", type=click.Choice(ORDERS), default="desc", help="desc by default."
            ),
            click.option(
                "--limit",
                metavar="N",
                type=click.IntRange(0),
                default=LIMIT,
                help=f"At most so many; 0 for all, {LIMIT} by default.",
            ),
            click.option(
                "--offset",
                metavar="N",
                type=click.IntRange(0),
                default=0,
                help="Skip so many.",
            ),
        ):
            work = option(work)
        return work

    return declare


@command(
    "list", example="library list --sort author --order asc", options=(JSONL, AS_JSON, LIBRARY)
)
@_paging(SORTS, "updated")
@click.option("--superseded", is_flag=True, help="Also references that another one replaces.")
def list_command(session: Session, as_json: bool, jsonl: bool, **options: Any) -> int:
    """List the references of the library.

    JSON output: {"total", "limit", "offset", "next_offset", "items"}.
    """
    return _show_page(session, lambda library: list_library(library, options), as_json, jsonl)


@command(
    "search",
    example="library search 'author:marlow year:2019 \"tidy desks\"'",
    options=(JSONL, AS_JSON, LIBRARY),
)
@click.argument("query", metavar="QUERY…", nargs=-1, required=True)
@_paging(SEARCH_SORTS, "relevance")
def search_command(
    session: Session,
    query: tuple[str, ...],
    as_json: bool,
    jsonl: bool,
    **options: Any,
) -> int:
    """Search the library; every word must match.

    "A phrase" in double quotes matches in one piece. author:, title:, year:, doi:, pmid:, pmcid:,
    isbn:, url:, keyword:, tag:, type: and id: in front of a word search that member. JSON output as
    of list.
    """
    arguments = {"query": " ".join(query), **options}

    def find(library: Library) -> dict[str, Any]:
        page = search_library(library, arguments)
        if not page["total"]:
            for word in unknown_fields(arguments["query"]):
                complain(
                    f"carrel: {printable(word, 50)} is no field, so it was searched as text; "
                    f"fields: {', '.join((*TEXT_FIELDS, *EXACT_FIELDS))}"
                )
        return page

    return _show_page(session, find, as_json, jsonl)


def _show_page(
    session: Session,
    find: Callable[[Library], dict[str, Any]],
    as_json: bool,
    jsonl: bool,
) -> int:
    def work() -> int:
        with opened(session) as library:
            page = find(library)
            if not page["total"] and not library.path.exists():
                complain(f"carrel: there is no library at {library.path} yet; an addition makes it")
        if jsonl:
            as_lines(page["items"])
        elif is_plain(as_json):
            write_json(page)
        else:
            show_table(page["items"])
            shown = len(page["items"])
            more = f"; --offset {page['next_offset']} shows more" if page["next_offset"] else ""
            write_text(f"{shown:,} of {page['total']:,} references{more}\n")
        return OK

    return library_exit(session, work)


def show_table(items: Sequence[Mapping[str, Any]]) -> None:
    """Prints a row for each reference."""
    from carrel.cli.render import table

    rows = [
        (
            item["id"],
            str(item.get("year", "")),
            _authors(item.get("authors", ())),
            item.get("title", ""),
            item.get("check", ""),
        )
        for item in items
    ]
    table(("key", "year", "authors", "title", "check"), rows)


def _authors(names: Sequence[str]) -> str:
    return "; ".join(names[:2]) + (" …" if len(names) > 2 else "")


@command("show", example="library show marlow-2019", options=(AS_JSON, LIBRARY))
@click.argument("ids", metavar="KEY…", nargs=-1, required=True)
def show_command(session: Session, ids: tuple[str, ...], as_json: bool) -> int:
    """Show all that the library has about references, by key or uuid.

    JSON output: the CSL-JSON item; of several references one line each. - reads keys from stdin.
    """

    def work() -> int:
        with opened(session) as library:
            found, missing = _named(library, with_stdin(ids))
        if is_plain(as_json):
            as_lines(found)
        else:
            from carrel.cli.render import json_value

            for item in found:
                json_value(item)
        return _report_missing(missing)

    return library_exit(session, work)


@command("export", example="library export --to bibtex", options=(LIBRARY,))
@click.argument("ids", metavar="[KEY… | -]", nargs=-1)
@click.option(
    "--to",
    "output_format",
    type=click.Choice(("csl-json", "bibtex", "biblatex", "ris", "endnote", "word")),
    default="bibtex",
    help="The format; bibtex by default.",
)
@click.option("--search", "query", metavar="QUERY", help="Only references that match.")
def export_command(
    session: Session,
    ids: tuple[str, ...],
    output_format: str,
    query: str | None,
) -> int:
    """Write references in another format: all of them, or those named or matching.

    - reads keys from stdin. A key that the library does not have is named on stderr, and the exit
    code is 1.
    """
    from carrel.bibliography import write_bibliography

    def work() -> int:
        missing: list[str] = []
        with opened(session) as library:
            items: Sequence[Item]
            if ids:
                items, missing = _named(library, with_stdin(ids))
            elif query is not None:
                items = library.search(query, limit=0).items
            else:
                items = library.items()
            write_text(write_bibliography(items, output_format))
        return _report_missing(missing)

    return library_exit(session, work)


def _named(library: Library, ids: Sequence[str]) -> tuple[list[Item], list[str]]:
    found: list[Item] = []
    missing: list[str] = []
    for key in ids:
        try:
            found.append(library.get(key))
        except LibraryError as error:
            if error.library_code != "NOT_FOUND":
                raise
            missing.append(error.message)
    return found, missing


def _report_missing(missing: Sequence[str]) -> int:
    for message in missing:
        complain(f"carrel: {printable(message, 500)}")
    return FAILED if missing else OK
