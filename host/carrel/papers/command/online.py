"""Implements the commands of `carrel papers` that ask sources: search and resolve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.command import AS_JSON, EXCHANGE, command
from carrel.cli.output import stdout_is_terminal, write_json, write_json_text
from carrel.cli.progress import Progress
from carrel.cli.report import OK, complain
from carrel.errors import ArgumentError
from carrel.papers.errors import exit_code_of
from carrel.text.printable import printable

from .output import paper_exit, show_entries, with_stdin

if TYPE_CHECKING:
    from carrel.cli.session import Session

#: Works of a search by default.
_LIMIT = 25


@command(
    "search",
    example='papers search "quantum error correction" --from 2020',
    options=(AS_JSON, *EXCHANGE),
)
@click.argument("query", metavar="QUERY…", nargs=-1, required=True)
@click.option("--local", is_flag=True, help="Search the stored papers, without a request.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 200),
    default=_LIMIT,
    help=f"At most so many papers; {_LIMIT} by default.",
)
@click.option("--from", "year_from", metavar="YEAR", type=int, help="First year of publication.")
@click.option("--to", "year_to", metavar="YEAR", type=int, help="Last year of publication.")
@click.option("--open", "open_access", is_flag=True, help="Only papers that are free to read.")
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="NAME",
    help="Search only this source, such as crossref or pubmed; may be repeated.",
)
def search_command(  # noqa: PLR0917 - click passes options by name
    session: Session,
    query: tuple[str, ...],
    local: bool,
    limit: int,
    year_from: int | None,
    year_to: int | None,
    open_access: bool,
    sources: tuple[str, ...],
    as_json: bool,
) -> int:
    """Search papers in every source at once, or with --local in the store.

    The works of all sources are merged and ranked; what each source answered is shown below. With
    --local every word must match, as the beginning of a word, and accents do not count. JSON
    output: {"ok", "works", "sources"}, or {"ok", "entries"} with --local.
    """
    words = " ".join(query)
    if local:
        if year_from or year_to or open_access or sources:
            raise ArgumentError(["--local takes no filter but --limit"])
        from carrel.papers.opening import open_store

        return paper_exit(
            session,
            lambda: show_entries(
                open_store(session.config()).search(words, limit), as_json=as_json
            ),
        )
    filters = {"year_from": year_from, "year_to": year_to, "open_access": open_access or None}
    arguments: dict[str, Any] = {"query": words, "limit": limit}
    arguments |= {name: value for name, value in filters.items() if value is not None}
    if sources:
        arguments["sources"] = list(sources)
    with session.open() as host, Progress("search") as progress:
        result = host.call("paper_search", arguments, on_progress=progress.update)
    envelope: dict[str, Any] = result.data
    if as_json or not stdout_is_terminal():
        write_json_text(result.text)
    elif envelope["ok"]:
        _show_works(envelope["works"])
    for hint in (*envelope.get("hints", ()), *envelope.get("notices", ())):
        complain(f"carrel: {printable(hint, 500)}")
    for line in _outcomes(envelope.get("sources", ())):
        complain(f"carrel: {line}")
    return _exit_code([("search", envelope)])


@command(
    "resolve",
    example="papers resolve 10.1103/PhysRevLett.130.200601 arXiv:2301.00001",
    options=(AS_JSON, *EXCHANGE),
)
@click.argument("refs", metavar="REF…", nargs=-1, required=True, type=click.UNPROCESSED)
def resolve_command(session: Session, refs: tuple[str, ...], as_json: bool) -> int:
    """Find the works that references mean: identifiers, their URLs, or citations as text.

    - reads references from stdin, one a line. JSON output: {"ok", "ref", "metadata", "sources",
    "attempts"}; several references give one line each, in order. Exit code 0 means that all were
    found.
    """
    references = with_stdin(refs)
    answers: list[tuple[str, dict[str, Any]]] = []
    with session.open() as host, Progress("resolve") as progress:
        for ref in references:
            result = host.call("paper_resolve", {"ref": ref}, on_progress=progress.update)
            answers.append((ref, {**result.data, "ref": ref}))
    if as_json or not stdout_is_terminal():
        for _, envelope in answers:
            write_json(envelope)
    else:
        _show_resolved(answers)
    return _exit_code(answers)


def _exit_code(answers: Iterable[tuple[str, dict[str, Any]]]) -> int:
    """Reports the failures, and returns the exit code of the first."""
    code = OK
    for ref, envelope in answers:
        if not envelope["ok"]:
            complain(
                f"carrel: {printable(ref, 100)}: {printable(envelope['error']['message'], 500)}"
            )
            code = code or exit_code_of(envelope["error"]["code"])
    return code


def _show_works(works: Sequence[dict[str, Any]]) -> None:
    from carrel.cli.render import table

    rows = [
        (
            _name(hit["work"]),
            _year(hit["work"]),
            _authors(hit["work"]),
            hit["work"].get("title", ""),
            ", ".join(hit["sources"]),
        )
        for hit in works
    ]
    table(("paper", "year", "authors", "title", "sources"), rows)


def _show_resolved(answers: Iterable[tuple[str, dict[str, Any]]]) -> None:
    from carrel.cli.render import table

    rows = [
        (
            ref,
            _name(envelope["metadata"]),
            _year(envelope["metadata"]),
            envelope["metadata"].get("title", ""),
            ", ".join(envelope["sources"]),
        )
        for ref, envelope in answers
        if envelope["ok"]
    ]
    if rows:
        table(("reference", "paper", "year", "title", "sources"), rows)


def _outcomes(sources: Iterable[dict[str, Any]]) -> Iterable[str]:
    """Yields a line for each source that did not answer."""
    for outcome in sources:
        if "code" in outcome:
            yield f"{outcome['source']} did not answer: {printable(outcome['message'], 300)}"


def _name(work: dict[str, Any]) -> str:
    ids = work["ids"]
    return next(
        (ids[kind] for kind in ("doi", "arxiv", "pmid", "pmcid", "openalex") if kind in ids), ""
    )


def _year(work: dict[str, Any]) -> str:
    return str(work.get("issued", ""))[:4]


def _authors(work: dict[str, Any]) -> str:
    people = work.get("authors", [])
    names = [person.get("family") or person.get("literal", "") for person in people[:2]]
    return ", ".join(names) + (" et al." if len(people) > 2 else "")
