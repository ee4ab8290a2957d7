"""Implements the commands of `carrel papers` that read papers and check them: read, retractions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.command import AS_JSON, EXCHANGE, command
from carrel.cli.output import stdout_is_terminal, write_json, write_json_text, write_text
from carrel.cli.progress import Progress
from carrel.cli.reading_options import format_option, part_options
from carrel.cli.report import OK, complain
from carrel.documents.schema import MAX_CHARS, MIN_CHARS
from carrel.papers.errors import exit_code_of
from carrel.papers.reading.forms import FORMS
from carrel.text.printable import printable, printable_lines

from .output import with_stdin

if TYPE_CHECKING:
    from carrel.cli.session import Session


@command(
    "read",
    example="papers read arXiv:2301.00001 --section Methods",
    options=(AS_JSON, *EXCHANGE),
)
@click.argument("ref", metavar="REF")
@part_options(MIN_CHARS, MAX_CHARS)
@click.option(
    "--form", type=click.Choice(FORMS), help="Only this form; the best there is if absent."
)
@format_option()
def read_command(  # noqa: PLR0917 - click passes options by name
    session: Session,
    ref: str,
    section: str | None,
    start: int | None,
    max_chars: int | None,
    form: str | None,
    text_format: str,
    as_json: bool,
) -> int:
    """Read a paper's own words in the best form there is: JATS, HTML, TeX source, PDF.

    Sources with full texts are asked, then the stored PDF is read. Where the text is from, and what
    was tried before, is said on stderr. On a terminal headings and tables are shown as such, in a
    pipe the Markdown comes as it is. With --json: the result of the tool paper_read, the outline
    first if the text is long.
    """
    options = {"section": section, "from": start, "form": form}
    arguments: dict[str, Any] = {"ref": ref, "format": text_format}
    arguments |= {name: value for name, value in options.items() if value is not None}
    if not as_json:
        arguments["max_chars"] = MAX_CHARS
        arguments.setdefault("from", 0)  # the text, and not its outline
    if max_chars is not None:
        arguments["max_chars"] = max_chars
    with session.open() as host, Progress("read") as progress:
        result = host.call("paper_read", arguments, on_progress=progress.update)
    envelope: dict[str, Any] = result.data
    if as_json:
        write_json_text(result.text)
    elif envelope["ok"]:
        _show_text(envelope, text_format)
    if not envelope["ok"]:
        complain(f"carrel: {printable(ref, 100)}: {printable(envelope['error']['message'], 1000)}")
        return exit_code_of(envelope["error"]["code"])
    if not as_json:
        for line in _origin(envelope):
            complain(f"carrel: {line}")
    return OK


@command(
    "retractions",
    example="papers retractions 10.1016/S0140-6736(97)11096-0",
    options=(AS_JSON, *EXCHANGE),
)
@click.argument("refs", metavar="REF…", nargs=-1, required=True, type=click.UNPROCESSED)
def retractions_command(session: Session, refs: tuple[str, ...], as_json: bool) -> int:
    """Show which sources say that papers were retracted, corrected or are of concern.

    - reads references from stdin, one a line. JSON output: the result of the tool
    paper_retractions; several references give one line each, in order. Exit code 0 means that all
    were checked, whatever was found.
    """
    code = OK
    with session.open() as host, Progress("retractions") as progress:
        for ref in with_stdin(refs):
            result = host.call("paper_retractions", {"ref": ref}, on_progress=progress.update)
            envelope: dict[str, Any] = {**result.data, "ref": ref}
            if as_json or not stdout_is_terminal():
                write_json(envelope)
            elif envelope["ok"]:
                _show_retractions(envelope)
            if not envelope["ok"]:
                message = printable(envelope["error"]["message"], 500)
                complain(f"carrel: {printable(ref, 100)}: {message}")
                code = code or exit_code_of(envelope["error"]["code"])
    return code


def _show_text(result: dict[str, Any], text_format: str) -> None:
    text, mark = printable_lines(result["text"]), ""
    if "next" in result:
        end = f"of {result['length']} characters; the next part: --form {result['form']}"
        mark = f"\n[{end} --from {result['next']}]\n"
    if stdout_is_terminal() and text_format == "markdown":
        from carrel.cli.render import show_markdown

        show_markdown(text, heading="", end=mark.strip())
    else:
        write_text(text + mark)


def _origin(result: dict[str, Any]) -> Iterable[str]:
    """Yields where a text is from, and what was tried before it."""
    for attempt in result["attempts"]:
        if attempt["consulted"] and attempt["outcome"] != "consulted_resolved":
            form = f" {attempt['form']}:" if "form" in attempt else ""
            yield printable(
                f"{attempt['source']}:{form} {attempt.get('detail', attempt['outcome'])}", 500
            )
    facts = [
        f"form {result['form']}",
        result.get("version"),
        f"licence {result['license']}",
        f"quality {result['quality']}",
        result.get("url"),
    ]
    yield printable(
        f"read from {result['source']}: {', '.join(fact for fact in facts if fact)}", 1000
    )


def _show_retractions(result: dict[str, Any]) -> None:
    from carrel.cli.render import table

    write_text(f"{result.get('title', result['ref'])}\n{result['summary']}\n")
    for line in result["disagreements"]:
        write_text(f"{line}\n")
    rows = [
        (
            statement["source"],
            statement["kind"].replace("_", " "),
            statement.get("doi") or (f"PMID {statement['pmid']}" if "pmid" in statement else ""),
            statement.get("date", ""),
            statement.get("stated_by", ""),
        )
        for statement in result["statements"]
    ]
    if rows:
        table(("source", "says", "notice", "date", "stated by"), rows)
    for answer in result["sources"]:
        if answer["outcome"] == "failed":
            complain(f"carrel: {answer['source']} did not answer: {answer.get('detail', '')}")
