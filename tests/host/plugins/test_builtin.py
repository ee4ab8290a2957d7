"""Tests that built-in components are refused if their digests differ from `components.lock`."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import carrel
from carrel.config import Config, PluginConfig
from carrel.errors import LoadError
from carrel.features import FEATURES
from carrel.plugins.sources import source
from carrel.tools import Toolbox

PACKAGE = Path(carrel.__file__).parent
#: An empty custom section: the component stays valid and behaves the same.
ADDED = b"\x00\x02\x01x"

Alter = Callable[[Path], None]


def add_section(component: Path) -> None:
    component.write_bytes(component.read_bytes() + ADDED)


def change_manifest(component: Path) -> None:
    """Changes one letter of the component's embedded manifest."""
    data = component.read_bytes()
    assert data.count(b'"arxiv.org"') >= 1
    component.write_bytes(data.replace(b'"arxiv.org"', b'"brxiv.org"'))


@pytest.fixture
def components(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a copy of the components, which replaces the package's."""
    folder = tmp_path / "components"
    shutil.copytree(PACKAGE / "components", folder)
    monkeypatch.setattr(source, "_COMPONENTS", folder)
    monkeypatch.setattr(source, "_LOCK", folder / "components.lock")
    return folder


@pytest.mark.requirement("plugin:pinned:builtin")
@pytest.mark.parametrize("alter", [add_section, change_manifest])
def test_a_builtin_component_with_altered_bytes_is_refused(
    components: Path, config: Config, alter: Alter
) -> None:
    assert source.read_source("arxiv", "builtin:arxiv").builtin
    alter(components / "arxiv.wasm")
    found = hashlib.sha256((components / "arxiv.wasm").read_bytes()).hexdigest()
    locked = json.loads((components / "components.lock").read_text("utf-8"))
    pinned = locked["components"]["arxiv"]["digest"]
    refusal = f"arxiv: the component's digest is sha256:{found}, but {pinned} is pinned"
    with pytest.raises(LoadError) as caught:
        source.read_source("arxiv", "builtin:arxiv")
    assert caught.value.message == refusal
    others = (*config.plugins, PluginConfig("crossref", "builtin:crossref", allowed_hosts=None))
    toolbox = Toolbox(replace(config, plugins=others), features=FEATURES)
    try:
        # Nothing of the altered component is listed; the other plugins are.
        assert {tool.plugin for tool in toolbox.tools()} == {"crossref", "carrel"}
        with pytest.raises(LoadError, match="is pinned"):
            toolbox.parse("arxiv", "feed", "<feed/>")
        states = {state.name: state for state in toolbox.plugins()}
        assert (states["arxiv"].loaded, states["crossref"].loaded) == (False, True)
        assert states["arxiv"].error is not None
        assert states["arxiv"].error.message == refusal
        assert states["arxiv"].digest is None
    finally:
        toolbox.close()


@pytest.mark.requirement("plugin:pinned:builtin-package")
def test_an_installation_with_an_altered_component_does_not_run_it(
    tmp_path: Path, code_folder: Path
) -> None:
    """The installed package is altered; the code cache holds code of the original."""
    folder = tmp_path / "installed" / "host"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "carrel", ignore=ignored)
    contract = PACKAGE / "contract"
    if not contract.is_dir():
        contract = PACKAGE.parents[1] / "contract"
    shutil.copytree(contract, folder.parent / "contract")
    document = tmp_path / "feed.xml"
    document.write_text('<feed xmlns="http://www.w3.org/2005/Atom"/>', "utf-8")

    def parse() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "carrel", "parse", "arxiv", "feed", str(document)],
            env={
                **os.environ,
                "PYTHONPATH": str(folder),
                "PYTHONDONTWRITEBYTECODE": "1",
                "CARREL_CACHE_DIR": str(code_folder),
            },
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )

    before = parse()
    assert (before.returncode, json.loads(before.stdout)["entries"]) == (0, []), before.stderr
    add_section(folder / "carrel" / "components" / "arxiv.wasm")
    after = parse()
    assert (after.returncode, after.stdout) == (1, "")
    assert "arxiv: the component's digest is sha256:" in after.stderr
    assert "is pinned" in after.stderr
