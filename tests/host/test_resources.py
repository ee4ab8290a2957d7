"""Tests plugins' resources: declared in the manifest, read in the sandbox, validated."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, FetchConfig, PluginConfig
from carrel.errors import CarrelError, ContractViolation, UnknownNameError
from carrel.tools import Result, Toolbox
from support.guests import Guest, guest
from support.manifests import manifest, manifest_text

Open = Callable[..., Toolbox]

STATS: dict[str, Any] = {
    "uri": "sample-data://stats/sample",
    "name": "stats",
    "title": "Statistics",
    "description": "How much there is.",
    "output_schema": {
        "type": "object",
        "required": ["count"],
        "properties": {"count": {"type": "integer"}},
        "additionalProperties": False,
    },
}
#: Returns its arguments unchanged: a pointer and a length.
ECHO = (
    "(i32.store8 (i32.const 0) (i32.const 0)) (i32.store (i32.const 4) (local.get $text)) "
    "(i32.store (i32.const 8) (local.get $text_length)) (return (i32.const 0))"
)


def offering(result: str = '{"count": 3}', body: str = "", **changes: Any) -> Guest:
    text = manifest_text(resources=[{**STATS, **changes}])
    return guest(body, result=result, manifest=text)


@pytest.fixture
def make_toolbox(tmp_path: Path, code_folder: Path) -> Open:
    def make(*guests: Guest, contact: str | None = None, **entry: Any) -> Toolbox:
        plugins = []
        for number, one in enumerate(guests):
            path = tmp_path / f"plugin{number}.wasm"
            path.write_bytes(one.wasm)
            plugins.append(PluginConfig(f"plugin{number}", path.as_uri(), **entry))
        return Toolbox(
            Config(
                cache_dir=code_folder,
                data_dir=tmp_path,
                plugins=tuple(plugins),
                fetch=FetchConfig(contact=contact),
            )
        )

    return make


def read(toolbox: Toolbox, uri: str = STATS["uri"]) -> Result:
    return asyncio.run(toolbox.read_resource(uri))


def test_a_declared_resource_is_listed_and_read(make_toolbox: Open) -> None:
    toolbox = make_toolbox(guest(manifest=manifest_text()), offering())
    [resource] = toolbox.resources()
    assert (resource.uri, resource.title, resource.plugin) == (
        STATS["uri"],
        "Statistics",
        "plugin1",
    )
    assert read(toolbox).text == '{"count": 3}'
    assert read(toolbox).data == {"count": 3}


def test_the_first_of_two_plugins_with_one_uri_is_read(make_toolbox: Open) -> None:
    toolbox = make_toolbox(offering('{"count": 1}'), offering('{"count": 2}'))
    assert len(toolbox.resources()) == 1
    assert read(toolbox).data == {"count": 1}


def test_resources_that_the_operator_switched_off_are_neither_listed_nor_read(
    make_toolbox: Open,
) -> None:
    toolbox = make_toolbox(offering(), skip_tools=("resource",))
    assert list(toolbox.resources()) == []
    with pytest.raises(UnknownNameError):
        read(toolbox)


@pytest.mark.requirement("sandbox:secrets:resource")
def test_the_plugin_gets_the_names_of_secrets_and_not_their_values(
    make_toolbox: Open,
) -> None:
    secrets = [
        {"name": name, "hosts": ["api.example.org"], "attach": {"query": name}}
        for name in ("contact", "api_key")
    ]
    echo = guest(
        ECHO,
        manifest=json.dumps(
            manifest(secrets=secrets, resources=[{**STATS, "output_schema": {"type": "object"}}])
        ),
    )
    toolbox = make_toolbox(echo, contact="someone@example.org", secrets=("contact", "api_key"))
    assert read(toolbox).data == {"uri": STATS["uri"], "secrets": ["contact"]}


@pytest.mark.requirement("result:typed:resource")
@pytest.mark.parametrize("result", ["nonsense", "{}", '{"count": "three"}'])
def test_a_resource_outside_its_schema_is_a_contract_violation(
    make_toolbox: Open, result: str
) -> None:
    with pytest.raises(ContractViolation):
        read(make_toolbox(offering(result)))


def test_a_plugin_that_traps_is_an_error_of_the_reading(make_toolbox: Open) -> None:
    with pytest.raises(CarrelError) as caught:
        read(make_toolbox(offering(body="unreachable")))
    assert caught.value.error_code == "plugin_failed"


def test_an_unoffered_uri_is_unknown(make_toolbox: Open) -> None:
    with pytest.raises(UnknownNameError, match="did you mean"):
        read(make_toolbox(offering()), "sample-data://stats/samples")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"uri": "carrel://health"}, "scheme that is not a plugin's"),
        ({"uri": "https://example.org/stats"}, "scheme that is not a plugin's"),
        ({"uri": "stats"}, "uri"),
        ({"uri": "sample-data://a b"}, "uri"),
        ({"description": "hidden\u202e"}, "invisible characters"),
        ({"output_schema": {"type": "object", "$ref": "https://e.org/s"}}, "outside itself"),
    ],
)
def test_a_manifest_with_a_resource_that_misleads_is_refused(
    make_toolbox: Open, change: dict[str, Any], says: str
) -> None:
    [state] = make_toolbox(offering(**change)).plugins()
    assert state.error is not None
    assert says in state.error.message
