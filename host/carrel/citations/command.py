"""Implements `carrel cite`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from carrel._lazy import import_name
from carrel.cli.command import LIBRARY, command
from carrel.cli.document import STDIN, document_text, read_document
from carrel.cli.output import stdout_is_terminal, write_json_text, write_text
from carrel.cli.report import FAILED, OK, complain, report
from carrel.errors import ArgumentError
from carrel.text.printable import printable, printable_lines

from . import styles
from .documents import (
    CitedKey,
    CitedWork,
    DocumentCitation,
    DocumentCitations,
    document_kind,
    find_citations,
)
from .items import by_id, read_items
from .locales import find_locale
from .manuscript import RenderedManuscript, render_manuscript
from .request import FORMATS, Item, OutputFormat, RenderRequest
from .unknown_keys import UnknownKeyError

if TYPE_CHECKING:
    from carrel.cli.session import Session
    from carrel.config import Config

    from .rendering import Rendering


@dataclass(frozen=True, slots=True)
class _Shown:
    """How results are written."""

    output_format: OutputFormat
    citations: bool
    jsonl: bool


@command("cite", example="cite paper.md --items library.json --style ieee", options=(LIBRARY,))
@click.argument("works", metavar="[KEY… | MANUSCRIPT]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--items",
    "items_file",
    metavar="FILE",
    help="Works in CSL-JSON, BibTeX, RIS…, in place of the library; - is stdin.",
)
@click.option(
    "--style",
    "style_name",
    metavar="NAME|FILE",
    help="A style by name, such as ieee, or a .csl file; that of the settings, or apa, by default.",
)
@click.option(
    "--locale",
    metavar="TAG",
    help="The language, such as de-DE, in place of that of the settings or the style.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(FORMATS),
    default=FORMATS[0],
    help="text is the default.",
)
@click.option("--citations", is_flag=True, help="Show the citations in the text too.")
@click.option("--list-styles", is_flag=True, help="Show the names of the styles.")
@click.option("--jsonl", is_flag=True, help="One line of JSON for each citation and entry.")
def cite(  # noqa: PLR0917 - click hands all of them by name
    session: Session,
    works: tuple[str, ...],
    items_file: str | None,
    style_name: str | None,
    locale: str | None,
    output_format: OutputFormat,
    citations: bool,
    list_styles: bool,
    jsonl: bool,
) -> int:
    """Write the bibliography of works, or of a manuscript, in a citation style.

    KEY is the key of a work, or a citation as in Markdown, such as '[see @doe2020, p. 3; -@roe]'. A
    MANUSCRIPT is one Markdown (.md, .qmd, .Rmd), LaTeX (.tex) or Typst (.typ) file, whose citations
    are found; - is Markdown from stdin. Without either, all works of --items are written. Works are
    those of the library, or of --items.

    One entry a line, in the style's order. With --citations, each citation comes first, with its
    line and column. With --jsonl: {"id", "text"}. A key that no work has is named on stderr with
    its place, and the exit code is 1.
    """
    if list_styles:
        return _show_styles(jsonl=jsonl)
    config = session.config()
    style = styles.find_style(style_name or config.library.style, files=True)
    tag = locale or config.library.locale
    language = find_locale(tag) if tag is not None else None
    shown = _Shown(output_format, citations, jsonl)
    cap = config.limits_for("").response_bytes
    manuscript = _manuscript(works)
    if manuscript == STDIN == items_file:
        raise ArgumentError(["stdin can be the manuscript or the items, not both"])
    found = _citations(works, manuscript, cap)
    if found is None and items_file is None:
        raise ArgumentError(["name keys or a manuscript, or give works with --items FILE"])
    items = _items(items_file, config, cap)
    with session.open(config) as host:
        engine = host.citation_engine()
        if found is None:
            request = RenderRequest(list(items.values()), style, language, output_format)
            rendering = engine.render(request)
            _warn(rendering)
            _show_entries(rendering, shown)
            return OK
        rendered = render_manuscript(
            engine, found, items, style, locale=language, output_format=output_format
        )
    _warn(rendered.rendering)
    if citations:
        _show_citations(rendered, shown, placed=manuscript is not None)
    _show_entries(rendered.rendering, shown)
    where = "" if manuscript is None else "stdin" if manuscript == STDIN else manuscript
    library = import_name("carrel.library.opening:library_path")(config)
    source = {"items_file": items_file, "library": str(library)}
    return _report_unknown(session, rendered.unknown, items, where, source, jsonl=jsonl)


def _show_styles(*, jsonl: bool) -> int:
    for style in styles.list_styles():
        if jsonl:
            record = {
                "name": style.name,
                "title": style.title,
                "citation_format": style.citation_format,
            }
            _write_line(record)
        else:
            write_text(f"{style.name:34}{style.title}\n")
    return OK


def _manuscript(works: Sequence[str]) -> str | None:
    """Returns the file among the words; None if they are keys."""
    files = [word for word in works if word == STDIN or document_kind(word) is not None]
    if files and len(works) > 1:
        raise ArgumentError([f"{files[0]} is a manuscript; name one manuscript, or only keys"])
    return files[0] if files else None


def _citations(works: Sequence[str], manuscript: str | None, cap: int) -> DocumentCitations | None:
    if manuscript is not None:
        data = read_document(manuscript, cap=cap, plugin="", document_format="cite")
        text = document_text(data, manuscript, plugin="", document_format="cite").data.decode()
        return find_citations(text, document_kind(manuscript) or "markdown")
    if not works:
        return None
    citations: list[DocumentCitation] = []
    for word in works:
        found = find_citations(word, "markdown").citations if "@" in word else ()
        citations += found or (DocumentCitation((CitedWork(CitedKey(word, 0, 0)),)),)
    return DocumentCitations(tuple(citations))


def _items(name: str | None, config: Config, cap: int) -> Mapping[str, Item]:
    """Returns the works of a file, or of the library, by id."""
    if name is None:
        library = import_name("carrel.library.opening:open_library")(config)
        try:
            items: Iterable[Item] = library.items()
        finally:
            library.close()
        return by_id(items)[0]
    shown = "stdin" if name == STDIN else name
    data = read_document(name, cap=cap, plugin="", document_format="cite")
    read, unread = read_items(data, shown)
    found, twice = by_id(read)
    for problem in [*unread, *(f"{shown}: {key}: is there more than once" for key in twice)]:
        complain(printable(f"carrel: {problem}", 400))
    return found


def _warn(rendering: Rendering) -> None:
    for warning in rendering.warnings:
        complain(printable(f"carrel: {warning.message}", 400))


def _show_citations(rendered: RenderedManuscript, shown: _Shown, *, placed: bool) -> None:
    for citation in rendered.citations:
        if shown.jsonl:
            position = {"line": citation.at.line, "column": citation.at.column} if placed else {}
            _write_line({**position, "keys": citation.keys, "citation": citation.text})
        else:
            prefix = f"{citation.at.line}:{citation.at.column}: " if placed else ""
            write_text(printable_lines(f"{prefix}{_line(citation.text)}\n"))
    if rendered.citations and not shown.jsonl:
        write_text("\n")


def _show_entries(rendering: Rendering, shown: _Shown) -> None:
    if shown.jsonl:
        for entry in rendering.entries:
            label = {"label": entry.label} if entry.label is not None else {}
            _write_line({"id": entry.id, "text": entry.text, **label})
        return
    texts = [_line(entry.text) for entry in rendering.entries]
    if shown.output_format == "html":
        texts = [f'<div class="csl-entry">{text}</div>' for text in texts]
    if stdout_is_terminal() and shown.output_format == "text":
        _show_wrapped(texts, 4 if rendering.layout.hanging_indent else 0)
        return
    # A blank line ends a paragraph in Markdown and LaTeX.
    between = "\n\n" if shown.output_format in {"markdown", "latex"} else "\n"
    if texts:
        write_text(printable_lines(between.join(texts) + "\n"))


def _show_wrapped(texts: Sequence[str], indent: int) -> None:
    """Prints entries wrapped to the terminal, all lines but the first of each indented."""
    from carrel.cli.render import PARAGRAPH, console
    from carrel.cli.render import text as rich_text

    out = console()
    for entry in texts:
        shown = rich_text(entry, limit=PARAGRAPH)
        for number, line in enumerate(shown.wrap(out, max(out.width - indent, 8), overflow="fold")):
            line.rstrip()
            line.pad_left(indent if number else 0)
            out.print(line, soft_wrap=True)


def _report_unknown(
    session: Session,
    unknown: Sequence[CitedKey],
    items: Mapping[str, Item],
    where: str,
    source: Mapping[str, Any],
    *,
    jsonl: bool,
) -> int:
    for at in unknown:
        location = f"{where}:{at.line}:{at.column}: " if where else ""
        error = UnknownKeyError(at.key, items, where=location, **source)
        if jsonl:
            _write_line(
                {"key": at.key, "line": at.line, "column": at.column, "error": error.to_dict()}
            )
        else:
            report(error, as_json=session.options.json_errors)
    return FAILED if unknown else OK


def _line(text: str) -> str:
    """Returns a text on one line; a no-break space stays."""
    return " ".join(line.strip() for line in text.split("\n") if line.strip())


def _write_line(value: Mapping[str, Any]) -> None:
    write_json_text(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))
