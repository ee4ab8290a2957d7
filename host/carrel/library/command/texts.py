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
        result = _call(session, config, "library_fulltext_attach", arguments)
        if is_plain(as_json):
            write_json(result)
        else:
            write_text(f"{result['path']}\n")
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
        result = _call(session, config, "library_fulltext_detach", arguments)
        if is_plain(as_json):
            write_json(result)
        else:
            write_text("".join(f"{name}\n" for name in result["detached"]))
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
        result = _call(session, config, "library_fulltext_get", arguments)
        parts = [result.get("text", "")]
        while "next" in result:
            arguments["from"] = result["next"]
            more = _call(session, config, "library_fulltext_get", arguments)
            parts.append(more["text"])
            result = {**result, "next": more["next"]} if "next" in more else _without_next(result)
        if "text" in result:
            result["text"] = "".join(parts)
        if is_plain(as_json):
            write_json(result)
        elif "text" in result:
            write_text(printable_lines(result["text"]).rstrip() + "\n")
        else:
            write_text(f"{result['pdf']}\n")
        return OK

    return library_exit(session, work)


def _without_next(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name != "next"}


def _call(session: Session, config: Config, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    with session.open(config) as host:
        found: dict[str, Any] = host.call(tool, arguments).data
    return found
