"""Implements the commands of `carrel papers` that need only the store and the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.command import AS_JSON, command
from carrel.cli.output import stdout_is_terminal, write_json, write_text
from carrel.cli.report import FAILED, MISUSE, OK, complain
from carrel.cli.session import Session
from carrel.papers.errors import PaperError
from carrel.text.printable import printable

from .output import paper_exit, show_entries, with_stdin

if TYPE_CHECKING:
    pass

#: Entries of a list by default.
_LIMIT = 50

_LIMIT_OPTION = click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 100_000),
    default=_LIMIT,
    help=f"At most so many papers; {_LIMIT} by default.",
)


@command("list", example="papers list --limit 10", options=(AS_JSON,))
@_LIMIT_OPTION
def list_command(session: Session, limit: int, as_json: bool) -> int:
    """List the stored papers that were fetched last.

    JSON output: {"ok", "entries"}.
    """
    from carrel.papers.opening import open_store

    return paper_exit(
        session, lambda: show_entries(open_store(session.config()).recent(limit), as_json=as_json)
    )


@command("info", example="papers info 10.1103/PhysRevLett.130.200601", options=(AS_JSON,))
@click.argument("ref", metavar="REF")
def info_command(session: Session, ref: str, as_json: bool) -> int:
    """Show what the store knows of a paper.

    REF is a DOI, an arXiv id, a PMID or a PMCID, as such or as a URL. JSON output: {"ok", "ref",
    "key", "metadata", "pdf"}; metadata is null for a paper that is not stored, and the exit code 1.
    """
    from carrel.papers.opening import open_store
    from carrel.papers.references import parse_reference
    from carrel.papers.store.tools import metadata_json

    def work() -> int:
        identifier = parse_reference(ref)
        store = open_store(session.config())
        found = store.find_any_version(identifier)
        envelope: dict[str, Any] = {"ok": True, "ref": ref, "metadata": None}
        if found is not None:
            path = store.pdf_path(found.key)
            envelope |= {
                "key": found.key,
                "metadata": metadata_json(found),
                "pdf": str(path) if path else None,
            }
        if as_json or not stdout_is_terminal():
            write_json(envelope)
        elif found is not None:
            write_text(f"{found.entry.to_toml()}\n{envelope['pdf'] or 'no PDF is stored'}\n")
        if found is None:
            complain(f"carrel: {printable(ref, 200)} is not in the store")
            return FAILED
        return OK

    return paper_exit(session, work)


@command("export", example="papers export 10.1103/PhysRevLett.130.200601 --format bibtex")
@click.argument("refs", metavar="[REF… | -]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--format",
    "kind",
    type=click.Choice(("bibtex", "csl-json", "ris")),
    default="bibtex",
    help="The format; bibtex by default.",
)
def export_command(session: Session, refs: tuple[str, ...], kind: str) -> int:
    """Write stored papers as BibTeX, CSL-JSON or RIS.

    Without REF all of them, by key. - reads references from stdin, one a line. What is not stored
    or no reference is named on stderr; the exit code is then 1, or 2 if nothing was a reference.
    """
    return paper_exit(session, lambda: _export(session, refs, kind))


def _export(session: Session, refs: Sequence[str], kind: str) -> int:
    from carrel.papers.export import FORMATS
    from carrel.papers.opening import open_store
    from carrel.papers.store import work_of

    store = open_store(session.config())
    found, lost, wrong = _named(store, with_stdin(refs)) if refs else _all(store)
    write_text(FORMATS[kind]([work_of(entry) for entry in found.values()]))
    for message in (*lost, *wrong):
        complain(f"carrel: {message}")
    if wrong and not found and not lost:
        return MISUSE
    return FAILED if lost or wrong else OK


def _named(store: Any, refs: Sequence[str]) -> tuple[dict[str, Any], list[str], list[str]]:
    from carrel.papers.references import parse_reference

    found: dict[str, Any] = {}
    lost: list[str] = []
    wrong: list[str] = []
    for ref in refs:
        try:
            identifier = parse_reference(ref)
        except PaperError as error:
            wrong.append(error.message)
            continue
        paper = store.find_any_version(identifier)
        if paper is None:
            lost.append(f"{printable(ref, 200)}: not in the store")
        else:
            found.setdefault(paper.key, paper.entry)
    return found, lost, wrong


def _all(store: Any) -> tuple[dict[str, Any], list[str], list[str]]:
    found: dict[str, Any] = {}
    lost: list[str] = []
    for key in store.list_keys():
        try:
            entry = store.read(key)
        except PaperError as error:
            lost.append(error.message)
            continue
        if entry is not None:
            found[key] = entry
    return found, lost, []


@command("verify", example="papers verify --contents", options=(AS_JSON,))
@click.option("--contents", is_flag=True, help="Read every PDF and compare it with its hash.")
def verify_command(session: Session, contents: bool, as_json: bool) -> int:
    """Check the provenance log and the store.

    Names every row that was changed, removed, moved or added, and every entry that is damaged or
    whose PDF is missing. JSON output: {"ok", "log", "store"}. The exit code is 1 if anything is
    wrong, 4 if a file cannot be read.
    """
    return paper_exit(session, lambda: _verify(session, contents=contents, as_json=as_json))


def _verify(session: Session, *, contents: bool, as_json: bool) -> int:
    from carrel.papers.opening import log_path, open_store
    from carrel.papers.provenance.verify import verify_log
    from carrel.papers.store.checking import check_store

    config = session.config()
    log = verify_log(log_path(config))
    store = open_store(config)
    faults = list(check_store(store, contents=contents))
    ok = log.ok and not faults
    if as_json or not stdout_is_terminal():
        write_json({
            "ok": ok,
            "log": log.to_json(),
            "store": {
                "entries": len(store.list_keys()),
                "faults": [fault.to_json() for fault in faults],
            },
        })  # fmt: skip
    else:
        write_text(f"log: {log.rows} rows in {len(log.files)} files\n")
        write_text(f"store: {len(store.list_keys())} entries\n")
        write_text("nothing is wrong\n" if ok else "")
    for row in log.faults:
        complain(f"carrel: {row.file}: row {row.row} {row.kind}: {printable(row.message, 500)}")
    for note in log.notes:
        complain(f"carrel: {printable(note, 500)}")
    for fault in faults:
        complain(f"carrel: {fault.key}: {printable(fault.message, 500)}")
    return OK if ok else FAILED
