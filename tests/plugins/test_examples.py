"""Tests plugins in languages other than Rust: they need only the contract, within the limits."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.authoring.build import build_plugin
from carrel.authoring.check import check_plugin
from carrel.authoring.project import find_project
from carrel.authoring.python import installed_tool
from carrel.config import Config
from carrel.runtime.imported_names import imported_names
from carrel.runtime.sections import custom_section

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "scripts"))

pytestmark = [pytest.mark.alone, pytest.mark.long("builds")]


@pytest.fixture
def examples_config(config: Config) -> Config:
    """Compiling an interpreter takes 15 seconds, so its code is kept between runs."""
    return replace(config, cache_dir=ROOT / "target" / "examples")


def component(language: str, config: Config, tmp_path: Path) -> bytes:
    """Returns the example's component: the one that CI has built from these sources, or a new
    build.
    """
    from importlib.metadata import version

    import examples

    folder = ROOT / "examples" / f"{language}-plugin"
    tool = ""
    if language == "python":
        if installed_tool() is None:
            pytest.skip("componentize-py is not installed")
        tool = f"componentize-py {version('componentize-py')}"
    if examples.is_built(folder, tool):
        return find_project(folder).component().read_bytes()
    if language == "javascript" and not (folder / "node_modules").is_dir():
        pytest.skip("the packages of examples/javascript-plugin are not installed: just examples")
    return build_plugin(
        folder, config, lambda _: None, output=tmp_path / "built.wasm"
    ).path.read_bytes()


@pytest.mark.requirement("sandbox:ambient:other-languages")
@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_plugin_in_another_language_implements_the_contract(
    language: str, examples_config: Config, tmp_path: Path
) -> None:
    wasm = component(language, examples_config, tmp_path)
    # Their interpreters import clocks, files and sockets; the build removes these imports.
    assert imported_names(wasm) == [
        f"carrel:plugin/{name}@1.0.0" for name in ("http", "log", "progress", "config")
    ]
    assert custom_section(wasm, "carrel:contract") == b"1.1"
    fixtures = ROOT / "examples" / f"{language}-plugin" / "fixtures"
    check_plugin(wasm, language, fixtures, examples_config)  # compiles, unless the code is cached
    report = check_plugin(wasm, language, fixtures, examples_config)
    assert [(one.name, one.reason) for one in report.outcomes if one.state != "passed"] == []
    assert len(report.outcomes) >= 6
    # Each in a new instance, including the start of the interpreter.
    assert report.seconds < 5.0
