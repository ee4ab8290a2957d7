"""Building: what is embedded, and what is said when something is missing."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from carrel.authoring import python as python_builder
from carrel.authoring import rust
from carrel.authoring.build import build_plugin
from carrel.authoring.project import find_project
from carrel.authoring.sandbox import Sandbox, embedded_manifest
from carrel.authoring.sections import with_sections
from carrel.authoring.steps import run_step
from carrel.authoring.toolchain import Toolchain
from carrel.config import Config
from carrel.errors import ArgumentError, BuildError
from carrel.plugins.registry import Registry
from carrel.runtime.sections import custom_section
from support.guests import guest
from support.manifests import manifest_text

needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")


def build(folder: Path, config: Config) -> None:
    build_plugin(folder, config, lambda _: None)


def write(folder: Path, **files: str) -> Path:
    """A folder with files; `__` in a key stands for a dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for key, text in files.items():
        (folder / key.replace("__", ".")).write_text(text, "utf-8")
    return folder


class TestSections:
    @pytest.mark.parametrize("size", [0, 100, 127, 128, 20_000])
    def test_a_host_reads_what_was_embedded(self, size: int) -> None:
        text = manifest_text(description="x" * size)
        bare = guest(manifest=text).wasm
        whole = with_sections(bare, contract="1.0", manifest=text)
        assert whole.startswith(bare)
        assert embedded_manifest(whole) == text
        assert custom_section(whole, "carrel:contract") == b"1.0"

    def test_listing_a_component_with_its_manifest_compiles_nothing(
        self, config: Config, tmp_path: Path
    ) -> None:
        from dataclasses import replace

        from carrel.config import PluginConfig

        text = manifest_text()
        whole = with_sections(guest(manifest=text).wasm, contract="1.0", manifest=text)
        (tmp_path / "sample.wasm").write_bytes(whole)
        entry = PluginConfig("sample", (tmp_path / "sample.wasm").as_uri())
        registry = Registry(replace(config, cache_dir=tmp_path / "cache", plugins=(entry,)))
        assert registry.manifest("sample").name == "sample"
        assert not (tmp_path / "cache").exists()

    def test_the_code_of_the_bare_component_is_kept_for_the_whole_one(
        self, config: Config, tmp_path: Path
    ) -> None:
        from dataclasses import replace

        text = manifest_text(version="4.5.6")
        bare = guest(manifest=text).wasm
        whole = with_sections(bare, contract="1.0", manifest=text)
        own = replace(config, cache_dir=tmp_path / "cache")
        with Sandbox(own) as sandbox:
            assert sandbox.describe(bare, "sample") == text
            sandbox.refile_code(bare, whole)
        [code] = (tmp_path / "cache" / "code").glob("*.cwasm")
        written = code.stat().st_mtime_ns
        with Sandbox(own) as sandbox:
            assert sandbox.describe(whole, "sample") == text
        assert [path.stat().st_mtime_ns for path in code.parent.glob("*.cwasm")] == [written]


class TestProjects:
    def test_a_missing_folder_and_one_without_a_project_are_named(
        self, config: Config, tmp_path: Path
    ) -> None:
        with pytest.raises(ArgumentError, match="nowhere: there is no such folder"):
            build(tmp_path / "nowhere", config)
        with pytest.raises(ArgumentError, match=r"none of Cargo\.toml, package\.json, pyproject"):
            build(tmp_path, config)

    def test_a_project_that_was_not_built_says_how_to(self, tmp_path: Path) -> None:
        project = find_project(write(tmp_path, Cargo__toml=""))
        with pytest.raises(ArgumentError, match="run 'carrel plugin build' first"):
            project.component()

    def test_several_components_have_to_be_told_apart(self, tmp_path: Path) -> None:
        write(tmp_path, Cargo__toml="")
        write(tmp_path / "dist", a__wasm="", b__wasm="")
        with pytest.raises(ArgumentError, match=r"a\.wasm, b\.wasm; name one"):
            find_project(tmp_path).component()

    def test_an_output_that_is_no_component_is_refused_before_anything_is_built(
        self, config: Config, tmp_path: Path
    ) -> None:
        write(tmp_path, Cargo__toml="")
        with pytest.raises(ArgumentError, match=r"ends in \.wasm"):
            build_plugin(tmp_path, config, lambda _: None, output=tmp_path / "plugin")


class TestRust:
    def test_without_a_compiler_the_ways_to_get_one_are_told(
        self, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rust, "find_toolchain", lambda _: None)
        with pytest.raises(BuildError) as caught:
            build(write(tmp_path, Cargo__toml=""), config)
        assert "rustup target add wasm32-unknown-unknown" in caught.value.advice
        assert "apt-get install rustc-web" in caught.value.advice

    @needs_cargo
    def test_a_library_that_cannot_become_a_module_is_named(
        self, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        chain = Toolchain("cargo", "", (), "test")
        monkeypatch.setattr(rust, "find_toolchain", lambda _: chain)
        manifest = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n'
        write(tmp_path, Cargo__toml=manifest)
        write(tmp_path / "src", lib__rs="")
        with pytest.raises(BuildError) as caught:
            build(tmp_path, config)
        assert 'crate-type = ["rlib", "cdylib"]' in caught.value.advice

    @needs_cargo
    def test_a_manifest_that_cargo_cannot_read_fails_with_cargos_own_words(
        self, config: Config, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(BuildError, match="could not fetch the dependencies"):
            build(write(tmp_path, Cargo__toml="[package"), config)
        assert "Cargo.toml" in capfd.readouterr().err


class TestPython:
    def test_without_componentize_py_it_is_said_how_to_get_it(
        self, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(python_builder, "installed_tool", lambda: None)
        with pytest.raises(BuildError) as caught:
            build(write(tmp_path, pyproject__toml="", app__py=""), config)
        assert caught.value.advice.endswith("pip install componentize-py")

    def test_a_missing_module_is_named_with_its_setting(
        self, config: Config, tmp_path: Path
    ) -> None:
        settings = '[tool.carrel]\nmodule = "desk"\n'
        with pytest.raises(ArgumentError, match=r"no desk\.py; name the module as tool\.carrel"):
            build(write(tmp_path, pyproject__toml=settings), config)


class TestJavaScript:
    def test_a_missing_module_is_named(self, config: Config, tmp_path: Path) -> None:
        with pytest.raises(ArgumentError, match=r"no desk\.js; name the module as main"):
            build(write(tmp_path, package__json='{"main": "desk.js"}'), config)

    def test_without_its_packages_it_is_said_how_to_get_them(
        self, config: Config, tmp_path: Path
    ) -> None:
        with pytest.raises(BuildError) as caught:
            build(write(tmp_path, package__json="{}", plugin__js=""), config)
        assert "npm ci" in caught.value.advice


class TestSteps:
    def test_what_a_tool_says_reaches_the_author(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        code = "import sys; print('to stdout'); sys.exit('the reason')"
        with pytest.raises(BuildError, match="ended with status 1"):
            run_step([sys.executable, "-c", code], purpose="do it", folder=tmp_path)
        out, err = capfd.readouterr()
        assert out == ""  # which belongs to the result
        assert {"to stdout", "the reason"} <= set(err.split("\n"))

    def test_a_tool_that_cannot_be_started_comes_with_how_to_get_it(self, tmp_path: Path) -> None:
        with pytest.raises(BuildError, match="could not do it: no-such-tool") as caught:
            run_step(["no-such-tool"], purpose="do it", folder=tmp_path, remedy="get it")
        assert caught.value.advice == "get it"
