"""Implements `carrel web`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from carrel.cli.command import AS_JSON, EXCHANGE, ExampleGroup, command
from carrel.cli.output import stdout_is_terminal, write_json_text, write_text
from carrel.cli.progress import Progress
from carrel.cli.reading_options import format_option, part_options
from carrel.cli.report import OK, complain
from carrel.cli.session import Session
from carrel.errors import ConfigError
from carrel.text.printable import printable, printable_lines

from .research.command import research
from .schema import MAX_LENGTH, MIN_LENGTH
from .search.command import search_command

web = ExampleGroup("web", help="Search the web, and read pages of it.", no_args_is_help=True)
web.example = "web read https://www.rfc-editor.org/rfc/rfc9309.html"


@command(
    "read",
    example="web read https://www.rfc-editor.org/rfc/rfc9309.html --section Introduction",
    options=(AS_JSON, *EXCHANGE),
)
@click.argument("url", metavar="URL")
@part_options(MIN_LENGTH, MAX_LENGTH)
@format_option()
@click.option("--raw", is_flag=True, help="The page's source as it came.")
def read_command(  # noqa: PLR0917 - click passes options by name
    session: Session,
    url: str,
    section: str | None,
    start: int | None,
    max_chars: int | None,
    text_format: str,
    raw: bool,
    as_json: bool,
) -> int:
    """Read a page of the public web as Markdown: HTML, Markdown, text, PDF, Office.

    The setting web.hosts must be public-web. One page for one person, so robots.txt is not asked.
    On a terminal headings and tables are shown as such, in a pipe the Markdown comes as it is. JSON
    output: the result of the tool web_read, the outline first if the page is long.
    """
    options = {"section": section, "from": start, "max_length": max_chars}
    arguments: dict[str, Any] = {"url": url, "format": text_format}
    arguments |= {name: value for name, value in options.items() if value is not None}
    if raw:
        arguments["mode"] = "raw"
    if not as_json:
        arguments.setdefault("max_length", MAX_LENGTH)
        if section is None:
            arguments.setdefault("from", 0)  # the text, and not its outline
    config = session.config()
    if config.web.hosts is None:
        raise ConfigError(['web.hosts is not set; set it to "public-web" to read pages'])
    with session.open(replace(config, by_person=True)) as host, Progress("read") as progress:
        result = host.call("web_read", arguments, on_progress=progress.update)
    page: dict[str, Any] = result.data
    if as_json:
        write_json_text(result.text)
        return OK
    _show(page, is_markdown=text_format == "markdown" and not raw)
    facts = [page["url"], page["content_type"], page.get("quality")]
    complain(f"carrel: {printable('read ' + ', '.join(filter(None, facts)), 1000)}")
    return OK


def _show(page: dict[str, Any], *, is_markdown: bool) -> None:
    text, mark = printable_lines(page["text"]), ""
    if "next" in page:
        mark = f"\n[of {page['length']} characters; the next part: --from {page['next']}]\n"
    if stdout_is_terminal() and is_markdown:
        from carrel.cli.render import show_markdown

        show_markdown(text, heading="", end=mark.strip())
    else:
        write_text(text + mark)


web.add_command(search_command)
web.add_command(read_command)
web.add_command(research)
