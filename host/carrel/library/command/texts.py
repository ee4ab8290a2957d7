"""The commands for full texts: attach, detach, fulltext."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.command import AS_JSON, LIBRARY, command
from carrel.cli.output import write_json, write_text
from carrel.cli.report import OK
from carrel.text.printable import printable_lines

from .changing import granted
from .options import is_plain, library_config, library_exit

if TYPE_CHECKING:
    from carrel.cli.session import Session
    from carrel.config import Config


@command("attach", example="library attach marlow-2019 paper.pdf", options=(AS_JSON, LIBRARY))
@click.argument("key", metavar="KEY")
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Replace the attached file of this kind.")
def attach_command(session: Session, key: str, path: Path, replace: bool, as_json: bool) -> int:
    """Copy a PDF or Markdown file beside the library, as the full text of a reference.

    JSON output: {"id", "kind", "filename", "path", "bytes", "replaced"}.
    """

    def work() -> int:
        config = granted(library_config(session), path)
        arguments = {"id": key, "path": str(path.resolve()), "replace": replace}
        told = _call(session, config, "library_fulltext_attach", arguments)
        if is_plain(as_json):
            write_json(told)
        else:
            write_text(f"{told['path']}\n")
        return OK

    return library_exit(session, work)


@command("detach", example="library detach marlow-2019 --kind pdf", options=(AS_JSON, LIBRARY))
@click.argument("key", metavar="KEY")
@click.option("--kind", type=click.Choice(("pdf", "markdown")), help="Only this one.")
@click.option("--delete", is_flag=True, help="Delete the file too.")
def detach_command(
    session: Session,
    key: str,
    kind: str | None,
    delete: bool,
    as_json: bool,
) -> int:
    """Detach the full texts of a reference; the files stay unless --delete is given.

    JSON output: {"id", "detached", "deleted"}.
    """

    def work() -> int:
        arguments: dict[str, Any] = {"id": key, "delete": delete}
        if kind is not None:
            arguments["kind"] = kind
        config = library_config(session)
        told = _call(session, config, "library_fulltext_detach", arguments)
        if is_plain(as_json):
            write_json(told)
        else:
            write_text("".join(f"{name}\n" for name in told["detached"]))
        return OK

    return library_exit(session, work)


@command("fulltext", example="library fulltext marlow-2019", options=(AS_JSON, LIBRARY))
@click.argument("key", metavar="KEY")
@click.option("--text", is_flag=True, help="Also the text of a PDF without Markdown.")
def fulltext_command(session: Session, key: str, text: bool, as_json: bool) -> int:
    """Show the attached full text of a reference: the Markdown, or the path of the PDF.

    JSON output: {"id", "pdf", "text", "source"}.
    """

    def work() -> int:
        config = library_config(session)
        arguments: dict[str, Any] = {"id": key, "read_pdf": text, "max_chars": 400_000}
        told = _call(session, config, "library_fulltext_get", arguments)
        parts = [told.get("text", "")]
        while "next" in told:
            arguments["from"] = told["next"]
            more = _call(session, config, "library_fulltext_get", arguments)
            parts.append(more["text"])
            told = {**told, "next": more["next"]} if "next" in more else _without_next(told)
        if "text" in told:
            told["text"] = "".join(parts)
        if is_plain(as_json):
            write_json(told)
        elif "text" in told:
            write_text(printable_lines(told["text"]).rstrip() + "\n")
        else:
            write_text(f"{told['pdf']}\n")
        return OK

    return library_exit(session, work)


def _without_next(told: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name != "next"}


def _call(session: Session, config: Config, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    with session.open(config) as host:
        found: dict[str, Any] = host.call(tool, arguments).data
    return found
