"""Tests that no module of Carrel imports itself, directly or indirectly.

Imports at the top of a module, imports inside functions and imports for type checkers are counted
apart: the first kind decides whether Python can load the modules, the others whether a person can
read them one after another.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import carrel

pytestmark = pytest.mark.long("matrix")

PACKAGE = Path(carrel.__file__).parent
TOP, DEFERRED, TYPES = "top", "deferred", "types"

#: module → kind of import → the modules that it imports so.
Graph = Mapping[str, Mapping[str, set[str]]]


def module_files() -> dict[str, Path]:
    """Returns dotted name → file, of all modules."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(node: ast.Import | ast.ImportFrom, package: list[str]) -> Iterator[tuple[str, str]]:
    """Returns the modules and names that a statement imports; a name may be a module."""
    if isinstance(node, ast.Import):
        yield from ((one.name, "") for one in node.names)
    else:
        above = package[: len(package) + 1 - node.level] if node.level else []
        module = ".".join([*above, *([node.module] if node.module else [])])
        yield from ((module, one.name) for one in node.names)


def imports_of(
    tree: ast.AST, package: list[str], kind: str = TOP
) -> Iterator[tuple[str, str, str]]:
    """Yields the imports below a node of the syntax tree: kind, module, name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((kind, module, name) for module, name in imported(node, package))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from imports_of(node, package, DEFERRED)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from imports_of(ast.Module(node.body, []), package, TYPES)
            yield from imports_of(ast.Module(node.orelse, []), package, kind)
        else:
            yield from imports_of(node, package, kind)


def import_graph() -> Graph:
    files = module_files()
    graph: dict[str, dict[str, set[str]]] = {}
    for module, path in files.items():
        package = module.split(".")
        if path.name != "__init__.py":
            package.pop()
        edges: dict[str, set[str]] = defaultdict(set)
        for kind, base, name in imports_of(ast.parse(path.read_text("utf-8")), package):
            target = f"{base}.{name}" if f"{base}.{name}" in files else base
            if target in files and target != module:
                edges[kind].add(target)
        graph[module] = edges
    return graph


def find_cycle(graph: Graph, kinds: set[str]) -> list[str]:
    """Returns a cycle of imports of these kinds; empty if there is none."""
    edges = {
        module: set().union(*(targets for kind, targets in found.items() if kind in kinds))
        for module, found in graph.items()
    }
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return []


@pytest.mark.parametrize(
    "kinds",
    [{TOP}, {TOP, DEFERRED}, {TOP, TYPES}, {TOP, DEFERRED, TYPES}],
    ids=lambda kinds: "+".join(sorted(kinds)),
)
def test_no_modules_import_each_other(kinds: set[str]) -> None:
    assert find_cycle(import_graph(), kinds) == []


def test_every_kind_of_import_is_found() -> None:
    graph = import_graph()
    counts = {
        kind: sum(len(edges.get(kind, ())) for edges in graph.values())
        for kind in (TOP, DEFERRED, TYPES)
    }
    assert min(counts.values()) > 50, counts
    assert "carrel.exchange.call" in graph["carrel.exchange.fetcher"][TOP]
    assert "carrel.config.file" in graph["carrel.config.load"][DEFERRED]
    assert "carrel.runtime.worker_state" in graph["carrel.runtime.instance"][TYPES]


@pytest.mark.parametrize("kind", [TOP, DEFERRED, TYPES])
def test_a_cycle_of_each_kind_is_found(kind: str) -> None:
    source = {
        TOP: "from .b import x",
        DEFERRED: "def f():\n    from .b import x",
        TYPES: "if TYPE_CHECKING:\n    from . import b",
    }
    (found,) = imports_of(ast.parse(source[kind]), ["p"])
    assert found[0] == kind
    graph = {"p.a": {kind: {"p.b"}}, "p.b": {TOP: {"p.a"}}}
    assert set(find_cycle(graph, {TOP, kind})) == {"p.a", "p.b"}
    assert find_cycle(graph, {TOP} - {kind}) == []
