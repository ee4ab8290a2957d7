"""`paper_fetch` with a plugin that is not built in: its copies are fetched by its role alone."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, PluginConfig
from support.paper_world import PDF, PaperWorld, pdf_reply
from support.role_guests import role_guest
from support.upstream import Upstream

from .conftest import Papers

OWN = "10.5555/strange.1"
HOST = "elsewhere.example"
URL = f"https://{HOST}/own.pdf"
WORK = {
    "ids": {"doi": OWN}, "type": "article-journal", "source": "strange",
    "title": "On strange desks", "authors": [{"family": "Lampe"}],
}  # fmt: skip


def results(copies: list[dict[str, Any]], texts: list[dict[str, Any]]) -> dict[str, str]:
    known = {"id": {"type": "doi", "id": OWN}}
    return {
        "lookup": json.dumps({"works": [known | {"work": WORK}], "not_found": []}),
        "role:open_copies": json.dumps(
            {"works": [known | {"work": WORK | {"open_copies": copies}}], "not_found": []}
        ),
        "role:full_text": json.dumps({"copies": texts}),
    }


@pytest.fixture
def with_stranger(
    configuration: Config, tmp_path: Path, open_papers: Callable[..., Papers]
) -> Callable[..., Papers]:
    """Opens the tools with one more plugin, as an operator's configuration adds it."""

    def make(answers: dict[str, str], *, granted: bool, **papers: Any) -> Papers:
        kinds = {"identifiers": ["doi"], "batch": 10}
        roles = {"open_copies": kinds, "full_text": {"identifiers": ["doi"]}}
        path = tmp_path / "strange.wasm"
        hosts = [{"host": HOST, "methods": ["GET"], "pace": {"interval_ms": 10}}]
        path.write_bytes(role_guest(answers, lookup=kinds, roles=roles, hosts=hosts).wasm)
        entry = PluginConfig("strange", path.as_uri(), allowed_hosts=(HOST,) if granted else ())
        return open_papers(
            dataclasses.replace(
                configuration,
                plugins=(*configuration.plugins, entry),
                papers=configuration.papers._replace(**papers),
            )
        )

    return make


def test_an_open_copy_that_only_a_stranger_knows_is_fetched(
    world: PaperWorld, with_stranger: Callable[..., Papers]
) -> None:
    world.serve(URL, pdf_reply())
    copy = {"url": URL, "kind": "pdf", "host_type": "repository", "license": "cc-by"}
    papers = with_stranger(results([copy], []), granted=False, repository_hosts=(HOST,))
    fetched = papers.fetch(OWN)
    assert (fetched["ok"], fetched["source"], fetched["license"]) == (True, "strange", "cc-by")
    assert Path(fetched["path"]).read_bytes() == PDF


def test_a_full_text_of_a_stranger_is_fetched_with_its_own_grants(
    world: PaperWorld, with_stranger: Callable[..., Papers], upstream: Upstream
) -> None:
    world.serve(URL, pdf_reply())
    text = {"url": URL, "format": "pdf"}
    refused = with_stranger(results([], [text]), granted=False).fetch(OWN)
    assert (refused["ok"], refused["error"]["code"]) == (False, "CAPABILITY_DENIED")
    assert HOST not in [one.host for one in upstream.seen]
    fetched = with_stranger(results([], [text]), granted=True).fetch(OWN)
    assert (fetched["ok"], fetched["source"]) == (True, "strange")
    assert Path(fetched["path"]).read_bytes() == PDF
