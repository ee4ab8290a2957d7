"""Tests building: the embedded manifest, and the errors when a tool is missing."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.authoring import python as python_builder
from carrel.authoring import rust
from carrel.authoring.build import build_plugin
from carrel.authoring.check import check_plugin
from carrel.authoring.componentiser import componentiser
from carrel.authoring.new import new_project
from carrel.authoring.project import find_project
from carrel.authoring.sandbox import Sandbox, embedded_manifest
from carrel.authoring.sections import with_sections
from carrel.authoring.steps import run_step
from carrel.authoring.toolchain import Toolchain
from carrel.config import Config
from carrel.errors import ArgumentError, BuildError
from carrel.plugins.plugin_set import PluginSet
from carrel.runtime.sections import custom_section
from support.command_line import CommandLine
from support.guests import guest
from support.manifests import manifest_text
from support.toolchains import needs_cargo, require_wasm_toolchain

ROOT = Path(__file__).parents[3]

posix = pytest.mark.skipif(os.name != "posix", reason="its programs are shell scripts")


def build(folder: Path, config: Config) -> None:
    build_plugin(folder, config, lambda _: None)


def write(folder: Path, **files: str) -> Path:
    """Returns a folder with files; `__` in a key means a dot."""
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
        from carrel.config import PluginConfig

        text = manifest_text()
        whole = with_sections(guest(manifest=text).wasm, contract="1.0", manifest=text)
        (tmp_path / "sample.wasm").write_bytes(whole)
        entry = PluginConfig("sample", (tmp_path / "sample.wasm").as_uri())
        plugin_set = PluginSet(replace(config, cache_dir=tmp_path / "cache", plugins=(entry,)))
        assert plugin_set.manifest("sample").name == "sample"
        assert not (tmp_path / "cache").exists()

    def test_code_of_a_component_is_reused_after_embedding_its_manifest(
        self, config: Config, tmp_path: Path
    ) -> None:
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

    def test_an_unbuilt_project_names_the_build_command(self, tmp_path: Path) -> None:
        project = find_project(write(tmp_path, Cargo__toml=""))
        with pytest.raises(ArgumentError, match="run 'carrel plugin build' first"):
            project.component()

    def test_several_components_need_a_name(self, tmp_path: Path) -> None:
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
    def test_without_a_compiler_the_error_names_ways_to_install_one(
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
    def test_an_invalid_cargo_manifest_fails_with_cargos_message(
        self, config: Config, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(BuildError, match="could not fetch the dependencies"):
            build(write(tmp_path, Cargo__toml="[package"), config)
        assert "Cargo.toml" in capfd.readouterr().err


class TestFallback:
    @posix
    def test_a_compiler_that_is_not_the_one_on_the_path_is_named_to_every_cargo(
        self, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """rustup's proxy of rustc may have no toolchain if the machine uses Debian's compiler."""
        asked = tmp_path / "asked"
        cargo = tmp_path / "cargo"
        cargo.write_text(f'#!/bin/sh\necho "$1 $RUSTC" >> {asked}\n[ $1 = fetch ]\n', "utf-8")
        cargo.chmod(0o755)
        chain = Toolchain(str(cargo), "/usr/bin/rustc", (), "test")
        monkeypatch.setattr(rust, "find_toolchain", lambda _: chain)
        with pytest.raises(BuildError, match="cargo cannot read it"):
            build(write(tmp_path / "one", Cargo__toml=""), config)
        assert asked.read_text("utf-8") == "fetch /usr/bin/rustc\nmetadata /usr/bin/rustc\n"


class TestComponentiser:
    @pytest.fixture(autouse=True)
    def _cargo(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Returns a fake cargo that writes the program immediately."""
        script = """#!/bin/sh
        for word in "$@"; do case $word in --target-dir=*) target=${word#--target-dir=};; esac; done
        if [ -n "$target" ]; then
            mkdir -p "$target/debug" && echo > "$target/debug/carrel-componentize"
        else
            echo cargo 1
        fi
        """
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "cargo").write_text(script, "utf-8")
        (tmp_path / "bin" / "rustc").write_text("#!/bin/sh\necho rustc 1\n", "utf-8")
        for name in ("cargo", "rustc"):
            (tmp_path / "bin" / name).chmod(0o755)
        path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
        monkeypatch.setenv("PATH", path)

    @posix
    def test_it_is_compiled_once_into_the_cache_folder(self, tmp_path: Path) -> None:
        messages: list[str] = []
        found = [
            componentiser(tmp_path / "cache", messages.append, spare=tmp_path / name)
            for name in ("first", "second")
        ]
        assert found[0] == found[1]
        assert found[0].is_relative_to(tmp_path / "cache")
        assert messages == ["compiling the componentiser, once: about a minute"]

    @posix
    def test_a_cache_folder_that_cannot_be_written_is_done_without(self, tmp_path: Path) -> None:
        (tmp_path / "cache").write_text("a file", "utf-8")
        messages: list[str] = []
        found = [
            componentiser(tmp_path / "cache", messages.append, spare=tmp_path / "project")
            for _ in range(2)
        ]
        assert found[0] == found[1]
        assert found[0].is_relative_to(tmp_path / "project")
        assert found[0].is_file()
        assert len(messages) == 2
        assert f"the cache folder cannot be written ({tmp_path / 'cache'}" in messages[1]

    @posix
    def test_a_failure_of_the_compiler_is_not_taken_for_one_of_the_disk(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "bin" / "cargo").write_text("#!/bin/sh\n[ $# = 1 ] && echo cargo 1\n", "utf-8")
        with pytest.raises(BuildError, match="could not compile the componentiser"):
            componentiser(tmp_path / "cache", lambda _: None, spare=tmp_path / "project")
        assert not (tmp_path / "project").exists()


class TestProgress:
    """Tests cargo's output options; it draws its progress bar itself."""

    @pytest.fixture
    def carrel(self, tmp_path: Path) -> CommandLine:
        write(tmp_path / "lists", Cargo__toml="")
        (tmp_path / "std").mkdir()
        (tmp_path / "std" / "libstd-1.rlib").touch()
        scripts = {
            "cargo": (
                f'echo "$@" >> {tmp_path}/asked;'
                " [ $1 = fetch ] || [ $1 = --version ] && echo cargo 1"
            ),
            "rustc": f"echo {tmp_path}/std",
        }
        (tmp_path / "bin").mkdir()
        for name, text in scripts.items():
            (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n", "utf-8")
            (tmp_path / "bin" / name).chmod(0o755)
        return CommandLine(tmp_path, real=True)

    @posix
    def test_a_person_sees_cargos_progress_and_a_pipe_does_not(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        env = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        asked = tmp_path / "asked"
        assert carrel.on_terminal("plugin", "build", "lists", env=env).code == 1
        assert "fetch" in asked.read_text("utf-8")
        assert "--quiet" not in asked.read_text("utf-8")
        asked.unlink()
        assert carrel("plugin", "build", "lists", env=env).code == 1
        assert "fetch --quiet" in asked.read_text("utf-8")


@needs_cargo
@pytest.mark.alone
@pytest.mark.long("builds")
class TestSecondProject:
    def test_a_second_project_reuses_dependencies_and_equal_sources_give_equal_bytes(
        self, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        require_wasm_toolchain()
        monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)
        # Compiled crates are reused between runs, as they are for an author.
        kept = replace(config, cache_dir=ROOT / "target" / "tutorial" / "cache")
        built = []
        for folder in ("one", "deep/er/two"):
            new_project("lists", tmp_path / folder)
            messages: list[str] = []
            built.append(build_plugin(tmp_path / folder, kept, messages.append))
        assert any(line.startswith("reusing ") for line in messages)
        assert built[0].digest == built[1].digest
        assert compiled(tmp_path / "one", "serde") == compiled(tmp_path / "deep/er/two", "serde")
        ours = compiled(tmp_path / "deep/er/two", "carrel_pdk")
        assert ours > compiled(tmp_path / "one", "carrel_pdk")

    def test_a_project_of_bytes_passes_its_fixtures(
        self, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        require_wasm_toolchain()
        monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)
        kept = replace(config, cache_dir=ROOT / "target" / "tutorial" / "cache")
        folder = tmp_path / "files"
        new_project("my_files", folder, reads_bytes=True)
        built = build_plugin(folder, kept, lambda _: None)
        assert built.manifest.contract == "1.1"
        report = check_plugin(built.path.read_bytes(), "my_files", folder / "fixtures", config)
        assert [one.state for one in report.outcomes] == ["passed"] * 5

    def test_a_project_of_the_public_web_passes_its_fixtures(
        self, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        require_wasm_toolchain()
        monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)
        kept = replace(config, cache_dir=ROOT / "target" / "tutorial" / "cache")
        folder = tmp_path / "titles"
        new_project("my_titles", folder, public_web=True)
        built = build_plugin(folder, kept, lambda _: None)
        assert built.manifest.public_web
        report = check_plugin(built.path.read_bytes(), "my_titles", folder / "fixtures", config)
        assert [one.state for one in report.outcomes] == ["passed"] * 3


def compiled(project: Path, crate: str) -> list[int]:
    """Returns when a crate's libraries were compiled for the target."""
    deps = project / "target" / "wasm32-unknown-unknown" / "release" / "deps"
    return [path.stat().st_mtime_ns for path in sorted(deps.glob(f"lib{crate}-*.rlib"))]


class TestPython:
    def test_a_missing_componentize_py_is_an_error_with_the_install_command(
        self, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(python_builder, "installed_tool", lambda: None)
        with pytest.raises(BuildError) as caught:
            build(write(tmp_path, pyproject__toml="", app__py=""), config)
        assert caught.value.advice.endswith("pip install componentize-py")

    def test_whether_it_reads_bytes_is_true_or_false(self, config: Config, tmp_path: Path) -> None:
        folder = write(tmp_path, pyproject__toml='[tool.carrel]\nbytes = "yes"\n', app__py="")
        with pytest.raises(ArgumentError, match=r"tool\.carrel\.bytes is neither true nor false"):
            build(folder, config)

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

    def test_missing_npm_packages_are_an_error_with_the_install_command(
        self, config: Config, tmp_path: Path
    ) -> None:
        with pytest.raises(BuildError) as caught:
            build(write(tmp_path, package__json="{}", plugin__js=""), config)
        assert "npm ci" in caught.value.advice


class TestSteps:
    def test_output_of_a_build_tool_reaches_the_author(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        code = "import sys; print('to stdout'); sys.exit('the reason')"
        with pytest.raises(BuildError, match="ended with status 1"):
            run_step([sys.executable, "-c", code], purpose="do it", folder=tmp_path)
        out, err = capfd.readouterr()
        assert out == ""  # which is part of the result
        assert {"to stdout", "the reason"} <= set(err.split("\n"))

    def test_a_tool_that_cannot_be_started_is_an_error_with_the_install_command(
        self, tmp_path: Path
    ) -> None:
        with pytest.raises(BuildError, match="could not do it: no-such-tool") as caught:
            run_step(["no-such-tool"], purpose="do it", folder=tmp_path, remedy="get it")
        assert caught.value.advice == "get it"
