"""Tests binary formats: the manifest's declaration, the component's exports, the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.authoring.check import check_plugin
from carrel.authoring.sections import with_sections
from carrel.config import Config, PluginConfig
from carrel.errors import (
    ArgumentError,
    CarrelError,
    ContractViolation,
    LimitExceeded,
    LoadError,
    SourceError,
    UnknownNameError,
)
from carrel.exchange import Limits
from carrel.plugins.component_plugin import ComponentPlugin
from carrel.plugins.grants.limits import READER_LIMITS
from carrel.plugins.manifests.manifest import Manifest, parse_manifest
from carrel.plugins.plugin_set import PluginSet
from carrel.plugins.sources.source import embedded_formats
from carrel.runtime.instance import OfflineFetcher
from carrel.tools import Toolbox
from support.guests import CHECK_PATTERN, CHECKED, HEX, guest, pattern
from support.manifests import manifest

MIB = 2**20
FORMAT = {
    "name": "file",
    "description": "A file.",
    "bytes": True,
    "media_types": ["application/octet-stream"],
    "output_schema": {
        "type": "object",
        "properties": {"size": {"type": "string"}, "wrong": {"type": "string"}},
        "additionalProperties": False,
    },
}


def manifest_of(*formats: dict[str, Any], contract: str = "1.1") -> str:
    return json.dumps(manifest(contract=contract, formats=[*manifest()["formats"], *formats]))


def component(text: str, *, embedded: bool = True, **parts: Any) -> bytes:
    wasm = guest(manifest=text, **parts).wasm
    if not embedded:
        return wasm
    return with_sections(wasm, contract=json.loads(text)["contract"], manifest=text)


def reader(text: str | None = None, **parts: Any) -> bytes:
    parts = {"reading": CHECK_PATTERN, "result": CHECKED, "functions": HEX, **parts}
    return component(manifest_of(FORMAT) if text is None else text, **parts)


@pytest.fixture
def configured(tmp_path: Path, code_folder: Path) -> Callable[..., Config]:
    def make(wasm: bytes, **limits: float) -> Config:
        path = tmp_path / "sample.wasm"
        path.write_bytes(wasm)
        entry = PluginConfig("sample", path.as_uri(), limits=limits)
        return Config(code_folder, tmp_path / "data", (entry,))

    return make


@pytest.fixture
def toolbox(configured: Callable[..., Config]) -> Iterator[Callable[..., Toolbox]]:
    opened = []

    def make(wasm: bytes, **limits: float) -> Toolbox:
        opened.append(Toolbox(configured(wasm, **limits)))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


Open = Callable[..., Toolbox]


def refusal(config: Config) -> LoadError:
    plugins = PluginSet(config)
    try:
        with pytest.raises(LoadError) as caught:
            plugins.plugin("sample")
    finally:
        plugins.close()
    return caught.value


@pytest.mark.parametrize("embedded", [True, False], ids=["embedded", "described"])
class TestAgreement:
    def test_bytes_without_the_interface_are_refused(
        self, configured: Callable[..., Config], embedded: bool
    ) -> None:
        error = refusal(configured(component(manifest_of(FORMAT), embedded=embedded)))
        assert "declares file as bytes, but the component does not export carrel:plugin/docu" in (
            error.message
        )

    def test_the_interface_without_bytes_is_refused(
        self, configured: Callable[..., Config], embedded: bool
    ) -> None:
        error = refusal(configured(reader(manifest_of(), embedded=embedded)))
        assert "exports carrel:plugin/documents@1.0.0, but no format of its manifest is bytes" in (
            error.message
        )

    def test_plugin_test_refuses_what_a_host_refuses(
        self, configured: Callable[..., Config], tmp_path: Path, embedded: bool
    ) -> None:
        (tmp_path / "fixtures" / "one").mkdir(parents=True)
        for wasm in (
            component(manifest_of(FORMAT), embedded=embedded),
            reader(manifest_of(), embedded=embedded),
        ):
            with pytest.raises(LoadError, match="documents"):
                check_plugin(wasm, "sample", tmp_path / "fixtures", configured(wasm))


class TestManifest:
    def test_a_format_declares_whether_it_is_binary(self) -> None:
        found = parse_manifest(manifest_of(FORMAT), "sample")
        assert [(one.name, one.takes_bytes) for one in found.formats] == [
            ("note", False),
            ("file", True),
        ]
        assert found.reads_bytes
        assert not parse_manifest(manifest_of(contract="1.0"), "sample").reads_bytes

    def test_bytes_need_contract_1_1(self) -> None:
        with pytest.raises(
            LoadError, match=r"formats\.file: bytes need contract 1\.1, but found 1"
        ):
            parse_manifest(manifest_of(FORMAT, contract="1.0"), "sample")

    def test_bytes_are_true_or_false(self) -> None:
        with pytest.raises(LoadError, match="bytes"):
            parse_manifest(manifest_of({**FORMAT, "bytes": "yes"}), "sample")

    @pytest.mark.parametrize("contract", ["1.2", "2.0", "3.7"])
    def test_a_later_contract_is_named_before_its_unknown_keys(self, contract: str) -> None:
        text = manifest_of({**FORMAT, "streamed": True}, contract=contract)
        with pytest.raises(LoadError) as caught:
            parse_manifest(text, "sample")
        assert caught.value.message == (
            f"sample: needs contract {contract}, this host has 1.1; install a later Carrel, or an "
            "earlier version of the plugin"
        )


class TestEmbeddedFormats:
    def test_binary_formats_are_those_of_the_manifest(self) -> None:
        assert embedded_formats(reader()) == {"note": False, "file": True}
        assert embedded_formats(reader(embedded=False)) is None

    def test_a_built_in_plugins_formats_are_known_without_its_manifest(
        self, configured: Callable[..., Config]
    ) -> None:
        opened = PluginSet(configured(reader()))
        loaded = opened.plugin("sample")
        assert isinstance(loaded, ComponentPlugin)

        def unread() -> Manifest:
            raise AssertionError("the manifest was read")

        plugin = ComponentPlugin(
            "sample",
            loaded._component,
            unread,
            make_fetcher=lambda _: OfflineFetcher(),
            limits=lambda _, defaults=None: defaults or Limits(),
            settings={},
            trusted=True,
            formats={"note": False, "file": True},
        )
        assert plugin.takes_bytes("file")
        assert not plugin.takes_bytes("note")
        assert json.loads(bytes(plugin.parse_bytes("file", pattern(5))))["wrong"] == "00000000"
        opened.close()


class TestParsing:
    @pytest.mark.parametrize("size", [0, 1, 1000, MIB])
    def test_bytes_go_to_the_plugin_as_they_are(self, toolbox: Open, size: int) -> None:
        found = toolbox(reader()).parse("sample", "file", pattern(size))
        assert found == {"size": f"{size:08x}", "wrong": "00000000"}

    def test_a_text_format_of_the_same_plugin_takes_text(self, toolbox: Open) -> None:
        opened = toolbox(reader(result="{}", reading="", functions=""))
        assert opened.parse("sample", "note", "größer") == {}
        with pytest.raises(SourceError) as caught:
            opened.parse("sample", "note", b"\xff\xfe\xff")
        assert caught.value.error_code == "invalid_document"

    def test_text_for_a_format_of_bytes_is_its_utf8(self, toolbox: Open) -> None:
        opened = toolbox(reader())
        assert opened.parse("sample", "file", "é")["size"] == "00000002"
        with pytest.raises(ArgumentError, match="half a surrogate pair"):
            opened.parse("sample", "file", "\ud800")

    def test_the_plugin_decides_whether_a_format_is_binary(self, toolbox: Open) -> None:
        opened = toolbox(reader())
        assert opened.takes_bytes("sample", "file")
        assert not opened.takes_bytes("sample", "note")
        with pytest.raises(UnknownNameError):
            opened.takes_bytes("sample", "fil")
        with pytest.raises(UnknownNameError):
            opened.parse("sample", "fil", b"\xff")

    def test_options_are_an_object_of_json(self, toolbox: Open) -> None:
        back = """
          (i32.store8 (i32.const 0) (i32.const 0))
          (i32.store (i32.const 4) (local.get $options))
          (i32.store (i32.const 8) (local.get $options_length))
          (return (i32.const 0))
        """
        text = manifest_of({**FORMAT, "output_schema": {"type": "object"}})
        opened = toolbox(reader(text, reading=back, functions=""))
        for options in (None, {}, {"pages": "3-7", "é": ["ü"]}):
            assert opened.parse("sample", "file", b"\xff", options) == (options or {})
        with pytest.raises(ArgumentError, match="options are no JSON object"):
            opened.parse("sample", "file", b"", {"pages": {3, 7}})
        with pytest.raises(ArgumentError, match="options are no JSON object"):
            opened.parse("sample", "file", b"", {"pages": float("nan")})
        with pytest.raises(ArgumentError, match="more than 65536"):
            opened.parse("sample", "file", b"", {"pages": "7" * 65_536})
        with pytest.raises(ArgumentError, match="text format, which takes no options"):
            opened.parse("sample", "note", "text", {"pages": "3-7"})

    @pytest.mark.requirement("sandbox:limits:document")
    def test_a_document_over_the_limit_is_refused_before_a_guest_runs(self, toolbox: Open) -> None:
        opened = toolbox(reader(reading="unreachable"))
        with pytest.raises(SourceError) as caught:
            opened.parse("sample", "file", bytes(64 * MIB + 1))
        assert caught.value.error_code == "too_large"
        assert "67,108,865 bytes, more than the limit of 67,108,864" in caught.value.message
        assert "limits.response_bytes" in caught.value.message

    def test_the_limit_of_a_document_is_configured(self, toolbox: Open) -> None:
        opened = toolbox(reader(), response_bytes=1000)
        assert opened.parse("sample", "file", pattern(1000))["wrong"] == "00000000"
        with pytest.raises(SourceError, match="more than the limit of 1,000"):
            opened.parse("sample", "file", pattern(1001))

    @pytest.mark.requirement("result:typed:schema")
    def test_a_result_is_held_against_the_formats_schema(self, toolbox: Open) -> None:
        opened = toolbox(reader(reading="", result='{"size":1}', functions=""))
        with pytest.raises(ContractViolation, match="own schema refuses"):
            opened.parse("sample", "file", b"\xff")

    def test_the_plugins_own_error_names_the_document(self, toolbox: Open) -> None:
        report = {"code": "invalid_document", "message": "m", "position": {"offset": 3}}
        parts: dict[str, Any] = {
            "reading": "",
            "result": json.dumps(report),
            "functions": "",
            "failed": True,
        }
        with pytest.raises(CarrelError) as caught:
            toolbox(reader(**parts)).parse("sample", "file", b"\xff")
        assert caught.value.to_dict()["position"] == {"offset": 3}


class TestLimits:
    def test_a_reader_has_more_memory_and_time_than_a_call(self, toolbox: Open) -> None:
        grown = "(if (i32.eq (memory.grow (i32.const 8000)) (i32.const -1)) (then unreachable))"
        opened = toolbox(reader(reading=grown, result="{}", functions=""))
        assert opened.parse("sample", "file", b"\xff") == {}  # 500 MiB, above a call's 256
        assert READER_LIMITS.memory_bytes == 1024 * MIB
        assert (READER_LIMITS.cpu_seconds, READER_LIMITS.wall_seconds) == (60, 120)

    @pytest.mark.requirement("sandbox:limits:memory")
    def test_the_operators_limits_hold_for_readers(self, toolbox: Open) -> None:
        opened = toolbox(reader(), memory_bytes=4 * MIB)
        with pytest.raises(LimitExceeded) as caught:
            opened.parse("sample", "file", pattern(8 * MIB))
        assert caught.value.limit == "memory"
