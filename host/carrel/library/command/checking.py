"""The command that asks sources about references: check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.command import AS_JSON, EXCHANGE, LIBRARY, command
from carrel.cli.output import write_json
from carrel.cli.progress import Progress
from carrel.cli.report import FAILED, OK, complain
from carrel.errors import ArgumentError
from carrel.text.printable import printable

from .options import (
    JSONL,
    as_lines,
    is_plain,
    library_config,
    library_exit,
    opened,
    with_stdin,
)

if TYPE_CHECKING:
    from carrel.cli.session import Session

#: References of one call of the tool.
_PART = 100


@command(
    "check",
    example="library check --all",
    options=(JSONL, AS_JSON, LIBRARY, *EXCHANGE),
)
@click.argument("ids", metavar="[KEY… | -]", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Check the whole library.")
@click.option("--search", "query", metavar="QUERY", help="Check references that match.")
@click.option("--force", is_flag=True, help="Check also what was checked within a week.")
@click.option("--no-save", is_flag=True, help="Do not keep the results in the library.")
def check_command(  # noqa: PLR0917 - click passes options by name
    session: Session,
    ids: tuple[str, ...],
    everything: bool,
    query: str | None,
    force: bool,
    no_save: bool,
    as_json: bool,
    jsonl: bool,
) -> int:
    """Check references for retractions, corrections, newer versions and other metadata.

    Who says what is shown below each reference. JSON output: {"results", "summary"}. The exit code
    is 1 if a source did not answer, or a key is not in the library; findings are no failure.
    """
    if sum((bool(ids), everything, query is not None)) != 1:
        raise ArgumentError(["name keys, or give --all or --search QUERY"])

    def work() -> int:
        results = _checked(
            session, ids, query, everything=everything, force=force, save=not no_save
        )
        if jsonl:
            as_lines(results)
        elif is_plain(as_json):
            write_json({"results": results, "summary": _summary(results)})
        else:
            _show(results)
        lost = [result for result in results if result["status"] in {"unknown", "not_found"}]
        for result in lost:
            message = printable(result.get("message", result["status"]), 500)
            complain(f"carrel: {printable(result['id'], 100)}: {message}")
        return FAILED if lost else OK

    return library_exit(session, work)


def _checked(
    session: Session,
    ids: Sequence[str],
    query: str | None,
    *,
    everything: bool,
    force: bool,
    save: bool,
) -> list[dict[str, Any]]:
    """Returns what the check of each reference found, a part of them at a time."""
    config = library_config(session)
    keys = with_stdin(ids)
    if not ids:
        with opened(session) as library:
            found = library.items() if everything else library.search(str(query), limit=0).items
        keys = [str(item["id"]) for item in found]
    results: list[dict[str, Any]] = []
    with session.open(config) as host, Progress("check") as progress:
        for start in range(0, len(keys), _PART):
            part = keys[start : start + _PART]
            arguments = {"ids": part, "force": force, "save": save}
            result = host.call("library_check", arguments, on_progress=progress.update).data
            results += result["results"]
    return results


def _summary(results: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    counts = {"total": len(results)}
    for result in results:
        counts[result["status"]] = counts.get(result["status"], 0) + 1
    return counts


def _show(results: Sequence[Mapping[str, Any]]) -> None:
    from carrel.cli.render import table

    rows: list[tuple[str, str, str]] = []
    for result in results:
        findings = result.get("findings", ())
        first = findings[0]["message"] if findings else result.get("message", "")
        rows.append((result["id"], result["status"], first))
        rows += [("", more["type"], more["message"]) for more in findings[1:]]
    table(("key", "status", "according to the sources"), rows)
