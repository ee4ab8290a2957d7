"""Tests calls from a client's arguments to a validated result, in the sandbox."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from carrel.config import Config, PluginConfig
from carrel.errors import (
    ArgumentError,
    Cancelled,
    CarrelError,
    ContractViolation,
    LoadError,
    SourceError,
    UnknownNameError,
)
from carrel.exchange import Call
from carrel.tools import Toolbox
from support.guests import Guest, guest
from support.manifests import manifest_text

MakeToolbox = Callable[..., Toolbox]


@pytest.fixture
def make_toolbox(tmp_path: Path, code_folder: Path) -> MakeToolbox:
    """Returns a toolbox with one plugin made of WAT."""

    def make(one: Guest, **entry: object) -> Toolbox:
        path = tmp_path / "plugin.wasm"
        path.write_bytes(one.wasm)
        plugin = PluginConfig("sample", path.as_uri(), **entry)  # type: ignore[arg-type]
        config = Config(cache_dir=code_folder, data_dir=tmp_path, plugins=(plugin,))
        return Toolbox(config)

    return make


def sample(body: str = "", *, result: str = '{"n":1}', failed: bool = False) -> Guest:
    return guest(body, result=result, failed=failed, manifest=manifest_text())


def test_a_result_is_the_components_text_and_the_same_decoded(make_toolbox: MakeToolbox) -> None:
    result = make_toolbox(sample(result='{ "n": 1 }')).call_sync("sample_echo", {})
    assert result.text == '{ "n": 1 }'
    assert result.data == {"n": 1}


def test_tools_are_listed_under_their_namespace(make_toolbox: MakeToolbox) -> None:
    [tool] = make_toolbox(sample()).tools()
    assert (tool.name, tool.plugin, tool.read_only) == ("sample_echo", "sample", True)


def test_a_skipped_tool_is_neither_listed_nor_callable(make_toolbox: MakeToolbox) -> None:
    toolbox = make_toolbox(sample(), skip_tools=("ec.*",))
    assert list(toolbox.tools()) == []
    with pytest.raises(UnknownNameError):
        toolbox.call_sync("sample_echo", {})


@pytest.mark.requirement("result:typed:arguments")
def test_arguments_reach_the_guest_without_blank_ones(make_toolbox: MakeToolbox) -> None:
    # The guest returns its arguments unchanged: a pointer and a length.
    echo = (
        "(i32.store8 (i32.const 0) (i32.const 0)) (i32.store (i32.const 4) (local.get $text)) "
        "(i32.store (i32.const 8) (local.get $text_length)) (return (i32.const 0))"
    )
    toolbox = make_toolbox(sample(echo))
    with pytest.raises(ContractViolation) as caught:
        toolbox.call_sync("sample_echo", {"text": "  ", "needed": None, "count": 3})
    assert "count" in caught.value.message
    assert "text" not in caught.value.message


@pytest.mark.requirement("result:typed:arguments")
def test_bad_arguments_are_all_named_with_the_nearest_known(make_toolbox: MakeToolbox) -> None:
    toolbox = make_toolbox(sample())
    with pytest.raises(ArgumentError) as caught:
        toolbox.call_sync("sample_echo", {"txet": "a", "zzzzz": 1})
    assert "did you mean 'text'?" in caught.value.message
    assert "'zzzzz'" in caught.value.message
    with pytest.raises(ArgumentError, match="count"):
        toolbox.call_sync("sample_echo", {"count": 99})


def test_an_unknown_tool_names_the_nearest(make_toolbox: MakeToolbox) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'sample_echo'"):
        make_toolbox(sample()).call_sync("sample_ecko", {})


@pytest.mark.requirement("result:typed:output")
@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("nonsense", "not JSON"),
        ("[1]", "not an object"),
        ('{"n":"x"}', "its own schema refuses"),
        ('{"surprise":1}', "its own schema refuses"),
        ('{"n":NaN}', "not JSON"),
        ('{"n":1} {"n":2}', "not JSON"),
        ("[" * 5000, "not JSON"),
    ],
)
def test_a_result_outside_its_schema_is_a_contract_violation(
    make_toolbox: MakeToolbox, result: str, words: str
) -> None:
    with pytest.raises(ContractViolation, match=words):
        make_toolbox(sample(result=result)).call_sync("sample_echo", {})


@pytest.mark.requirement("result:typed:output")
def test_a_parse_result_of_a_plugin_that_is_not_built_in_is_validated(
    make_toolbox: MakeToolbox,
) -> None:
    with pytest.raises(ContractViolation):
        make_toolbox(sample(result='{"n":"x"}')).parse_text("sample", "note", "text")


@pytest.mark.requirement("result:typed:report")
def test_the_plugins_own_error_keeps_its_code_and_position(make_toolbox: MakeToolbox) -> None:
    report = {
        "code": "rate_limited",
        "message": "slow\x1b[2J down",
        "retry_after_seconds": 7,
        "position": {"offset": 3, "path": "feed/entry"},
        "secret": "not passed on",
    }
    toolbox = make_toolbox(sample(result=json.dumps(report), failed=True))
    with pytest.raises(SourceError) as caught:
        toolbox.call_sync("sample_echo", {})
    error = caught.value.to_dict()
    assert error["code"] == "rate_limited"
    assert error["retryable"] is True
    assert error["retry_after_seconds"] == 7
    assert error["position"] == {"offset": 3, "path": "feed/entry"}
    assert error["source"] == "sample"
    assert "\x1b" not in error["message"]
    assert "secret" not in error


@pytest.mark.requirement("result:typed:report")
@pytest.mark.parametrize(
    "report",
    [{"code": "internal", "message": "x"}, {"code": "not_found"}, {"message": "x"}, {"code": 3}],
)
def test_a_report_outside_the_closed_list_is_a_contract_violation(
    make_toolbox: MakeToolbox, report: dict[str, object]
) -> None:
    toolbox = make_toolbox(sample(result=json.dumps(report), failed=True))
    with pytest.raises(ContractViolation):
        toolbox.call_sync("sample_echo", {})


def test_cancelling_the_task_interrupts_the_guest(make_toolbox: MakeToolbox) -> None:
    toolbox = make_toolbox(sample("(loop $again (br $again))"))

    async def run() -> Call:
        started: asyncio.Future[Call] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(toolbox.call("sample_echo", {}, call_started=started.set_result))
        call = await started
        task.cancel()
        with pytest.raises((asyncio.CancelledError, Cancelled)):
            await task
        return call

    assert asyncio.run(run()).cancelled


@pytest.mark.requirement("serve:alive:list")
def test_a_plugin_that_cannot_be_loaded_does_not_hide_other_tools(
    tmp_path: Path, code_folder: Path
) -> None:
    good, bad = tmp_path / "good.wasm", tmp_path / "bad.wasm"
    good.write_bytes(sample().wasm)
    bad.write_bytes(b"nonsense")
    config = Config(
        cache_dir=code_folder,
        data_dir=tmp_path,
        plugins=(PluginConfig("bad", bad.as_uri()), PluginConfig("sample", good.as_uri())),
    )
    toolbox = Toolbox(config)
    assert [tool.name for tool in toolbox.tools()] == ["sample_echo"]
    assert toolbox.call_sync("sample_echo", {}).data == {"n": 1}
    states = {state.name: state for state in toolbox.plugins()}
    assert isinstance(states["bad"].error, LoadError)
    assert states["sample"].loaded
    health = toolbox.health()
    assert health["ok"] is False
    assert [one["state"] for one in health["plugins"]] == ["failed", "ready"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:///no/such/plugin.wasm", "cannot read"),
        ("builtin:nothing", "no built-in plugin"),
        ("oci://registry.example.org/plugin:1", "not in the lock"),
    ],
)
def test_a_missing_plugin_file_is_named_with_its_path(
    tmp_path: Path, code_folder: Path, url: str, words: str
) -> None:
    config = Config(
        cache_dir=code_folder, data_dir=tmp_path, plugins=(PluginConfig("sample", url),)
    )
    with pytest.raises(CarrelError, match=words):
        Toolbox(config).parse_text("sample", "note", "x")


def test_a_plugin_named_by_its_path_is_answered_with_its_url(
    tmp_path: Path, code_folder: Path
) -> None:
    path = tmp_path / "my plugin.wasm"
    path.write_bytes(guest(manifest=manifest_text(), result='{"n": 1}').wasm)

    def parse(url: str) -> str:
        config = Config(
            cache_dir=code_folder, data_dir=tmp_path, plugins=(PluginConfig("sample", url),)
        )
        with closing(Toolbox(config)) as toolbox:
            return toolbox.parse_text("sample", "note", "x")

    with pytest.raises(LoadError, match="named by its URL") as caught:
        parse(str(path))
    written = caught.value.message.partition("; write ")[2]
    assert parse(written) == '{"n": 1}'
    with pytest.raises(LoadError, match="relative paths are not accepted"):
        parse("plugin.wasm")
