"""Implements `carrel read`."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.command import command
from carrel.cli.document import STDIN, read_document
from carrel.cli.output import stdout_is_terminal, write_json, write_json_text, write_text
from carrel.cli.progress import Progress
from carrel.cli.reading_options import FORMATS, format_option, part_options
from carrel.cli.report import FAILED, OK, report
from carrel.cli.session import Host, Session
from carrel.errors import ArgumentError, CarrelError
from carrel.text.printable import printable, printable_lines

if TYPE_CHECKING:
    from .parts import DocumentPart
    from .reading import ReadDocument

_FORMATS = (*FORMATS, "json")


@dataclass(frozen=True, slots=True)
class _ReadOptions:
    """The options that apply to each document."""

    text_format: str
    pages: str | None
    section: str | None
    start: int
    max_chars: int | None

    def read(self, host: Host, name: str, cap: int) -> ReadDocument:
        data = read_document(name, cap=cap, plugin="", document_format="read")
        with Progress(f"reading {'stdin' if name == STDIN else name}") as progress:
            return host.read(
                data,
                pages=self.pages,
                plain=self.text_format == "text",
                on_progress=progress.update,
            )

    def part(self, read: ReadDocument) -> DocumentPart:
        return read.part(section=self.section, start=self.start, max_chars=self.max_chars)


@command("read", example="read paper.pdf --section Methods")
@click.argument("files", metavar="[FILE… | -]", nargs=-1, type=click.UNPROCESSED)
@format_option(
    _FORMATS, "markdown is the default; json is the document with all that was read of it."
)
@click.option("--pages", metavar="RANGE", help="Only these pages, such as 3-7.")
@part_options(1, section="this heading")
@click.option("--jsonl", is_flag=True, help="One line of JSON for each file.")
def read(  # noqa: PLR0917 - click hands all of them by name
    session: Session,
    files: tuple[str, ...],
    text_format: str,
    pages: str | None,
    section: str | None,
    start: int | None,
    max_chars: int | None,
    jsonl: bool,
) -> int:
    """Read papers and pages as Markdown: PDF, HTML, Office, EPUB, JATS, TEI, TeX, text.

    What a file is, is found by its content. Without FILE, or with -, the document comes from stdin.
    On a terminal headings and tables are shown as such, in a pipe the Markdown comes as it is. With
    --max-chars the last line says where the next part begins. With --jsonl: {"file", "text",
    "title", "kind", "quality", "identifiers", "metadata"} or {"file", "error"}, in order; a bad
    file does not stop the rest, and the exit code is 1 at the end.
    """
    if text_format == "json" and (section is not None or start or max_chars is not None or jsonl):
        whole = "--format json gives the whole document"
        raise ArgumentError([f"{whole}; --jsonl, --section, --from and --max-chars are for text"])
    options = _ReadOptions(text_format, pages, section, start or 0, max_chars)
    config = session.config()
    cap = config.limits_for("").response_bytes
    with session.open(config) as host:
        names = files or (STDIN,)
        if len(names) > 1:
            gc.enable()  # off until here, see `__main__`; many documents make much garbage
        return _read_all(session, host, names, options, cap=cap, jsonl=jsonl)


def _read_all(
    session: Session,
    host: Host,
    names: Sequence[str],
    options: _ReadOptions,
    *,
    cap: int,
    jsonl: bool,
) -> int:
    code = OK
    for name in names:
        try:
            _show(name, options.read(host, name, cap), options, jsonl=jsonl, several=len(names) > 1)
        except CarrelError as error:
            if len(names) == 1 and not jsonl:
                raise
            code = FAILED
            if jsonl or options.text_format == "json":
                write_json_text(f'{{"file":{json.dumps(name)},"error":{_json_text(error)}}}')
            else:
                report(error, as_json=session.options.json_errors)
    return code


def _show(
    name: str, read: ReadDocument, options: _ReadOptions, *, jsonl: bool, several: bool
) -> None:
    if options.text_format == "json":
        _show_json(name, read, several=several)
        return
    part = options.part(read)
    if jsonl:
        write_json_text(f'{{"file":{json.dumps(name)},{_json_text(_line(read, part))[1:]}')
        return
    shown = printable(name, 300).encode("utf-8", "replace").decode()
    heading = f"==> {shown} <==\n\n" if several else ""
    mark = _continuation(part)
    if stdout_is_terminal() and options.text_format == "markdown":
        from carrel.cli.render import show_markdown

        show_markdown(printable_lines(part.text), heading=heading.strip(), end=mark.strip())
    else:
        write_text(heading + printable_lines(part.text) + mark + ("\n" if several else ""))


def _show_json(name: str, read: ReadDocument, *, several: bool) -> None:
    if several:
        write_json_text(f'{{"file":{json.dumps(name)},"result":{_json_text(read.document)}}}')
    elif stdout_is_terminal():
        from carrel.cli.results import show_result

        show_result(read.document)
    else:
        write_json(read.document)


def _line(read: ReadDocument, part: DocumentPart) -> dict[str, Any]:
    """Returns a line of --jsonl for a document, without its file."""
    document = read.document
    line: dict[str, Any] = {"text": part.text}
    for name in ("title", "kind", "quality", "quality_reason"):
        if name in document:
            line[name] = document[name]
    line["identifiers"] = document["identifiers"]
    line["metadata"] = document.get("metadata", [])
    line["format"] = read.format
    if part.next is not None:
        line["next"] = part.next
    return line


def _continuation(part: DocumentPart) -> str:
    if part.next is None:
        return ""
    shown = f"characters {part.start} to {part.end} of {part.length}"
    return f"\n[{shown}; the next part: --from {part.next}]\n"


def _json_text(value: CarrelError | dict[str, Any]) -> str:
    plain = value.to_dict() if isinstance(value, CarrelError) else value
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), default=str)
