"""Tests the ways to get Carrel: uvx, pipx, the desktop bundle, the registry's description."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from platform import python_version
from typing import Any

import jsonschema_rs
import pytest

from carrel.version import __version__
from support.packages import Packages
from support.wheelhouse import make_wheelhouse

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def scripts() -> Iterator[None]:
    sys.path.insert(0, str(ROOT / "scripts"))
    yield
    sys.path.remove(str(ROOT / "scripts"))


@pytest.fixture
def bundles(scripts: None) -> Any:
    return importlib.import_module("mcpb")


def tool_of_bundles() -> Path:
    found: Path | None = importlib.import_module("peers").find("mcpb")
    if found is None:
        pytest.skip("needs the tool: python3 scripts/peers.py mcpb")
    return found


# The registry's description


def test_the_registrys_description_has_the_packages_version() -> None:
    description = json.loads((ROOT / "server.json").read_text("utf-8"))
    versions = {
        description["version"],
        *(package["version"] for package in description["packages"]),
    }
    assert versions == {__version__}
    assert [package["identifier"] for package in description["packages"]] == ["carrel"]
    assert f"mcp-name: {description['name']}" in (ROOT / "README.md").read_text("utf-8")


def test_the_registrys_description_is_valid(scripts: None) -> None:
    """The schema is a file of the registry's Go module."""
    schema = importlib.import_module("peers").find("mcp-registry")
    if schema is None:
        pytest.skip("needs the schema: python3 scripts/peers.py mcp-registry")
    description = json.loads((ROOT / "server.json").read_text("utf-8"))
    known = json.loads(schema.read_text("utf-8"))
    assert known["$id"] == description["$schema"]
    jsonschema_rs.validator_for(known).validate(description)
    del description["packages"][0]["transport"]
    assert not jsonschema_rs.validator_for(known).is_valid(description)


# The desktop bundle


def test_the_bundles_manifest_is_valid(bundles: Any, tmp_path: Path) -> None:
    tool = tool_of_bundles()
    manifest = bundles.manifest(__version__)
    schema = (
        tool.parents[2] / "schemas" / f"mcpb-manifest-v{manifest['manifest_version']}.schema.json"
    )
    jsonschema_rs.validator_for(json.loads(schema.read_text("utf-8"))).validate(manifest)
    named = {
        text.removeprefix("${user_config.").removesuffix("}")
        for text in manifest["server"]["mcp_config"]["env"].values()
    }
    assert named == manifest["user_config"].keys()
    wheel = tmp_path / f"carrel-{__version__}-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    path = bundles.bundle(wheel, tmp_path)
    assert "valid" in bundles.validate(path).lower()
    unpacked = tmp_path / "unpacked"
    subprocess.run(["node", tool, "unpack", path, unpacked], check=True, capture_output=True)
    assert json.loads((unpacked / "manifest.json").read_text("utf-8")) == manifest
    assert (unpacked / wheel.name).read_bytes() == b"wheel"


def test_equal_contents_give_an_equal_bundle(bundles: Any, tmp_path: Path) -> None:
    wheel = tmp_path / f"carrel-{__version__}-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    made = [bundles.bundle(wheel, tmp_path / name).read_bytes() for name in ("a", "b")]
    assert made[0] == made[1]


# Installers, without an index


@pytest.fixture(scope="module")
def wheels(packages: Packages, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheelhouse(packages.wheel, tmp_path_factory.mktemp("wheels"))


def environment(home: Path, wheels: Path) -> dict[str, str]:
    """Returns the environment of a user with an empty home directory and no index."""
    unwanted = ("CARREL_", "PYTHON", "XDG_", "UV_", "PIP_", "PIPX_", "VIRTUAL_ENV")
    kept = {key: text for key, text in os.environ.items() if not key.startswith(unwanted)}
    own = dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(home))
    tools = Path(sys.executable).parent
    return {
        **kept,
        **own,
        "PATH": f"{tools}{os.pathsep}{kept.get('PATH', '')}",
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(wheels),
        "UV_PYTHON": sys.executable,
        "UV_LINK_MODE": "copy",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIPX_DEFAULT_PYTHON": sys.executable,
    }


def ran(words: list[str], env: dict[str, str], **options: Any) -> str:
    done = subprocess.run(
        words, env=env, capture_output=True, text=True, check=False, timeout=300, **options
    )
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


@pytest.mark.long("builds")
def test_uvx_runs_carrel_from_the_wheel(wheels: Path, tmp_path: Path) -> None:
    if shutil.which("uvx", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("needs uv, which the development environment has")
    env = environment(tmp_path, wheels)
    assert ran(["uvx", "carrel", "--version"], env, cwd=tmp_path).strip() == f"carrel {__version__}"
    fixed = json.loads(
        ran(["uvx", "carrel", "doctor", "--fix", "--yes", "--client", "cursor"], env, cwd=tmp_path)
    )
    assert fixed["ok"]
    config = json.loads((tmp_path / ".cursor" / "mcp.json").read_text("utf-8"))
    entry = config["mcpServers"]["carrel"]
    command = Path(entry["command"])
    assert (command.is_absolute(), command.stem) == (True, "uvx")
    assert entry["args"] == ["carrel", "serve"]


@pytest.mark.long("builds")
def test_pipx_runs_and_installs_carrel_from_the_wheel(wheels: Path, tmp_path: Path) -> None:
    pytest.importorskip("pipx", reason="pipx is not in this environment")
    env = environment(tmp_path, wheels)
    pipx = [sys.executable, "-m", "pipx"]
    version = ran([*pipx, "run", "carrel", "--version"], env, cwd=tmp_path)
    assert version.strip().endswith(f"carrel {__version__}")
    ran([*pipx, "install", "carrel"], env, cwd=tmp_path)
    command = tmp_path / ".local" / "bin" / "carrel"
    assert ran([str(command), "--version"], env).strip() == f"carrel {__version__}"


@pytest.mark.long("builds")
def test_the_bundle_serves_in_an_empty_home(
    bundles: Any, packages: Packages, wheels: Path, tmp_path: Path
) -> None:
    path = bundles.bundle(packages.wheel, tmp_path)
    folder = tmp_path / "bundle"
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    # uv resolves for every platform, but the wheels here are those of this one.
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as project:
        here = f"sys_platform == '{sys.platform}' and python_full_version == '{python_version()}'"
        project.write(f'\n[tool.uv]\nenvironments = ["{here}"]\n')
    text = (folder / "pyproject.toml").read_text("utf-8")
    once = text.replace("[tool.uv]\npackage = false\n", "", 1)
    (folder / "pyproject.toml").write_text(f"{once}package = false\n", "utf-8")
    config = json.loads((folder / "manifest.json").read_text("utf-8"))["server"]["mcp_config"]
    words = [
        config["command"],
        *(one.replace("${__dirname}", str(folder)) for one in config["args"]),
    ]
    env = {**environment(tmp_path / "home", wheels), **dict.fromkeys(config["env"], "")}
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    (tmp_path / "home").mkdir()
    answer = json.loads(ran(words, env, input=json.dumps(opening) + "\n").splitlines()[0])
    assert answer["result"]["serverInfo"]["version"] == __version__
