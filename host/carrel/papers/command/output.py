"""Shared by the commands of `carrel papers`: references from stdin, lists, exit codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from carrel.cli.output import stdout_is_terminal, write_json
from carrel.cli.report import OK, report
from carrel.cli.stdin import read_stdin
from carrel.papers.errors import PaperError, exit_code_of

if TYPE_CHECKING:
    from carrel.cli.session import Session
    from carrel.papers.store import PaperSummary


def paper_exit(session: Session, work: Callable[[], int]) -> int:
    """Runs the work of a command, and reports a `PaperError` with the exit code of its code."""
    try:
        return work()
    except PaperError as error:
        report(error, as_json=session.options.json_errors)
        return exit_code_of(error.paper_code)


def show_entries(entries: Sequence[PaperSummary], *, as_json: bool) -> int:
    """Shows entries of the store."""
    if as_json or not stdout_is_terminal():
        write_json({"ok": True, "entries": [entry.to_json() for entry in entries]})
        return OK
    from carrel.cli.render import table

    rows = [
        (
            entry.doi or entry.arxiv_id or entry.key,
            str(entry.year or ""),
            ", ".join(entry.authors[:2]) + (" et al." if len(entry.authors) > 2 else ""),
            entry.title,
            "yes" if entry.has_pdf else "no",
        )
        for entry in entries
    ]
    table(("paper", "year", "authors", "title", "PDF"), rows)
    return OK


def with_stdin(refs: Sequence[str]) -> list[str]:
    """Returns references, with those of stdin, one a line, in the place of `-`."""
    words: list[str] = []
    for ref in refs:
        if ref == "-":
            words += [line.strip() for line in read_stdin().splitlines() if line.strip()]
        else:
            words.append(ref)
    return words
