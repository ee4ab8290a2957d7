"""Tests the layers: server, command line → features → tools → plugins → runtime → leaves."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import carrel
from carrel.features import FEATURES

PACKAGE = Path(carrel.__file__).parent

#: Modules of Carrel that a feature may import: `tools` and the layers below it except `runtime`.
FEATURE = {
    "_lazy",
    "bibliography",
    "config",
    "contract",
    "documents",
    "errors",
    "exchange",
    "files",
    "lookup",
    "plugins",
    "principal",
    "records",
    "state",
    "text",
    "tools",
    "version",
}

#: Features that one feature may import beyond those; none of them imports it.
BELOW: dict[str, set[str]] = {
    "library": {"citations", "papers"},
    "web": {"citations", "papers"},
}

#: What each layer may import of Carrel. A name includes the modules below it.
ALLOWED: dict[str, set[str]] = {
    "_lazy": set(),
    "contract": set(),
    "credentials": {"known_secrets"},
    "errors": set(),
    "files": set(),
    "known_secrets": set(),
    "principal": set(),
    "telemetry": set(),
    "version": set(),
    "text": {"errors"},
    "state": {"errors", "files", "known_secrets"},
    "exchange": {"errors", "principal", "telemetry"},
    "runtime": {"errors", "exchange", "files", "principal", "telemetry", "text"},
    "fetch": {
        "_lazy",
        "errors",
        "exchange",
        "files",
        "principal",
        "state",
        "telemetry",
        "text",
    },
    "trust": {"errors", "oci", "text"},
    "oci": {"errors", "fetch", "files", "text"},
    "config": {"errors", "exchange", "fetch", "files", "state", "trust"},
    "awaiting": {"exchange"},
    "plugins": {
        "awaiting",
        "config",
        "contract",
        "credentials",
        "errors",
        "exchange",
        "fetch",
        "files",
        "oci",
        "records",
        "runtime",
        "telemetry",
        "text",
        "trust",
    },
    "records": {"contract", "errors", "text"},
    "bibliography": {"errors", "records"},
    "tools": {
        "version",
        "_lazy",
        "awaiting",
        "config",
        "errors",
        "exchange",
        "fetch",
        "plugins",
        "runtime",
        "telemetry",
        "text",
    },
    "features": {"tools"},
    "authoring": {
        "config",
        "contract",
        "errors",
        "exchange",
        "fetch",
        "files",
        "lookup",
        "plugins",
        "records",
        "runtime",
        "text",
        "tools",
    },
    "surfaces": {
        "_lazy",
        "awaiting",
        "bibliography",
        "config",
        "errors",
        "exchange",
        "library",
        "papers",
        "plugins",
        "text",
        "tools",
        "web",
    },
    "server": {
        "version",
        "awaiting",
        "config",
        "errors",
        "exchange",
        "files",
        "known_secrets",
        "plugins",
        "principal",
        "telemetry",
        "text",
        "tools",
    },
}


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Returns the modules of Carrel that a file names in its imports, first part only."""
    package = ("carrel", *path.relative_to(PACKAGE).parent.parts)
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) + 1 - node.level]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            if module == "carrel":
                found |= {f"carrel.{one.name}" for one in node.names}
            else:
                found.add(module)
    return frozenset(name.split(".")[1] for name in found if name.startswith("carrel."))


def files_of(layer: str) -> list[Path]:
    folder = PACKAGE / layer
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{layer}.py"]


@pytest.mark.parametrize("layer", ALLOWED)
def test_no_layer_imports_upwards(layer: str) -> None:
    strays = {
        str(path.relative_to(PACKAGE)): sorted(imports_of(path) - ALLOWED[layer] - {layer})
        for path in files_of(layer)
    }
    assert {path: names for path, names in strays.items() if names} == {}


@pytest.mark.parametrize("layer", ALLOWED)
def test_a_layer_may_import_only_what_it_does_import(layer: str) -> None:
    used = frozenset[str]().union(*(imports_of(path) for path in files_of(layer)))
    assert ALLOWED[layer] - used == set(), "remove it from the rules"


def test_every_package_has_a_rule() -> None:
    found = {path.stem for path in PACKAGE.glob("[!_]*.py")}
    found |= {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert found - ALLOWED.keys() - {feature.name for feature in FEATURES} == {"api", "cli"}


@pytest.mark.parametrize("feature", [feature.name for feature in FEATURES])
def test_features_see_the_seam_and_only_their_commands_the_command_line(feature: str) -> None:
    strays = {}
    for path in files_of(feature):
        allowed = FEATURE | {feature} | BELOW.get(feature, set())
        if "command" in (path.stem, path.parent.name):
            allowed |= {"cli"}
        strays[str(path.relative_to(PACKAGE))] = sorted(imports_of(path) - allowed)
    assert strays, "a feature is a package"
    assert {path: names for path, names in strays.items() if names} == {}


def test_each_feature_names_modules_in_its_own_package() -> None:
    for feature in FEATURES:
        references = [*feature.commands.values(), *([feature.tools] if feature.tools else [])]
        assert references
        packages = {tuple(one.split(":")[0].split(".")[:2]) for one in references}
        assert packages == {("carrel", feature.name)}


#: The module that connects to the operator's Redis server.
STORE = "state/redis_server.py"

#: Modules that accept connections, and open none.
LISTENING = {f"server/http/{name}.py" for name in ("address", "connection", "serve")}


@pytest.mark.requirement("sandbox:hosts:one-door")
def test_only_fetch_opens_connections_and_only_runtime_imports_wasmtime() -> None:
    network = {"socket", "ssl", "http", "httpx2", "httpcore2", "urllib.request", "ftplib"}
    store = {"redis"}
    for path in PACKAGE.rglob("*.py"):
        layer = path.relative_to(PACKAGE).parts[0]
        named: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                named |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                # A function that converts paths opens no connection.
                only_paths = [one.name for one in node.names] == ["url2pathname"]
                named.add("" if only_paths else str(node.module))
        if layer != "runtime":
            assert "wasmtime" not in {name.split(".")[0] for name in named}, path
        if path.relative_to(PACKAGE).as_posix() != STORE:
            assert not {name.split(".")[0] for name in named} & store, path
        if layer != "fetch":
            listens = path.relative_to(PACKAGE).as_posix() in LISTENING
            assert not named & (network - {"socket"} if listens else network), path


#: Private attributes of wasmtime-py.
_PRIVATE = {"_bindings", "_consume", "_ffi", "_from_ptr"}


def private_bindings(path: Path) -> list[str]:
    """Returns the lines of a file that use wasmtime-py's private names, or private packages of
    `runtime/ffi`.
    """
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module or ''}.{one.name}" for one in node.names]
        parts = [name.split(".") for name in names]
        private = any(
            one[0] == "wasmtime" and any(part.startswith("_") for part in one) for one in parts
        )
        behind = any("ffi" in one and {"direct", "public"} & set(one) for one in parts)
        attribute = isinstance(node, ast.Attribute) and node.attr in _PRIVATE
        called = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "ptr"
        )
        if private or behind or attribute or called:
            found.append(f"{path.name}:{node.lineno}")  # type: ignore[attr-defined]
    return found


def test_only_ffi_uses_wasmtimes_private_bindings() -> None:
    root = PACKAGE.parents[1]
    folders = (PACKAGE, *(root / name for name in ("tests", "bench", "scripts", "examples")))
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    inside = {PACKAGE / "runtime" / "ffi", root / "tests" / "sandbox" / "ffi"}
    assert [
        line for path in paths if not inside & set(path.parents) for line in private_bindings(path)
    ] == []
    assert any(private_bindings(path) for path in paths), "the check finds what is there"


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("import carrel", {"wasmtime", "mcp", "httpx2", "rich", "click", "asyncio", "json"}),
        ("from carrel import Carrel", {"wasmtime", "mcp", "httpx2", "rich", "click", "asyncio"}),
        ("from carrel.features import FEATURES", {f"carrel.{one.name}" for one in FEATURES}),
        (
            "import carrel.cli.app",
            {f"carrel.{one.name}" for one in FEATURES} | {"carrel.tools.toolbox"},
        ),
    ],
)
def test_importing_carrel_is_cheap(statement: str, heavy: set[str]) -> None:
    code = f"import sys; {statement}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) & heavy == set()
