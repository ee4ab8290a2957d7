"""Tests hidden characters from a component and a module, in a pipe and in a server."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from support.command_line import CommandLine
from support.guests import guest
from support.hidden import hidden_in
from support.http_server import HttpServer, answer_of, in_session, request
from support.manifests import manifest_text, with_tool
from support.mcp_schema import assert_frames_valid
from support.modules import answering_module
from support.stdio_client import HANDSHAKE, MODERN, StdioClient

pytestmark = pytest.mark.requirement("result:typed:hidden-characters")

NASTY = "a\u202eb\u2066c\x7f\x85\u2028\U000e0041\u200bd \u0645\u06cc\u200c\u062e \u2764\ufe0f\ufe0f"
ANYTHING = {"type": "object"}
VALUE = {"title": NASTY, NASTY: [1, {"deep": NASTY}]}


def raw(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    """Returns a home directory with a component and a module whose texts all contain hidden
    characters.
    """
    formats = [{"name": "note", "description": "A note.", "output_schema": ANYTHING}]
    manifest = json.loads(manifest_text(**with_tool(output_schema=ANYTHING)))
    component = guest(
        result=raw(VALUE),
        manifest=json.dumps({**manifest, "formats": formats}),
    )
    blocks = [{"type": "text", "text": raw(VALUE)}, {"type": "text", "text": NASTY}]
    module = answering_module(
        {
            "list_tools": {"tools": [{"name": "ask", "inputSchema": ANYTHING}]},
            "call_tool": {"content": blocks, "structuredContent": VALUE},
            "list_resources": {"resources": [{"uri": "mod:doc", "name": "doc"}]},
            "read_resource": {"contents": [{"uri": "mod:doc", "text": NASTY}]},
            "list_prompts": {"prompts": [{"name": "p"}]},
            "get_prompt": {"messages": [{"role": "user", "content": blocks[1]}]},
        }
    )
    plugins: dict[str, Any] = {}
    for name, one in (("sample", component), ("mod", module)):
        path = tmp_path / f"{name}.wasm"
        path.write_bytes(one.wasm)
        plugins[name] = {"url": path.as_uri()}
    settings = {
        "cache_dir": str(tmp_path / "cache"),
        "data_dir": str(tmp_path / "data"),
        "plugins": plugins,
    }
    (tmp_path / "carrel.json").write_text(json.dumps(settings), "utf-8")
    return CommandLine(tmp_path, real=True)


@pytest.mark.parametrize(
    "words",
    [
        ("call", "sample_echo", "{}"),
        ("call", "mod_ask", "{}"),
        ("parse", "sample", "note"),
    ],
    ids=" ".join,
)
def test_a_pipe_gets_the_value_without_a_hidden_character(
    carrel: CommandLine, words: tuple[str, ...]
) -> None:
    done = carrel("--config", "carrel.json", *words)
    assert (done.code, done.err) == (0, "")
    assert hidden_in(done.out) == []
    assert json.loads(done.out) == VALUE


@pytest.mark.parametrize("revision", [HANDSHAKE[0], HANDSHAKE[-1], MODERN])
def test_a_client_gets_the_values_without_a_hidden_character(
    carrel: CommandLine, revision: str
) -> None:
    config = str(carrel.home / "carrel.json")
    with StdioClient([sys.executable, "-m", "carrel", "serve", "--config", config]) as client:
        client.open(revision)
        for tool in ("sample_echo", "mod_ask"):
            for _ in range(2):  # the second call takes the fast path
                result = client.result(tool)
                text = result["content"][0]["text"]
                assert hidden_in(text) == []
                assert json.loads(text) == VALUE
                assert result.get("structuredContent", VALUE) == VALUE
        assert result["content"][1]["text"] == NASTY
        read = client.request("resources/read", {"uri": "mod:doc"})["result"]
        assert read["contents"][0]["text"] == NASTY
        prompt = client.request("prompts/get", {"name": "mod_p"})["result"]
        assert prompt["messages"][0]["content"]["text"] == NASTY
        assert client.finish() == 0
        assert_frames_valid(revision, client.pairs)
    assert len(client.lines) > 5
    for line in client.lines:
        assert hidden_in(line.decode()) == []


@pytest.mark.parametrize("meta", [{}, {"progressToken": 1}], ids=["plain", "sdk"])
def test_a_client_over_http_gets_the_values_without_a_hidden_character(
    carrel: CommandLine, meta: dict[str, Any]
) -> None:
    config = ["--config", str(carrel.home / "carrel.json"), "--http", "127.0.0.1:0"]
    with HttpServer([sys.executable, "-m", "carrel", "serve", *config]) as server:
        headers = in_session(server.initialize())

        def ask(method: str, **params: Any) -> Any:
            response = server.post(request(method, {**params, "_meta": meta}), headers=headers)
            assert hidden_in(response.text.replace("\r\n", "\n")) == []
            return answer_of(response)["result"]

        for tool in ("sample_echo", "mod_ask"):
            for _ in range(2):  # the first call loads the plugin
                result = ask("tools/call", name=tool, arguments={})
                assert json.loads(result["content"][0]["text"]) == VALUE
                assert result["structuredContent"] == VALUE
        assert result["content"][1]["text"] == NASTY
        assert ask("resources/read", uri="mod:doc")["contents"][0]["text"] == NASTY
        assert ask("prompts/get", name="mod_p")["messages"][0]["content"]["text"] == NASTY
