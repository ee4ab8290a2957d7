"""Tests grants of modules, and how modules and components are distinguished."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from carrel.errors import CarrelError
from carrel.plugins.extism.sniff import may_be_module
from support.guests import guest
from support.modules import answering_module, text_at

from .conftest import TOOL, Open, listing, refusal

ZERO = "(i64.const 0)"


@pytest.mark.requirement("sandbox:hosts:module-listing")
def test_a_module_that_lists_from_the_network_is_refused(open_toolbox: Open) -> None:
    asked = '{"url": "https://api.example.org/tools"}'
    fetches = (
        f"(drop (call $http_request (call $put (i32.const 0) (i32.const {len(asked)})) {ZERO}))"
    )
    lists = answering_module({}, fetches, export="list_tools", data=text_at(0, asked))
    message = refusal(open_toolbox({"allowed_hosts": ("api.example.org",)}, one=lists))
    assert "list_tools failed" in message
    assert "no network" in message


@pytest.mark.requirement("sandbox:secrets:keyring")
def test_only_keyring_entries_that_the_operator_names_are_read(
    open_toolbox: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = SimpleNamespace(get_password=lambda service, user: f"{service}-{user}-secret")
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    asked = '{"service": "papers", "user": "me"}'
    body = (
        f"(local.set $h (call $put (i32.const 0) (i32.const {len(asked)})))"
        "(call $error_set (call $get_keyring_secret (local.get $h))) (return (i32.const 1))"
    )
    lists = {"list_tools": {"tools": [TOOL]}}
    one = answering_module(lists, body, export="call_tool", data=text_at(0, asked))
    for granted, message in (
        ((("papers", "me"),), "papers-me-secret"),
        ((("papers", "you"),), "did not say why"),
    ):
        with pytest.raises(CarrelError, match=message):
            open_toolbox({"allowed_secrets": granted}, one=one).call_sync("one_ask", {})


def test_the_first_response_waits_only_for_possible_modules(tmp_path: Path) -> None:
    files = {"component": guest().wasm, "module": listing(TOOL).wasm, "empty": b""}
    for name, wasm in files.items():
        (tmp_path / name).write_bytes(wasm)
        assert may_be_module((tmp_path / name).as_uri()) is (name == "module")
    assert not may_be_module((tmp_path / "missing").as_uri())
    assert not may_be_module("builtin:arxiv")
    assert may_be_module("oci://registry.example.org/plugin:1")
