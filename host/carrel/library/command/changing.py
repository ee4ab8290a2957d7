"""The commands that change what the library has: add, remove, merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.command import AS_JSON, EXCHANGE, LIBRARY, command
from carrel.cli.output import write_json, write_text
from carrel.cli.progress import Progress
from carrel.cli.report import FAILED, MISUSE, OK, complain
from carrel.cli.stdin import read_stdin
from carrel.errors import ArgumentError, StorageError
from carrel.library.items import described
from carrel.library.removing import remove_reference
from carrel.text.printable import printable

from .options import JSONL, as_lines, is_plain, library_config, library_exit, opened

if TYPE_CHECKING:
    from carrel.cli.session import Session
    from carrel.config import Config

#: Bytes of the largest bibliography that is read from a file.
_MAX_BYTES = 64 * 2**20


@command(
    "add",
    example="library add 10.1103/PhysRevD.61.084004 isbn:9780306406157 refs.bib paper.pdf",
    options=(JSONL, AS_JSON, LIBRARY, *EXCHANGE),
)
@click.argument("inputs", metavar="INPUT…", nargs=-1, required=True, type=click.UNPROCESSED)
def add_command(session: Session, inputs: tuple[str, ...], as_json: bool, jsonl: bool) -> int:
    """Add what you have: identifiers, URLs, citations, bibliographies, PDFs, in any mix.

    INPUT is a DOI, arXiv id, PMID, PMCID or ISBN, as such or as a URL; a citation in quotes; or a
    file: BibTeX, RIS, nbib, CSL-JSON, EndNote XML, or a PDF, whose DOI is found in it. - reads any
    of these from stdin: a bibliography, or inputs one a line. JSON output: {"outcomes", "summary"}.
    Exit code 0 means that every reference is in the library now.
    """
    return library_exit(session, lambda: _add(session, inputs, as_json=as_json, jsonl=jsonl))


def _add(session: Session, inputs: Sequence[str], *, as_json: bool, jsonl: bool) -> int:
    config = library_config(session)
    texts, folders = _texts(inputs)
    config = replace(config, documents=config.documents._replace(folders=folders))
    with session.open(config) as host, Progress("add") as progress:
        result = host.call("library_add", {"inputs": texts}, on_progress=progress.update).data
    outcomes = result["outcomes"]
    if jsonl:
        as_lines(outcomes)
    elif is_plain(as_json):
        write_json(result)
    else:
        _show(outcomes)
    failed = [outcome for outcome in outcomes if outcome["status"] == "failed"]
    if jsonl or is_plain(as_json):  # the table has them
        for outcome in failed:
            source = printable(outcome["source"], 100)
            complain(f"carrel: {source}: {outcome['reason']}: {printable(outcome['message'], 500)}")
    if not failed:
        return OK
    misuse = all(outcome.get("reason") == "validation_error" for outcome in outcomes)
    return MISUSE if misuse else FAILED


def _texts(inputs: Sequence[str]) -> tuple[list[str], tuple[Path, ...]]:
    """Returns the inputs as texts, and the folders of the PDFs among them.

    A bibliography of the person's own is read here. A PDF is left to the tool, which reads it in
    the sandbox; so its folder is granted for this run.

    Raises:
        ArgumentError: a file is missing or too large.
        StorageError: a file cannot be read.
    """
    from carrel.library.adding.detect import (
        BIBLIOGRAPHY_SUFFIXES,
        PDF_SUFFIX,
        identifier_in,
        is_bibliography,
    )

    texts: list[str] = []
    folders: list[Path] = []
    for word in inputs:
        if word == "-":
            text = read_stdin()
            if is_bibliography(text):
                texts.append(text)
            else:
                more, granted = _texts([line for line in text.splitlines() if line.strip()])
                texts += more
                folders += granted
            continue
        path = Path(word)
        is_named = word.lower().endswith((PDF_SUFFIX, *BIBLIOGRAPHY_SUFFIXES))
        if not is_named or "://" in word or identifier_in(word) is not None:
            texts.append(word)
        elif not _is_file(path):
            # The tool says what is wrong with it.
            resolved = path.absolute()
            texts.append(str(resolved))
            folders += [resolved.parent] if resolved.parent.is_dir() else []
        elif word.lower().endswith(PDF_SUFFIX):
            resolved = path.resolve()
            texts.append(str(resolved))
            folders.append(resolved.parent)
        else:
            texts.append(_read(path))
    return texts, tuple(dict.fromkeys(folders))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long for a name
        return False


def _read(path: Path) -> str:
    from carrel.bibliography.decoding import decode

    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ArgumentError([f"{path}: more than {_MAX_BYTES:,} bytes"])
        data = path.read_bytes()
    except OSError as error:
        raise StorageError(str(path), f"cannot be read: {error.strerror or error}") from None
    text, warning = decode(data)
    if warning:
        complain(f"carrel: {path}: {warning}")
    return text


def _show(outcomes: Sequence[Mapping[str, Any]]) -> None:
    from carrel.cli.render import table

    rows = [
        (
            outcome["source"],
            outcome["status"],
            outcome.get("id") or outcome.get("existing_id") or "",
            outcome.get("title") or outcome.get("message") or "",
        )
        for outcome in outcomes
    ]
    table(("input", "outcome", "key", "title"), rows)


@command("remove", example="library remove marlow-2019 --force", options=(AS_JSON, LIBRARY))
@click.argument("ids", metavar="KEY…", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="Remove; without it, only say what would be removed.")
def remove_command(session: Session, ids: tuple[str, ...], force: bool, as_json: bool) -> int:
    """Remove references, by key or uuid.

    The earlier library is kept as a backup; attached files stay. JSON output: {"removed",
    "message", "item"}, one line for each key.
    """

    def work() -> int:
        code = OK
        with opened(session) as library:
            for key in ids:
                result = remove_reference(library, key, force=force, forcing="--force")
                if is_plain(as_json):
                    write_json(result)
                elif "item" not in result:
                    complain(f"carrel: {printable(result['message'], 2000)}")
                else:
                    write_text(printable(result["message"], 2000) + "\n")
                if "item" not in result:
                    code = FAILED
        return code

    return library_exit(session, work)


@command(
    "merge",
    example="library merge marlow-2019 marlow-2019a --dry-run",
    options=(AS_JSON, LIBRARY),
)
@click.argument("keep", metavar="KEY")
@click.argument("other", metavar="OTHER")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
def merge_command(session: Session, keep: str, other: str, dry_run: bool, as_json: bool) -> int:
    """Join two entries of one work: KEY gets what only OTHER has, and OTHER is removed.

    JSON output: {"item", "removed", "taken", "differences", "dry_run"}; differences are members of
    which OTHER's value is dropped.
    """

    def work() -> int:
        with opened(session) as library:
            merged = library.merge(keep, other, dry_run=dry_run)
        if is_plain(as_json):
            differences = [
                {"member": difference.member, "kept": difference.kept, "other": difference.other}
                for difference in merged.differences
            ]
            write_json(
                {
                    "item": merged.item,
                    "removed": merged.removed["id"],
                    "taken": list(merged.taken),
                    "differences": differences,
                    "dry_run": merged.dry_run,
                }
            )
            return OK
        verb = "would be" if dry_run else "was"
        lines = [f"{merged.removed['id']} {verb} merged into {merged.item['id']}:"]
        lines += [f"  {described(merged.item)}"]
        if merged.taken:
            lines.append(f"  taken: {', '.join(merged.taken)}")
        lines += [
            f"  dropped {difference.member}: {printable(str(difference.other), 200)}"
            for difference in merged.differences
        ]
        write_text("\n".join(printable(line, 1000) for line in lines) + "\n")
        return OK

    return library_exit(session, work)


def granted(config: Config, path: Path) -> Config:
    """Returns the configuration with one more folder whose files may be read."""
    folders = tuple(dict.fromkeys((*config.documents.folders, path.resolve().parent)))
    return replace(config, documents=config.documents._replace(folders=folders))
