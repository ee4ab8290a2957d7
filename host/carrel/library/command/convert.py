"""Implements `carrel library convert`."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.command import command
from carrel.cli.document import STDIN, read_document
from carrel.cli.output import write_json_text, write_text
from carrel.cli.report import FAILED, OK, complain, report
from carrel.cli.session import Session
from carrel.errors import ArgumentError, CarrelError, StorageError
from carrel.text.printable import escaped_json_text, printable

if TYPE_CHECKING:
    from carrel.bibliography import Bibliography, Item

_READABLE = ("csl-json", "bibtex", "biblatex", "ris", "nbib", "endnote")
_WRITABLE = ("csl-json", "bibtex", "biblatex", "ris", "endnote", "word")


@dataclass(frozen=True, slots=True)
class _Conversion:
    """The formats of a conversion, and its output file."""

    target: str
    source: str | None
    output: Path | None

    def read(self, name: str) -> Bibliography:
        """Returns the bibliography of a file.

        Raises:
            CarrelError: it cannot be read.
        """
        from carrel.bibliography import BibliographyError, read_bibliography
        from carrel.bibliography.limits import MAX_BYTES

        data = read_document(name, cap=MAX_BYTES, plugin="", document_format="convert")
        try:
            return read_bibliography(data, self.source, name=name)
        except BibliographyError as error:
            shown = "stdin" if name == STDIN else printable(name, 300)
            message = f"{shown}: {error.message}"
            raise BibliographyError(error.bibliography_code, message) from None

    def write(self, text: str) -> None:
        """Writes a text to the file that was named, atomically, or to stdout.

        Raises:
            StorageError: the file cannot be written.
        """
        if self.output is None:
            write_text(text)
            return
        from carrel.files.atomic_write import write_atomically

        try:
            write_atomically(self.output, text.encode("utf-8", "replace"), mode=None)
        except OSError as error:
            message = f"cannot be written: {error.strerror or error}"
            raise StorageError(str(self.output), message) from error


@command("convert", example="library convert refs.bib --to csl-json --output refs.json")
@click.argument("files", metavar="[FILE… | -]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Choice(_WRITABLE),
    help="The format to write; word is the XML of Word's list of sources.",
)
@click.option(
    "--from",
    "source",
    type=click.Choice(_READABLE),
    help="The format of the files; found by their content without it.",
)
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to this file instead of stdout, all at once.",
)
@click.option("--jsonl", is_flag=True, help="One line of JSON for each file.")
def convert_command(  # noqa: PLR0917 - click hands all of them by name
    session: Session,
    files: tuple[str, ...],
    target: str,
    source: str | None,
    output: Path | None,
    jsonl: bool,
) -> int:
    """Convert bibliographies from one format to another, without a library.

    Without FILE, or with -, the bibliography comes from stdin. Entries of several files are written
    as one bibliography. What cannot be read is named on stderr with its line, and the rest is
    converted. With --jsonl: {"file", "result"} or {"file", "error"}, in order; a result has
    "format", "items" (CSL-JSON) or "text", and "unread". A bad file does not stop the rest, and the
    exit code is 1 at the end.
    """
    conversion = _Conversion(target, source, output)
    names = files or (STDIN,)
    if names.count(STDIN) > 1:
        raise ArgumentError(["stdin can be read only once"])
    if len(names) > 1:
        gc.enable()  # off until here, see `__main__`; many documents make much garbage
    if jsonl:
        return _convert_to_lines(conversion, names)
    return _convert_to_one(conversion, names, as_json=session.options.json_errors)


def _convert_to_one(conversion: _Conversion, names: Sequence[str], *, as_json: bool) -> int:
    from carrel.bibliography import write_bibliography

    code = OK
    items: list[Item] = []
    for name in names:
        try:
            found = conversion.read(name)
        except CarrelError as error:
            if len(names) == 1:
                raise
            code = FAILED
            report(error, as_json=as_json)
            continue
        items += (entry.item for entry in found.entries)
        for problem in _problems(name, found):
            complain(f"carrel: {problem}")
    conversion.write(write_bibliography(items, conversion.target))
    return code


def _problems(name: str, found: Bibliography) -> Iterator[str]:
    for unread in found.unread:
        location = f", line {unread.line}" if unread.line is not None else ""
        shown = "stdin" if name == STDIN else printable(name, 300)
        yield f"{shown}{location}: {printable(unread.label, 100)}: {printable(unread.problem, 500)}"


def _convert_to_lines(conversion: _Conversion, names: Sequence[str]) -> int:
    code = OK
    written: list[str] = []
    for name in names:
        try:
            line = {"file": name, "result": _result(conversion, name)}
        except CarrelError as error:
            code = FAILED
            line = {"file": name, "error": error.to_dict()}
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=str)
        if conversion.output is None:
            write_json_text(text)
        else:
            written.append(f"{escaped_json_text(text)}\n")
    if conversion.output is not None:
        conversion.write("".join(written))
    return code


def _result(conversion: _Conversion, name: str) -> dict[str, Any]:
    from carrel.bibliography import write_bibliography

    found = conversion.read(name)
    items = [entry.item for entry in found.entries]
    text = write_bibliography(items, conversion.target)
    result: dict[str, Any] = {"format": found.format}
    if conversion.target == "csl-json":
        result["items"] = json.loads(text)
    else:
        result["text"] = text
    result["unread"] = [
        {"label": unread.label, "line": unread.line, "problem": unread.problem}
        for unread in found.unread
    ]
    return result
