"""Implements `carrel lookup`."""

from __future__ import annotations

from typing import Any

import click

from carrel.cli.command import AS_JSON, EXCHANGE, command
from carrel.cli.missing import why_not_found
from carrel.cli.output import stdout_is_terminal, write_json_text
from carrel.cli.progress import Progress
from carrel.cli.report import DENIED, FAILED, MISUSE, OK, complain
from carrel.cli.session import Session
from carrel.cli.stdin import read_stdin
from carrel.text.printable import printable

_TOOL = "work_lookup"


@command(
    "lookup",
    example="lookup 10.1103/PhysRevD.61.084004 arXiv:2301.00001 pmid:31452104 PMC7096803",
    options=(AS_JSON, *EXCHANGE),
)
@click.argument("ids", metavar="ID…", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="NAME",
    help="Query only this source, such as crossref or pubmed; may be repeated.",
)
@click.option("--no-references", is_flag=True, help="Leave out the lists of cited works.")
def lookup(
    session: Session,
    ids: tuple[str, ...],
    sources: tuple[str, ...],
    no_references: bool,
    as_json: bool,
) -> int:
    """Look up works by DOI, arXiv id, PMID or PMCID, up to 100 in any mix.

    Every source that resolves an identifier is queried, and their records of a work are merged.
    Digits alone are a PMID; - reads identifiers from stdin, one per line. JSON output: {items,
    works}, each item with its outcome at each source. Exit code 0 means that all were found.
    """
    arguments: dict[str, Any] = {"ids": _with_stdin(ids), "references": not no_references}
    if sources:
        arguments["sources"] = list(sources)
    with session.open() as host, Progress("lookup") as progress:
        result = host.call(_TOOL, arguments, on_progress=progress.update)
    if as_json or not stdout_is_terminal():
        write_json_text(result.text)
    else:
        _show(result.data)
    for notice in result.data.get("notices", ()):
        complain(f"carrel: {printable(notice, 500)}")
    lost = [item for item in result.data["items"] if item["outcome"] != "found"]
    for item in lost:
        complain(f"carrel: {printable(item['given'], 100)}: {why_not_found(item)}")
    return _exit_code(lost, len(result.data["items"]))


def _with_stdin(ids: tuple[str, ...]) -> list[str]:
    words: list[str] = []
    for word in ids:
        if word != "-":
            words.append(word)
        else:
            words += [line.strip() for line in read_stdin().splitlines() if line.strip()]
    return words


def _exit_code(lost: list[dict[str, Any]], total: int) -> int:
    """Returns 0 if all were found, 2 without any identifier, 3 if only policy refused, else 1."""
    codes = {item.get("error", {}).get("code") for item in lost}
    if not lost:
        return OK
    if len(lost) == total and all("id" not in item for item in lost):
        return MISUSE
    return DENIED if codes == {"denied"} else FAILED


def _show(data: dict[str, Any]) -> None:
    """A line for each identifier, then how often each source was asked and how that ended."""
    from carrel.cli.render import table
    from carrel.cli.standing import standing

    rows = []
    for item in data["items"]:
        found = data["works"][item["work"]] if "work" in item else {}
        work = found.get("work", {})
        warning = f"[{warned}]" if (warned := standing(work)) else ""
        summary = (
            " ".join(part for part in (warning, work.get("title", ""), _year(work)) if part)
            if found
            else why_not_found(item)
        )
        rows.append((item["given"], item["outcome"], summary, ", ".join(found.get("sources", ()))))
    table(("identifier", "outcome", "work", "sources"), rows)


def _year(work: dict[str, Any]) -> str:
    return f"({work['issued'][:4]})" if "issued" in work else ""
