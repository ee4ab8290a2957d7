"""Implements `carrel papers fetch`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from carrel.cli.command import AS_JSON, EXCHANGE, command
from carrel.cli.file_bars import FileBars
from carrel.cli.output import stdout_is_terminal, write_json
from carrel.cli.report import FAILED, OK, complain
from carrel.errors import ArgumentError
from carrel.papers.errors import PaperError, exit_code_of
from carrel.text.printable import printable

from .output import paper_exit

if TYPE_CHECKING:
    from carrel.cli.session import Host, Session
    from carrel.papers.bibliography import ListedReference

#: References of one call of the tool.
_AT_ONCE: Final = 100
#: Endings of files that are taken for a list of references and not for a reference.
_ENDINGS: Final = frozenset({".bib", ".ris", ".json", ".txt", ".bibtex", ".csv"})


@command(
    "fetch",
    example="papers fetch 10.1371/journal.pone.0000001 arXiv:2301.00001",
    options=(AS_JSON, *EXCHANGE),
)
@click.argument("refs", metavar="[REF… | FILE… | -]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--from",
    "files",
    metavar="FILE",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Read references from a bibliography (BibTeX, RIS, CSL-JSON) or a list; may be repeated.",
)
@click.option(
    "--prefer",
    type=click.Choice(("open", "version-of-record")),
    default="open",
    help="Which copies are tried first: open ones (arXiv, repository, publisher) by default.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
def fetch_command(  # noqa: PLR0917 - click passes options by name
    session: Session,
    refs: tuple[str, ...],
    files: tuple[Path, ...],
    prefer: str,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Download the PDFs of papers into the store.

    A REF is an identifier, its URL or a citation; a name that ends in .bib, .ris, .json or .txt is
    a bibliography or a list, and - reads one from stdin. What did not come is named with the
    reason. JSON output: {"ok", "results", "summary"}; a line each for more than 100 references.
    The exit code is that of the first failure, such as 3 for a policy and 1 for no open copy.
    """
    if not (refs or files):
        raise ArgumentError(["name a reference, or a bibliography with --from"])

    def work() -> int:
        listed = list(_listed(refs, files))
        references = [entry.reference for entry in listed if entry.reference]
        answers: list[dict[str, Any]] = []
        arguments = {"prefer": prefer.replace("-", "_"), "dry_run": dry_run}
        with session.open() as host, FileBars(len(references)) as bars:
            for start in range(0, len(references), _AT_ONCE):
                part = references[start : start + _AT_ONCE]
                answers.append(_fetch(host, part, arguments, bars, start))
        return _show(listed, answers, as_json=as_json)

    return paper_exit(session, work)


def _listed(refs: Sequence[str], files: Sequence[Path]) -> Iterator[ListedReference]:
    """Yields references in the order of the arguments, then those of `--from`."""
    from carrel.cli.stdin import read_stdin
    from carrel.papers.bibliography import ListedReference, read_bibliography

    for ref in refs:
        if ref == "-":
            yield from read_bibliography(read_stdin().encode("utf-8", "surrogateescape"))
        elif Path(ref).suffix.lower() in _ENDINGS and Path(ref).is_file():
            yield from read_bibliography(_content(Path(ref)))
        else:
            yield ListedReference(ref, ref)
    for path in files:
        yield from read_bibliography(_content(path))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PaperError("INVALID_REF", f"{path}: {error.strerror or error}") from None


def _fetch(
    host: Host, refs: Sequence[str], arguments: dict[str, Any], bars: FileBars, before: int
) -> dict[str, Any]:
    from carrel.papers.file_news import read_message

    def update(ended: float, _total: float | None, message: str) -> None:
        bars.count(before + ended)
        news = read_message(message)
        if news is None:
            return
        if news.has_ended:
            bars.end(news.reference)
        else:
            bars.update(news.reference, news.words, news.done, news.total)

    result = host.call("paper_batch_fetch", {"refs": list(refs), **arguments}, on_progress=update)
    envelope: dict[str, Any] = result.data
    return envelope


def _show(
    listed: Sequence[ListedReference], answers: Sequence[dict[str, Any]], *, as_json: bool
) -> int:
    failed = [answer for answer in answers if not answer["ok"]]
    rows = [row for answer in answers for row in answer.get("results", ())]
    if as_json or not stdout_is_terminal():
        for answer in answers:
            write_json(answer)
    elif rows:
        _show_rows(rows)
    code = OK
    for answer in failed:
        complain(f"carrel: {printable(answer['error']['message'], 500)}")
        code = code or exit_code_of(answer["error"]["code"])
    for row in rows:
        if not row["ok"]:
            complain(f"carrel: {printable(row['ref'], 100)}: {_why(row['error'])}")
            code = code or exit_code_of(row["error"]["code"])
        elif row.get("retracted"):
            complain(f"carrel: {printable(row['ref'], 100)}: this paper is retracted")
    for entry in listed:
        if entry.problem:
            complain(f"carrel: {printable(entry.label, 100)}: {printable(entry.problem, 300)}")
            code = code or FAILED
    return code


def _show_rows(rows: Sequence[dict[str, Any]]) -> None:
    from carrel.cli.render import table

    if rows[0].get("dry_run"):
        table(
            ("paper", "would be stored as", "copies from"),
            [
                (
                    " ".join(row["ref"].values()),
                    row["plan"]["target_pdf_path"],
                    ", ".join(source["key"] for source in row["plan"]["pdf_sources"]),
                )
                for row in rows
            ],
        )
        return
    table(
        ("reference", "outcome", "source", "licence", "file"),
        [
            (
                row["ref"],
                row["pdf"]["status"] if row["ok"] else row["error"]["code"],
                row.get("source", ""),
                row.get("license", ""),
                row.get("path", ""),
            )
            for row in rows
        ],
    )


def _why(error: dict[str, Any]) -> str:
    notes = [setting["note"] for setting in error.get("remediation", ())]
    return printable("; ".join([error["message"], *notes]), 500)
