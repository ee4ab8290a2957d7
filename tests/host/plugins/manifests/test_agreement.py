"""Tests that a component whose embedded manifest differs from `describe()` is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.authoring.check import check_plugin
from carrel.authoring.sandbox import Sandbox, embedded_manifest
from carrel.authoring.sections import with_sections
from carrel.config import Config, PluginConfig
from carrel.errors import CarrelError, LoadError
from carrel.plugins.approval.proposal import propose
from carrel.plugins.manifests import agreement
from carrel.plugins.plugin_set import PluginSet
from carrel.plugins.sources.source import builtin_names, read_source
from carrel.runtime.component import SandboxedComponent
from carrel.text.json_text import decode_object
from carrel.tools import Toolbox
from support.command_line import CommandLine
from support.guests import Guest, assemble, guest, guest_wat
from support.manifests import manifest, manifest_text
from support.projects import fixture, project

LOOP = "(loop $again (br $again))"


def described_as(text: str) -> Guest:
    return guest(manifest=text, result='{"n":1}')


def forged(embedded: str, one: Guest | None = None) -> bytes:
    """Returns a component with another manifest embedded than `describe` returns."""
    one = one or described_as(manifest_text())
    return with_sections(one.wasm, contract="1.0", manifest=embedded)


def running(body: str) -> Guest:
    """Returns a component whose `describe` runs `body` first."""
    text = guest_wat(manifest=manifest_text())
    head = '(func (export "describe") (result i32)'
    assert head in text
    return assemble(text.replace(head, f"{head} {body}"))


FORGED = forged(manifest_text(version="9.9.9"))


@pytest.fixture
def configured(tmp_path: Path, code_folder: Path) -> Callable[..., Config]:
    """Returns a configuration of component files, by name."""

    def make(**components: bytes) -> Config:
        entries = []
        for name, wasm in components.items():
            path = tmp_path / f"{name}.wasm"
            path.write_bytes(wasm)
            entries.append(PluginConfig(name, path.as_uri()))
        source = tmp_path / "carrel.toml"
        return Config(code_folder, tmp_path / "data", tuple(entries), source_path=source)

    return make


@pytest.fixture
def refusal(configured: Callable[..., Config]) -> Callable[[bytes], CarrelError]:
    """Returns why a component is refused at load."""

    def refuse(wasm: bytes) -> CarrelError:
        plugin_set = PluginSet(configured(sample=wasm))
        try:
            with pytest.raises(CarrelError) as caught:
                plugin_set.plugin("sample")
            return caught.value
        finally:
            plugin_set.close()

    return refuse


@pytest.mark.requirement("plugin:pinned:describes-itself")
class TestLoading:
    @pytest.mark.parametrize(
        ("embedded", "path"),
        [
            (manifest_text(version="9.9.9"), "version"),
            (manifest_text(title="Another"), "title"),
            (
                manifest_text(hosts=[{**manifest()["hosts"][0], "cache_seconds": 61}]),
                "hosts[0].cache_seconds",
            ),
            (manifest_text(hosts=[]), "hosts"),
            (
                json.dumps(manifest()).replace('"minimum": 1,', '"minimum": 2,'),
                "tools[0].input_schema.properties.count.minimum",
            ),
            (
                json.dumps(manifest()).replace('"open_world": true', '"open_world": false'),
                "tools[0].annotations.open_world",
            ),
        ],
    )
    def test_a_difference_is_refused_with_its_path_and_a_remedy(
        self, refusal: Callable[[bytes], CarrelError], embedded: str, path: str
    ) -> None:
        error = refusal(forged(embedded))
        assert isinstance(error, LoadError)
        assert f"they differ at {path}. " in error.message
        assert "carrel plugin build" in error.message

    def test_many_differences_are_counted(self, refusal: Callable[[bytes], CarrelError]) -> None:
        embedded = manifest_text(
            version="9.9.9", licence="MIT", description="Other.", homepage="https://example.org"
        )
        assert "and 1 more" in refusal(forged(embedded)).message

    def test_true_is_not_one(self) -> None:
        assert list(agreement._differences({"a": True}, {"a": 1}, "")) == ["a"]
        assert list(agreement._differences({"a": [1, {}]}, {"a": [1.0, {}]}, "")) == []

    @pytest.mark.parametrize("body", ["unreachable", LOOP], ids=["trap", "loop"])
    def test_a_describe_that_fails_is_one_typed_error(
        self, refusal: Callable[[bytes], CarrelError], body: str
    ) -> None:
        error = refusal(forged(manifest_text(), running(body)))
        assert isinstance(error, LoadError)
        assert "describe() failed" in error.message

    @pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"a":'])
    def test_a_describe_that_returns_garbage_is_one_typed_error(
        self, refusal: Callable[[bytes], CarrelError], text: str
    ) -> None:
        error = refusal(forged(manifest_text(), described_as(text)))
        assert isinstance(error, LoadError)
        assert "describe() failed" in error.message

    def test_the_same_value_in_another_spelling_is_accepted(
        self, configured: Callable[..., Config]
    ) -> None:
        spelt = json.dumps(manifest(), indent=2, sort_keys=True).replace("tests", "t\\u0065sts")
        assert spelt != manifest_text()
        plugin_set = PluginSet(configured(sample=forged(spelt)))
        plugin_set.plugin("sample")
        plugin_set.close()

    def test_a_refused_plugin_does_not_affect_others(
        self, configured: Callable[..., Config]
    ) -> None:
        good = guest(result='{"n":1}', manifest=manifest_text(name="good"))
        toolbox = Toolbox(configured(sample=FORGED, good=good.wasm))
        with pytest.raises(LoadError):
            toolbox.call_sync("sample_echo", {})
        assert toolbox.call_sync("good_echo", {}).data == {"n": 1}
        toolbox.close()

    def test_listing_tools_compiles_and_runs_nothing(
        self, configured: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> str:
            raise AssertionError("it was run")

        monkeypatch.setattr(SandboxedComponent, "describe", fail)
        toolbox = Toolbox(configured(sample=FORGED))
        assert [tool.name for tool in toolbox.tools()] == ["sample_echo"]
        toolbox.close()

    def test_a_component_that_was_compared_is_not_run_again(
        self, configured: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = manifest_text(version="0.0.1")
        config = configured(sample=forged(text, described_as(text)))
        runs: list[str] = []
        describe = SandboxedComponent.describe

        def counted(component: SandboxedComponent) -> str:
            runs.append(component.name)
            return describe(component)

        monkeypatch.setattr(SandboxedComponent, "describe", counted)
        for _ in range(3):
            plugin_set = PluginSet(config)
            plugin_set.plugin("sample")
            plugin_set.close()
        assert runs == ["sample"]

    def test_a_component_without_an_embedded_manifest_is_loaded(
        self, configured: Callable[..., Config]
    ) -> None:
        plugin_set = PluginSet(configured(sample=described_as(manifest_text()).wasm))
        plugin_set.plugin("sample")
        plugin_set.close()


@pytest.mark.requirement("plugin:pinned:describes-itself")
class TestEveryWayIn:
    @pytest.fixture
    def carrel(self, tmp_path: Path) -> CommandLine:
        (tmp_path / "sample.wasm").write_bytes(FORGED)
        config = f'[plugins.sample]\nurl = "{(tmp_path / "sample.wasm").as_uri()}"\n'
        (tmp_path / "carrel.toml").write_text(config, "utf-8")
        return CommandLine(tmp_path, real=True)

    @pytest.mark.parametrize(
        "words",
        [
            ("call", "sample_echo", "text=x"),
            ("parse", "sample", "note"),
            ("plugin", "inspect", "sample"),
            ("plugin", "inspect", "./sample.wasm"),
            ("plugin", "list"),
            ("plugin", "lock", "sample", "--yes"),
            ("plugin", "push", "sample.wasm", "localhost:1/x:1"),
        ],
        ids=lambda words: "-".join(words[:2]),
    )
    def test_a_command_refuses_it(self, carrel: CommandLine, words: tuple[str, ...]) -> None:
        done = carrel("--config", "carrel.toml", *words)
        assert done.code != 0
        assert "is not what describe() returns; they differ at version" in done.out + done.err

    def test_it_is_never_proposed_for_approval(self, configured: Callable[..., Config]) -> None:
        config = configured(sample=FORGED)
        with pytest.raises(LoadError, match="differ at version"):
            propose(config, "sample")
        assert not config.lock_path.exists()

    def test_its_fixtures_are_not_run(self, tmp_path: Path, config: Config) -> None:
        folder = project(tmp_path / "sample")
        fixture(folder, "note", document_txt="x", expected_json={"n": 1})
        with pytest.raises(LoadError, match="differ at version"):
            check_plugin(FORGED, "sample", folder / "fixtures", config)


@pytest.mark.requirement("plugin:pinned:describes-itself")
@pytest.mark.parametrize("name", builtin_names())
def test_a_built_in_component_agrees_with_its_embedded_manifest(name: str, config: Config) -> None:
    wasm = read_source(name, f"builtin:{name}").wasm
    embedded = embedded_manifest(wasm)
    assert embedded is not None

    def value(text: str) -> dict[str, Any]:
        return decode_object(text, plugin=name, tool="describe")

    with Sandbox(config) as sandbox:
        assert value(sandbox.describe(wasm, name)) == value(embedded)
