"""Tests that a call's code learns the principal that the call is made for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.exchange import Call
from carrel.plugins.manifests.tool_spec import ToolSpec
from carrel.principal import LOCAL, Principal, acting_as, current_principal
from carrel.tools.host_tool import HostTool

ALICE = Principal("alice")

SPEC = ToolSpec(
    name="whoami",
    title=None,
    description="Names the caller.",
    input_schema={"type": "object"},
    output_schema={"type": "object"},
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)


class WhoAmI(HostTool):
    def answer(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        return {"name": current_principal().name}


def test_without_a_server_the_principal_is_the_local_user() -> None:
    assert current_principal() is LOCAL


def test_a_principal_acts_until_the_block_ends() -> None:
    with acting_as(ALICE):
        assert current_principal() is ALICE
    assert current_principal() is LOCAL


def test_the_thread_of_a_host_tool_knows_the_principal() -> None:
    tool = WhoAmI(SPEC)
    with acting_as(ALICE):
        running = tool.start({}, tool.new_call())
    assert running.result().data == {"name": "alice"}
