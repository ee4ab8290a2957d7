"""Runs `carrel serve --surface` with the official client, against recorded exchanges."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from carrel.exchange import Request, Response
from carrel.fetch.recording import Recordings

#: The header `accept` of downloads of PDFs.
PDF_ACCEPTED = "application/pdf, */*;q=0.1"
EXAMPLES = Path(__file__).parents[2] / "examples" / "recordings"

#: Name of a call → the tool and its arguments.
Calls = Mapping[str, tuple[str, Mapping[str, Any]]]


@dataclass
class Answers:
    """What a server answered.

    Attributes:
        tools: the listed tools by name.
        results: the result of each call, by the call's name.
        listed: the listed resources by URI.
        contents: the contents of each resource that was read, by URI.
        prompts: whether the server declared prompts.
        texts: each prompt, by name, without arguments.
        templates: the URI templates, of a server with prompts.
    """

    tools: dict[str, Any] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    listed: dict[str, Any] = field(default_factory=dict)
    contents: dict[str, Any] = field(default_factory=dict)
    prompts: bool = False
    texts: dict[str, Any] = field(default_factory=dict)
    templates: list[str] = field(default_factory=list)

    def data(self, name: str) -> Any:
        """Returns the JSON value of a result, after checking that both of its forms are equal."""
        answer = self.results[name]
        assert not answer.is_error, answer.content
        [block] = answer.content
        assert json.loads(block.text) == answer.structured_content
        return answer.structured_content


def serve_command(folder: Path, settings: Mapping[str, Any], *options: str) -> list[str]:
    """Returns the command that serves a configuration, whose file it writes to `folder`."""
    path = folder / "carrel.json"
    path.write_text(json.dumps(settings), encoding="utf-8")
    return [sys.executable, "-m", "carrel", "serve", "--config", str(path), *options]


def ask(
    command: Sequence[str],
    calls: Calls,
    *,
    resources: Iterable[str] = (),
    env: Mapping[str, str] | None = None,
) -> Answers:
    """Starts a server, lists what it offers, makes the calls, reads resources and all prompts.

    Args:
        command: starts the server.
        calls: see above.
        resources: URIs to read.
        env: variables that are added to the environment.
    """
    answers = Answers()
    program, *arguments = command
    server = StdioServerParameters(
        command=program, args=arguments, env={**os.environ, **(env or {})}
    )

    async def drive() -> None:
        async with Client(stdio_client(server)) as client:
            answers.prompts = client.server_capabilities.prompts is not None
            answers.tools.update({one.name: one for one in (await client.list_tools()).tools})
            found = (await client.list_resources()).resources
            answers.listed.update({str(one.uri): one for one in found})
            for name, (tool, values) in calls.items():
                answers.results[name] = await client.call_tool(tool, dict(values))
            for uri in resources:
                [answers.contents[uri]] = (await client.read_resource(uri)).contents
            if answers.prompts:
                for one in (await client.list_prompts()).prompts:
                    answers.texts[one.name] = await client.get_prompt(one.name)
                answers.templates += [
                    one.uri_template
                    for one in (await client.list_resource_templates()).resource_templates
                ]

    anyio.run(drive)
    return answers


def recording(
    folder: Path,
    exchanges: Iterable[tuple[str, str, bytes]] = (),
    *,
    files: Mapping[str, bytes] | None = None,
    example: str | None = None,
) -> Path:
    """Writes a folder of recorded exchanges.

    Args:
        folder: the new folder.
        exchanges: URL of a GET request, media type and body of its response; an empty media type
            means a 404.
        files: URL of a download → the PDF.
        example: a folder of `examples/recordings` whose exchanges it has too.
    """
    if example is not None:
        shutil.copytree(EXAMPLES / example, folder)
    kept = Recordings(folder, create=True)
    for url, media_type, body in exchanges:
        headers = (("content-type", media_type or "text/plain"),)
        status = 200 if media_type else 404
        kept.keep(
            Request("GET", url), Response(status, url, headers, body.decode(), size=len(body))
        )
    for url, file in (files or {}).items():
        asked = Request("GET", url, (("accept", PDF_ACCEPTED),))
        kept.keep(asked, Response(200, url, (("content-type", "application/pdf"),), ""), file)
    return folder
