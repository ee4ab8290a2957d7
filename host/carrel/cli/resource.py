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
        listing = {"resources": _descriptions(resources), "templates": _descriptions(templates)}
        write_json(listing)
    else:
        _show_list(resources, templates)
    return OK


def _descriptions(offered: Sequence[Resource | Template]) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in asdict(item).items() if value not in {None, ""}}
        for item in offered
    ]


def _show_list(resources: Sequence[Resource], templates: Sequence[Template]) -> None:
    from .render import table

    headings = ("plugin", "type", "what it is")
    table(
        ("resource", *headings),
        [
            (resource.uri, resource.plugin, resource.mime_type or "", _about(resource))
            for resource in resources
        ],
        title="Resources",
    )
    if templates:
        table(
            ("template", *headings),
            [
                (template.uri_template, template.plugin, template.mime_type or "", _about(template))
                for template in templates
            ],
            title="Templates",
        )


def _about(item: Resource | Template) -> str:
    return item.description or item.title or item.name
