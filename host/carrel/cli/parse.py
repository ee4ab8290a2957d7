"""Declares `carrel parse`; `parsing` implements it."""

from __future__ import annotations

import click

from .command import AS_JSON, command
from .parsing import parse
from .session import Session

_OPTIONS = click.Option(
    ["--options", "format_options"],
    metavar="JSON",
    help='Options of a binary format, as a JSON object: {"pages": "3-7"}.',
)


@command("parse", example="parse arxiv feed feed.xml", options=(AS_JSON, _OPTIONS))
@click.argument("plugin")
@click.argument("document_format", metavar="FORMAT")
@click.argument("files", metavar="[FILE… | -]", nargs=-1, type=click.UNPROCESSED)
def parse_command(
    session: Session,
    plugin: str,
    document_format: str,
    files: tuple[str, ...],
    *,
    format_options: str | None,
    as_json: bool,
) -> int:
    """Parse documents in a plugin's sandbox.

    Without FILE, or with -, the document comes from stdin. The result of one document goes to
    stdout. Several documents give one line of JSON each, {"file", "result"} or {"file", "error"};
    after an error the others are still parsed, and the exit code is 1. `carrel plugin inspect
    PLUGIN` lists the formats.
    """
    return parse(session, plugin, document_format, files, options=format_options, as_json=as_json)
