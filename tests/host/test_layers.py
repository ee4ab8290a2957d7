"""Imports go one way: server, command line → tools → lookup → plugins → runtime; leaves below."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import carrel

PACKAGE = Path(carrel.__file__).parent

#: What each layer may import of Carrel. A name stands for the module and everything below it.
ALLOWED: dict[str, set[str]] = {
    "runtime": {"errors", "exchange", "printable", "utf8", "wholefile"},
    "fetch": {"errors", "exchange", "printable", "utf8", "wholefile"},
    "trust": {"errors", "oci", "printable"},
    "oci": {"errors", "fetch", "printable", "wholefile"},
    "plugins": {
        "config",
        "contract",
        "credentials",
        "errors",
        "exchange",
        "fetch",
        "jsontext",
        "oci",
        "printable",
        "result",
        "runtime",
        "trust",
        "utf8",
        "wholefile",
    },
    "config": {"errors", "exchange", "fetch", "paths", "trust"},
    "resources": {"config", "errors", "exchange", "offers", "plugins", "runtime"},
    "offers": {"config", "errors", "exchange", "plugins", "resources", "runtime", "waiting"},
    "waiting": {"exchange", "runtime"},
    "result": set(),
    "utf8": set(),
    "wholefile": set(),
    "records": {"contract", "errors", "printable"},
    "hosttool": {"errors", "exchange", "plugins", "runtime"},
    "lookup": {
        "config",
        "contract",
        "errors",
        "exchange",
        "hosttool",
        "jsontext",
        "plugins",
        "printable",
        "records",
        "runtime",
    },
    "document": {"errors", "fetch", "utf8"},
    "tools": {
        "config",
        "document",
        "errors",
        "exchange",
        "health",
        "hosttool",
        "lookup",
        "offers",
        "plugins",
        "resources",
        "result",
        "runtime",
        "waiting",
    },
    "authoring": {
        "config",
        "contract",
        "errors",
        "exchange",
        "fetch",
        "jsontext",
        "lookup",
        "plugins",
        "printable",
        "records",
        "resources",
        "result",
        "runtime",
        "tools",
        "wholefile",
    },
    "server": {"__version__", "errors", "exchange", "localpaths", "printable", "waiting"},
    "localpaths": set(),
}


def imports_of(path: Path) -> set[str]:
    """The modules of Carrel that a file names in its imports, first part only."""
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
    return {name.split(".")[1] for name in found if name.startswith("carrel.")}


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


@pytest.mark.requirement("sandbox:hosts:one-door")
def test_only_fetch_opens_connections_and_only_runtime_imports_wasmtime() -> None:
    network = {"socket", "ssl", "http", "httpx2", "httpcore2", "urllib.request", "ftplib"}
    for path in PACKAGE.rglob("*.py"):
        layer = path.relative_to(PACKAGE).parts[0]
        named: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                named |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                # A function that converts paths is no connection.
                only_paths = [one.name for one in node.names] == ["url2pathname"]
                named.add("" if only_paths else str(node.module))
        if layer != "runtime":
            assert "wasmtime" not in {name.split(".")[0] for name in named}, path
        if layer != "fetch":
            assert not named & network, path


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("import carrel", {"wasmtime", "mcp", "httpx2", "rich", "click", "asyncio", "json"}),
        ("from carrel import Carrel", {"wasmtime", "mcp", "httpx2", "rich", "click", "asyncio"}),
    ],
)
def test_importing_carrel_is_cheap(statement: str, heavy: set[str]) -> None:
    code = f"import sys; {statement}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) & heavy == set()
