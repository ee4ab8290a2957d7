"""Implements `carrel read-resource`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from .command import AS_JSON, EXCHANGE, command
from .output import stdout_is_terminal, write_json
from .progress import Progress
from .report import OK
from .session import Session
from .tool_call import show
from .tools import complain_about_broken_plugins

if TYPE_CHECKING:
    from carrel.tools.resources import Resource, Template


@command(
    "read-resource",
    example="read-resource pubmed-connect://info",
    options=(AS_JSON, *EXCHANGE),
)
@click.argument("uri", metavar="[URI]", required=False)
def read_resource(session: Session, uri: str | None, as_json: bool) -> int:
    """Read a plugin's resource by URI, or list the resources.

    URI is listed or matches a template. JSON output: the document as the plugin returned it,
    {contents} for an Extism module; for the list, {resources, templates}.
    """
    with session.open() as host:
        if uri is not None:
            with Progress("read-resource"):
                result = host.read_resource(uri)
            show(result, as_json=as_json)
            return OK
        with Progress("read-resource"):
            resources, templates = list(host.resources()), list(host.resource_templates())
        complain_about_broken_plugins(host, as_json=session.options.json_errors)
    if as_json or not stdout_is_terminal():
        listing = {"resources": _known(resources), "templates": _known(templates)}
        write_json(listing)
    else:
        _show_list(resources, templates)
    return OK


def _known(offered: Sequence[Resource | Template]) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in asdict(one).items() if value not in {None, ""}}
        for one in offered
    ]


def _show_list(resources: Sequence[Resource], templates: Sequence[Template]) -> None:
    from .render import table

    headings = ("plugin", "type", "what it is")
    table(
        ("resource", *headings),
        [(one.uri, one.plugin, one.mime_type or "", _about(one)) for one in resources],
        title="Resources",
    )
    if templates:
        table(
            ("template", *headings),
            [(one.uri_template, one.plugin, one.mime_type or "", _about(one)) for one in templates],
            title="Templates",
        )


def _about(one: Resource | Template) -> str:
    return one.description or one.title or one.name
