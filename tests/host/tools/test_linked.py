"""Tests that large results are replaced by links, and what is beside a result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from carrel.exchange import Call
from carrel.plugins.calls.result import LinkOffer, Result
from carrel.plugins.manifests.tool_spec import ToolSpec
from carrel.tools.host_resources import HostResources, Kept
from carrel.tools.host_tool import HostAnswer, HostTool
from carrel.tools.linked import LINK_BYTES, linked
from carrel.tools.resources import Resource, Template


class Keeper(HostResources):
    """Keeps bodies in memory."""

    def __init__(self, *, works: bool = True) -> None:
        self.bodies: dict[str, bytes] = {}
        self.works = works

    def resources(self) -> Sequence[Resource]:
        return []

    def templates(self) -> Sequence[Template]:
        return []

    def has(self, uri: str) -> bool:
        return uri in self.bodies

    def read(self, uri: str) -> str:
        return self.bodies[uri].decode()

    def keep(self, body: bytes) -> Kept | None:
        if not self.works:
            return None
        uri = f"kept://{hashlib.sha256(body).hexdigest()}"
        self.bodies[uri] = body
        return Kept(uri, "2026-01-01T00:00:00Z")


OFFER = LinkOffer("a page", {"sourceCount": 2})


def result_of(size: int, link: LinkOffer | None = OFFER) -> Result:
    data = {"text": "x" * (size - len('{"text":""}'))}
    return Result(json.dumps(data, separators=(",", ":")).encode(), data, link=link)


@pytest.mark.parametrize(("size", "is_linked"), [(LINK_BYTES - 1, False), (LINK_BYTES, True)])
@pytest.mark.requirement("web-researcher:link-threshold")
def test_the_threshold_is_24_kib_and_inclusive(size: int, is_linked: bool) -> None:
    keeper = Keeper()
    result = linked(result_of(size), [keeper])
    assert LINK_BYTES == 24 * 1024
    assert (result.content is not None) is is_linked
    assert len(keeper.bodies) == is_linked


def test_a_summary_and_a_link_replace_the_result() -> None:
    keeper, whole = Keeper(), result_of(30_000)
    result = linked(whole, [keeper])
    [(uri, body)] = keeper.bodies.items()
    assert body == whole.utf8
    assert result.data == {
        "resource": uri,
        "bytes": 30_000,
        "mimeType": "application/json",
        "summary": "a page",
        "expiresAt": "2026-01-01T00:00:00Z",
        "linked": True,
        "sourceCount": 2,
    }
    assert result.content is not None
    text, link = result.content
    assert json.loads(text["text"]) == result.data
    assert (link["type"], link["uri"], link["size"]) == ("resource_link", uri, 30_000)


@pytest.mark.requirement("web-researcher:link-no-store")
def test_without_a_keeper_a_large_result_is_inline() -> None:
    whole = result_of(30_000)
    assert linked(whole, []) is whole
    assert linked(whole, [Keeper(works=False)]) is whole


def test_a_tool_that_offers_no_link_is_always_inline() -> None:
    whole = result_of(30_000, None)
    assert linked(whole, [Keeper()]) is whole


def test_the_kept_text_is_the_one_that_a_client_would_have_received() -> None:
    keeper = Keeper()
    data = {"text": "\u202e" + "x" * 30_000}
    whole = Result(json.dumps(data, ensure_ascii=False).encode(), data, link=LinkOffer("a"))
    linked(whole, [keeper])
    [body] = keeper.bodies.values()
    assert b"\\u202e" in body
    assert json.loads(body) == data


class Answering(HostTool):
    """Returns a result with what is beside it."""

    def answer(self, arguments: Mapping[str, Any], call: Call) -> HostAnswer:
        del arguments, call
        return HostAnswer({"a": 1}, meta={"cached": True}, link=LinkOffer("one"))


def test_a_host_tool_may_add_metadata_and_offer_a_link() -> None:
    schema = {"type": "object", "properties": {}}
    spec = ToolSpec("t", "T", "", schema, schema, True, False, True, False)
    tool = Answering(spec)
    result = tool.start({}, tool.new_call()).result()
    assert result.data == {"a": 1}
    assert result.meta == {"cached": True}
    assert result.link == LinkOffer("one")
